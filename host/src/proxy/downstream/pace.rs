//! How long a client's stream may stand still: a client that takes nothing, a tunnel in which nothing passes, an
//! upstream that does not say whether it switches protocols. Timers are made only where something stands still.

use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::config::model::ClientLimits;

/// How long a client that sends nothing more is taken to wait for its answer: whether it closed its own side alone, as
/// scripts do behind their last request, or is gone, only shows when it is written to.
const FAREWELL: Duration = Duration::from_secs(1);

/// What stood still for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stalled {
    #[error("the client took nothing of what it is sent")]
    Client,
    #[error("nothing passed through the tunnel")]
    Tunnel,
    #[error("the upstream did not answer whether it switches protocols")]
    Switch,
}

/// The timers of one stream.
pub(super) struct Pace {
    write: Duration,
    tunnel: Duration,
    /// Since when nothing is taken.
    writing: Option<Pin<Box<Sleep>>>,
    /// When something last passed through the tunnel, if it is one.
    last: Option<Instant>,
    silence: Option<Pin<Box<Sleep>>>,
    /// Until when a client that ended its side may have its answer.
    farewell: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    pub(super) fn new(limits: &ClientLimits) -> Self {
        Self {
            write: limits.write,
            tunnel: limits.tunnel,
            writing: None,
            last: None,
            silence: None,
            farewell: None,
        }
    }

    /// The limits from the next request on.
    pub(super) fn limit(&mut self, limits: &ClientLimits) {
        (self.write, self.tunnel) = (limits.write, limits.tunnel);
        (self.last, self.silence) = (None, None);
    }

    /// From now on, the stream is a tunnel.
    pub(super) fn tunnel(&mut self) {
        self.last = Some(Instant::now());
        self.silence = None;
    }

    /// Something passed, in or out.
    pub(super) fn passed(&mut self) {
        self.writing = None;
        if self.last.is_some() {
            self.last = Some(Instant::now());
        }
    }

    /// The client took all there was.
    pub(super) fn taken(&mut self) {
        self.writing = None;
    }

    /// The client takes nothing: an error once that is too long.
    pub(super) fn poll_write<T>(&mut self, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let limit = self.write;
        let timer = self.writing.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + limit)));
        timer.as_mut().poll(cx).map(|()| Err(stalled(Stalled::Client)))
    }

    /// Nothing comes from the client: an error once the tunnel, if it is one, is silent for too long.
    pub(super) fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Some(last) = self.last else { return Poll::Pending };
        let until = last + self.tunnel;
        let timer = self.silence.get_or_insert_with(|| Box::pin(sleep_until(until)));
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= until {
                return Poll::Ready(Err(stalled(Stalled::Tunnel)));
            }
            // Something passed since the timer was set.
            timer.as_mut().reset(until);
        }
        Poll::Pending
    }

    /// The client ended its side behind its request: ready once it counts as gone.
    pub(super) fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.farewell.get_or_insert_with(|| Box::pin(sleep(FAREWELL))).as_mut().poll(cx)
    }

    /// An error once an upstream took longer than `wait` to switch protocols.
    pub(super) fn poll_switch(&mut self, cx: &mut Context<'_>, wait: Duration) -> Poll<Error> {
        // Without an upstream, there is nothing to wait for.
        let Some(until) = Instant::now().checked_add(wait) else { return Poll::Pending };
        let timer = self.silence.get_or_insert_with(|| Box::pin(sleep_until(until)));
        timer.as_mut().poll(cx).map(|()| stalled(Stalled::Switch))
    }
}

fn stalled(what: Stalled) -> Error {
    Error::new(ErrorKind::TimedOut, what)
}
