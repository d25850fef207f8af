//! Signals that do not end the process: SIGHUP reloads the configuration, SIGUSR1 opens log files anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pingora::server::ShutdownWatch;
use pingora::services::background::BackgroundService;
use tokio::signal::unix::{SignalKind, signal};

use crate::control::reload::{Reloads, Trigger};

/// Listens to them.
pub(super) struct Listening {
    pub(super) reloads: Reloads,
    /// Set once they are listened to: before that, either would kill the process.
    pub(super) heard: Arc<AtomicBool>,
}

#[async_trait]
impl BackgroundService for Listening {
    async fn start(&self, _shutdown: ShutdownWatch) {
        let (hangup, user) = (signal(SignalKind::hangup()), signal(SignalKind::user_defined1()));
        self.heard.store(true, Ordering::Release);
        let (Ok(mut hangup), Ok(mut user)) = (hangup, user) else {
            tracing::error!("signals can't be listened to: only the admin address reloads");
            return;
        };
        loop {
            tokio::select! {
                Some(()) = hangup.recv() => self.reloads.tell(Trigger::Signal),
                Some(()) = user.recv() => self.reloads.reopen_logs(),
                else => return,
            }
        }
    }
}
