//! The end of a listener, as its connections learn of it: first their responses say that it is the last one, and then
//! those are closed that say nothing. Knows no sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pingora::server::ShutdownWatch;
use tokio::sync::watch;

/// Whoever ends a listener.
#[derive(Debug)]
pub struct Farewell {
    announced: Arc<AtomicBool>,
    over: watch::Sender<bool>,
}

/// What a connection hears. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Leave {
    announced: Arc<AtomicBool>,
    over: ShutdownWatch,
}

/// For one listener.
pub fn farewell() -> (Farewell, Leave) {
    let announced = Arc::<AtomicBool>::default();
    let (sender, over) = watch::channel(false);
    (Farewell { announced: Arc::clone(&announced), over: sender }, Leave { announced, over })
}

impl Farewell {
    /// From now on, every response says that its connection ends with it.
    pub fn announce(&self) {
        self.announced.store(true, Ordering::Relaxed);
    }

    /// Connections end as soon as nothing is under way on them.
    pub fn end(&self) {
        self.announce();
        self.over.send_replace(true);
    }
}

impl Leave {
    pub(crate) fn is_announced(&self) -> bool {
        self.announced.load(Ordering::Relaxed)
    }

    /// Becomes true at the end.
    pub(super) fn over(&self) -> &ShutdownWatch {
        &self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_before_it_is_done() {
        let (farewell, leave) = farewell();
        let told = |leave: &Leave| (leave.is_announced(), *leave.over().borrow());
        assert_eq!(told(&leave), (false, false));
        farewell.announce();
        assert_eq!(told(&leave.clone()), (true, false));
        farewell.end();
        assert_eq!(told(&leave), (true, true));
    }
}
