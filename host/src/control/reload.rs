//! A changed configuration is taken while traffic flows: read, check, build, swap, drain. All or nothing: what is
//! wrong with it is told, and the last good generation goes on. Knows nothing of what triggers it and of how the
//! answer is shown.
//!
//! One thread does all of it, one reload after the other. Whoever asks while one runs is served by the next one,
//! together with all others who wait: its files are read after the last of them asked.

mod draining;
mod files;
mod log_file;
mod log_style;
mod metrics;
mod report;
mod restart;
mod sockets;
mod steady;
mod steps;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use arc_swap::ArcSwapOption;
use tokio::sync::oneshot;

use crate::config::Checked;
use crate::config::diagnostic::Diagnostic;

pub use log_file::LogFile;
pub use metrics::ReloadMetrics;
pub use report::{Outcome, Report, Trigger};
pub use sockets::{Sockets, Switch};
pub use steps::Parts;
pub use worker::start;

/// Where the configuration comes from.
pub struct Source {
    /// The configuration file; none where there are only flags.
    pub file: Option<PathBuf>,
    /// Whether its files are watched, whatever it says of that itself.
    pub watch: bool,
    /// Reads and checks it, with all that it names.
    pub read: Box<dyn Fn() -> Result<Checked, Vec<Diagnostic>> + Send>,
}

/// Where reloads are asked for. Cloning shares it.
#[derive(Clone)]
pub struct Reloads {
    inbox: Sender<Message>,
    last: Arc<ArcSwapOption<Report>>,
}

/// What the thread is asked for.
enum Message {
    Reload {
        trigger: Trigger,
        /// Who waits for the outcome.
        answer: Option<oneshot::Sender<Arc<Report>>>,
    },
    ReopenLogs,
}

impl Reloads {
    /// Asks for a reload, and does not wait.
    pub fn tell(&self, trigger: Trigger) {
        // Without the thread, the process is ending.
        let _ = self.inbox.send(Message::Reload { trigger, answer: None });
    }

    /// Asks for a reload and waits until it is done. `None` where the process ends before.
    pub async fn ask(&self, trigger: Trigger) -> Option<Arc<Report>> {
        let (answer, report) = oneshot::channel();
        self.inbox.send(Message::Reload { trigger, answer: Some(answer) }).ok()?;
        report.await.ok()
    }

    /// Has log files opened anew: they were renamed.
    pub fn reopen_logs(&self) {
        let _ = self.inbox.send(Message::ReopenLogs);
    }

    /// The last reload, if there was one.
    pub fn last(&self) -> Option<Arc<Report>> {
        self.last.load_full()
    }
}
