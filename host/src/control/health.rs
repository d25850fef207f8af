//! Whether the proxy can take traffic: set by the server, read by the admin address.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Where the process is in its life. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<AtomicU8>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Listeners are not open yet.
    Starting,
    /// Takes traffic.
    Ready,
    /// Finishes what it has and takes no more.
    Draining,
}

impl Health {
    pub fn state(&self) -> State {
        match self.0.load(Ordering::Acquire) {
            0 => State::Starting,
            1 => State::Ready,
            _ => State::Draining,
        }
    }

    /// Everything listens. Draining is never left again.
    pub fn becomes_ready(&self) {
        let _ = self.0.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
    }

    pub fn drains(&self) {
        self.0.store(2, Ordering::Release);
    }
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Ready => "ready",
            State::Draining => "draining",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draining_is_final() {
        let health = Health::default();
        assert_eq!(health.state(), State::Starting);
        health.becomes_ready();
        assert_eq!(health.state(), State::Ready);
        health.drains();
        health.becomes_ready();
        assert_eq!(health.state(), State::Draining);
    }
}
