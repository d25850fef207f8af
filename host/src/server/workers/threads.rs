//! The worker threads, with a runtime each. Not those of Pingora, which hands every task to a worker at random: an idle
//! connection to a peer is watched, and picked up, by way of another thread then. Knows nothing of what they do.

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The threads that serve. They end with [`Self::end`].
pub(in crate::server) struct Threads {
    crew: Crew,
    ends: Vec<oneshot::Sender<()>>,
}

/// All of them, for whoever has work. Cheap to clone.
#[derive(Clone)]
pub(in crate::server) struct Crew(Arc<[Worker]>);

/// One of them.
#[derive(Clone)]
pub(in crate::server) struct Worker {
    runtime: Handle,
    tasks: Arc<AtomicUsize>,
}

impl Threads {
    /// # Errors
    /// A thread can't be started.
    pub(in crate::server) fn start(count: NonZeroUsize) -> io::Result<Self> {
        let mut workers = Vec::with_capacity(count.get());
        let mut ends = Vec::with_capacity(count.get());
        for _ in 0..count.get() {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            workers.push(Worker { runtime: runtime.handle().clone(), tasks: Arc::default() });
            let (end, ended) = oneshot::channel();
            ends.push(end);
            std::thread::Builder::new().name("edge".to_owned()).spawn(move || {
                // An error means that nobody is left who could end it in order.
                let _ = runtime.block_on(ended);
                runtime.shutdown_background();
            })?;
        }
        Ok(Self { crew: Crew(workers.into()), ends })
    }

    pub(in crate::server) fn crew(&self) -> Crew {
        self.crew.clone()
    }

    /// Takes down whatever runs yet, on its own thread. Does not wait for it.
    pub(in crate::server) fn end(self) {
        for end in self.ends {
            let _ = end.send(());
        }
    }
}

impl Crew {
    /// The worker with the fewest tasks.
    pub(in crate::server) fn idlest(&self) -> Option<&Worker> {
        self.0.iter().min_by_key(|worker| worker.tasks.load(Relaxed))
    }
}

impl Worker {
    /// Has the worker run it to its end.
    pub(in crate::server) fn spawn(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let counted = Counted::new(Arc::clone(&self.tasks));
        self.runtime.spawn(async move {
            let _counted = counted;
            work.await;
        })
    }

    /// Whether it is the one who asks.
    pub(in crate::server) fn is_this(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() == self.runtime.id())
    }
}

/// A task of a worker, until this is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(tasks: Arc<AtomicUsize>) -> Self {
        tasks.fetch_add(1, Relaxed);
        Self(tasks)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(10);

    #[test]
    fn work_goes_to_whoever_has_the_least_and_stays_there() {
        let threads = Threads::start(NonZeroUsize::new(3).unwrap()).unwrap();
        let (told, tells) = mpsc::channel();
        for _ in 0..30 {
            let (told, crew) = (told.clone(), threads.crew());
            threads.crew().idlest().unwrap().spawn(async move {
                let worker = crew.0.iter().position(Worker::is_this);
                // Another task of it is on the same thread: nothing hands it over.
                let thread = tokio::spawn(async { std::thread::current().id() });
                told.send((worker, thread.await.unwrap() == std::thread::current().id())).unwrap();
                std::future::pending::<()>().await;
            });
        }
        let mut of_each = [0; 3];
        for _ in 0..30 {
            let (worker, stays) = tells.recv_timeout(DEADLINE).unwrap();
            assert!(stays);
            of_each[worker.unwrap()] += 1;
        }
        assert_eq!(of_each, [10; 3]);
        // What runs yet is dropped, and with it the other ends of the channel.
        threads.end();
        drop(told);
        assert!(
            tells.recv_timeout(DEADLINE).is_err_and(|error| error == mpsc::RecvTimeoutError::Disconnected)
        );
    }
}
