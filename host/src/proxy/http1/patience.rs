//! How long a connection may say nothing between its requests: as long as the configuration allows, and no longer than
//! the process lives. Knows nothing of what it says.
//!
//! One future serves a connection to its end: a timer and a listener for the end of the process, made anew for each
//! request, would be several times as dear.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pingora::server::ShutdownWatch;
use tokio::time::{Instant, sleep, sleep_until};

/// A connection that was just made is not closed at the end of the process before it has had so long to say something.
const FIRST_WORD: Duration = Duration::from_millis(200);

/// What the connection tells the future that waits.
pub(super) struct Patience {
    made: Instant,
    /// Milliseconds from `made` to when the silence is too long.
    deadline: AtomicU64,
    /// Milliseconds.
    limit: AtomicU64,
    /// A request was heard.
    heard: AtomicBool,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self {
            made: Instant::now(),
            deadline: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            heard: AtomicBool::new(false),
        }
    }

    /// From now on the connection may be silent for `limit`. True where that is another limit than before: who waits
    /// must begin anew.
    pub(super) fn begin(&self, limit: Duration) -> bool {
        let limit = millis(limit);
        let deadline = millis(self.made.elapsed()).saturating_add(limit);
        self.deadline.store(deadline, Ordering::Relaxed);
        self.limit.swap(limit, Ordering::Relaxed) != limit
    }

    pub(super) fn heard(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Ends when nothing more is to be waited for. To be polled only in silence.
    pub(super) async fn end(&self, mut stop: ShutdownWatch) {
        tokio::select! {
            biased;
            () = self.stopped(&mut stop) => {}
            () = self.silence() => {}
        }
    }

    async fn stopped(&self, stop: &mut ShutdownWatch) {
        // An error means that the server is gone.
        let _ = stop.wait_for(|stop| *stop).await;
        if !self.heard.load(Ordering::Relaxed) {
            sleep(FIRST_WORD).await;
        }
    }

    /// Ends when the connection was silent for too long.
    async fn silence(&self) {
        loop {
            let deadline = Duration::from_millis(self.deadline.load(Ordering::Relaxed));
            // Further away than the clock goes: for ever.
            let Some(until) = self.made.checked_add(deadline) else { return std::future::pending().await };
            if until <= Instant::now() {
                return;
            }
            // Requests may move the deadline meanwhile.
            sleep_until(until).await;
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::sync::watch;
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);
    const DEADLINE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_request_moves_the_end_of_patience() {
        let (_running, stop) = watch::channel(false);
        let patience = Patience::new();
        let mut end = pin!(patience.end(stop));
        // The timer runs for the first of these.
        patience.begin(Duration::from_millis(20));
        assert!(timeout(Duration::ZERO, end.as_mut()).await.is_err());
        patience.begin(LONG);
        assert!(timeout(Duration::from_millis(60), end.as_mut()).await.is_err());
    }

    #[tokio::test]
    async fn silence_ends_and_another_limit_is_told() {
        let (_running, stop) = watch::channel(false);
        let patience = Patience::new();
        assert!(patience.begin(LONG));
        assert!(!patience.begin(LONG));
        assert!(patience.begin(Duration::from_millis(1)));
        assert!(timeout(DEADLINE, patience.end(stop)).await.is_ok());
    }

    #[tokio::test]
    async fn the_end_of_the_process_leaves_time_for_a_first_word_only() {
        for heard in [false, true] {
            let (running, stop) = watch::channel(false);
            let patience = Patience::new();
            patience.begin(LONG);
            if heard {
                patience.heard();
            }
            running.send_replace(true);
            let mut end = pin!(patience.end(stop));
            assert_eq!(timeout(Duration::ZERO, end.as_mut()).await.is_ok(), heard);
            if !heard {
                assert!(timeout(DEADLINE, end).await.is_ok());
            }
        }
    }
}
