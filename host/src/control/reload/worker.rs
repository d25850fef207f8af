//! The thread that reloads: serves all who wait with one reload, and looks after earlier generations between two of
//! them. Knows nothing of the steps of a reload.

use std::io;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;

use super::report::{Outcome, Report, Trigger};
use super::steps::{Parts, Reloader};
use super::{Message, Reloads};

/// Between two looks at whether an earlier generation is done with, whether anything was heard of the files, and how
/// rollouts do.
const LOOK: Duration = Duration::from_millis(250);

/// Files are looked at when their directories were quiet for this long.
const SETTLED: Duration = Duration::from_millis(200);

/// They are looked at this long after the first event at the latest.
const LONGEST: Duration = Duration::from_secs(1);

/// They are looked at this often though nothing was heard: network file systems tell nothing.
const UNASKED: Duration = Duration::from_secs(5);

/// Starts the thread. It ends when nobody can ask it any more.
///
/// # Errors
/// The system gives no thread.
pub fn start(parts: Parts) -> io::Result<Reloads> {
    let (inbox, messages) = mpsc::channel();
    let reloader = Reloader::new(parts)?;
    let last = Arc::new(ArcSwapOption::empty());
    let reloads = Reloads { inbox, last: Arc::clone(&last) };
    thread::Builder::new().name("reload".to_owned()).spawn(move || run(reloader, &messages, &last))?;
    Ok(reloads)
}

fn run(mut reloader: Reloader, messages: &Receiver<Message>, last: &ArcSwapOption<Report>) {
    let mut unrest = Unrest::default();
    loop {
        let received = if reloader.is_draining() || reloader.is_watching() || reloader.is_rolling_out() {
            messages.recv_timeout(LOOK)
        } else {
            messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match received {
            Ok(first) => serve(&mut reloader, iter::once(first).chain(messages.try_iter()), last),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if reloader.is_watching() {
            let now = Instant::now();
            if reloader.heard_something() {
                unrest.touched(now);
            }
            if unrest.is_over(now) && reloader.files_changed() {
                serve(&mut reloader, watched().chain(messages.try_iter()), last);
            }
        }
        reloader.judge_rollouts();
        reloader.sweep();
    }
}

fn watched() -> impl Iterator<Item = Message> {
    iter::once(Message::Reload { trigger: Trigger::Watch, answer: None })
}

/// What was heard of the directories that are watched, until it is worth a look.
#[derive(Debug, Default)]
struct Unrest {
    first: Option<Instant>,
    last: Option<Instant>,
    looked: Option<Instant>,
}

impl Unrest {
    fn touched(&mut self, now: Instant) {
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// Whether it is time to look at the files: says so once.
    fn is_over(&mut self, now: Instant) -> bool {
        let looked = *self.looked.get_or_insert(now);
        let since = |then: Instant| now.saturating_duration_since(then);
        let over = match (self.first, self.last) {
            // Where somebody writes without end, there is a look now and then.
            (Some(first), Some(last)) => since(last) >= SETTLED || since(first) >= LONGEST,
            _ => since(looked) >= UNASKED,
        };
        if over {
            *self = Self { looked: Some(now), ..Self::default() };
        }
        over
    }
}

/// Serves all that was asked for until now: log files first, and one reload for all who want one.
fn serve(reloader: &mut Reloader, asked: impl Iterator<Item = Message>, last: &ArcSwapOption<Report>) {
    let mut wanted = None;
    let mut waiting = Vec::new();
    for message in asked {
        match message {
            Message::ReopenLogs => reloader.reopen_logs(),

            Message::Reload { trigger, answer } => {
                wanted.get_or_insert(trigger);
                waiting.extend(answer);
            }
        }
    }
    let Some(trigger) = wanted else { return };
    let (began, start) = (SystemTime::now(), Instant::now());
    let (outcome, diagnostics) = catch_unwind(AssertUnwindSafe(|| reloader.reload(trigger)))
        // The panic hook has logged it.
        .unwrap_or_else(|_| (Outcome::Failed, Vec::new()));
    let generation = reloader.serving();
    let report = Report { trigger, outcome, generation, diagnostics, began, took: start.elapsed() };
    reloader.tell(&report);
    let report = Arc::new(report);
    last.store(Some(Arc::clone(&report)));
    for answer in waiting {
        // Who asked may be gone.
        let _ = answer.send(Arc::clone(&report));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_waits_until_it_is_quiet_but_not_for_ever() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut unrest = Unrest::default();
        assert!(!unrest.is_over(at(0)));
        unrest.touched(at(0));
        assert!(!unrest.is_over(at(199)));
        assert!(unrest.is_over(at(200)));
        assert!(!unrest.is_over(at(400)), "once");
        for millis in (1000..2000).step_by(100) {
            unrest.touched(at(millis));
            assert!(!unrest.is_over(at(millis)), "{millis}");
        }
        assert!(unrest.is_over(at(2000)), "written to without end");
        assert!(!unrest.is_over(at(6999)));
        assert!(unrest.is_over(at(7000)), "nothing was heard");
    }
}
