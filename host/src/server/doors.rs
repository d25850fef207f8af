//! Which listeners take connections. A reload opens new ones before anything is swapped, and closes others once it was;
//! the end of the process closes all. Knows nothing of what comes over them.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::config::diagnostic::Diagnostic;
use crate::config::{codes, overlap};
use crate::control::reload::{Sockets, Switch};

use super::accept::Reception;
use super::listeners::{self, CannotListen};

/// The listeners of the process.
pub(super) struct Doors {
    reception: Reception,
    state: Mutex<State>,
}

struct State {
    doors: HashMap<SocketAddr, Door>,
    stage: Stage,
}

/// Where the process is in its life.
enum Stage {
    /// Connections wait in the kernel.
    Opening,
    /// Becomes true at the end.
    Taking(ShutdownWatch),
    Ended,
}

/// One listener.
enum Door {
    Shut(TcpListener),
    Open {
        task: JoinHandle<()>,
        /// Closes it when this is dropped.
        _close: oneshot::Sender<()>,
    },
}

impl Doors {
    /// These listen, and nothing is taken yet.
    pub(super) fn new(
        reception: Reception,
        listening: impl IntoIterator<Item = (SocketAddr, TcpListener)>,
    ) -> Self {
        let doors = listening.into_iter().map(|(address, socket)| (address, Door::Shut(socket))).collect();
        Self { reception, state: Mutex::new(State { doors, stage: Stage::Opening }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `address` taken care of by some worker. `None` without workers.
    fn open(&self, address: SocketAddr, socket: TcpListener, shutdown: ShutdownWatch) -> Option<Door> {
        let (_close, closed) = oneshot::channel();
        let task = self.reception.open(address, socket, closed, shutdown)?;
        Some(Door::Open { task, _close })
    }

    fn begin(&self, shutdown: &ShutdownWatch) {
        let mut state = self.state();
        state.stage = Stage::Taking(shutdown.clone());
        let doors = std::mem::take(&mut state.doors).into_iter();
        state.doors = doors
            .filter_map(|(address, door)| match door {
                Door::Shut(socket) => Some((address, self.open(address, socket, shutdown.clone())?)),
                open @ Door::Open { .. } => Some((address, open)),
            })
            .collect();
    }

    /// Listens on these in the place of those that there are.
    fn switch(&self, wanted: &[SocketAddr], new: Vec<(SocketAddr, TcpListener)>) {
        let mut state = self.state();
        state.doors.retain(|address, _| {
            let stays = wanted.contains(address);
            if !stays {
                tracing::info!(%address, "the listener is closed");
            }
            stays
        });
        for (address, socket) in new {
            let door = match &state.stage {
                Stage::Opening => Some(Door::Shut(socket)),
                Stage::Taking(shutdown) => self.open(address, socket, shutdown.clone()),
                Stage::Ended => None,
            };
            if let Some(door) = door {
                tracing::info!(%address, "the listener is open");
                state.doors.insert(address, door);
            }
        }
    }

    /// Waits until each has taken the connections that were made before the end.
    async fn end(&self) {
        let doors = {
            let mut state = self.state();
            state.stage = Stage::Ended;
            std::mem::take(&mut state.doors)
        };
        for (_, door) in doors {
            if let Door::Open { task, _close } = door {
                // One that panicked has told so.
                let _ = task.await;
            }
        }
        self.reception.edge.end().await;
    }
}

impl Sockets for Arc<Doors> {
    fn open(&self, wanted: &[SocketAddr]) -> Result<Switch, Vec<Diagnostic>> {
        let (new, gone): (Vec<SocketAddr>, Vec<SocketAddr>) = {
            let state = self.state();
            let new = wanted.iter().filter(|address| !state.doors.contains_key(address));
            let gone = state.doors.keys().filter(|address| !wanted.contains(address));
            (new.copied().collect(), gone.copied().collect())
        };
        let opened = listeners::open(new.iter().copied())
            .map_err(|failed| failed.iter().map(|failed| diagnostic(failed, &gone)).collect::<Vec<_>>())?;
        let new: Vec<_> = new.into_iter().zip(opened).collect();
        let (doors, wanted) = (Arc::clone(self), wanted.to_vec());
        Ok(Box::new(move || doors.switch(&wanted, new)))
    }
}

/// A listener that is to go may be what is in the way: it is not closed before the new one is there.
fn diagnostic(failed: &CannotListen, gone: &[SocketAddr]) -> Diagnostic {
    match gone.iter().find(|gone| overlap::clash(**gone, failed.address)) {
        Some(gone) => {
            let message = format!("`{}` can't be opened while `{gone}` is open", failed.address);
            let help = "restart the proxy, or take another port; nothing of the new configuration is in use";
            Diagnostic::error(codes::NEEDS_RESTART, message).with_help(help)
        }
        None => Diagnostic::error(codes::CANNOT_LISTEN, failed.to_string())
            .with_help("nothing of the new configuration is in use"),
    }
}

/// The service that runs them. The thread that Pingora gives it does nothing but wait for the workers. Not a listening
/// service of Pingora's: that one resets whoever has connected when the process ends, waits out of descriptors for a
/// second, and repeats other errors without a pause.
pub(super) struct Accepting {
    pub(super) doors: Arc<Doors>,
    /// Becomes true once connections are taken.
    pub(super) taking: Arc<AtomicBool>,
}

#[async_trait]
impl Service for Accepting {
    async fn start_service(
        &mut self,
        _handed_over: Option<ListenFds>,
        mut shutdown: ShutdownWatch,
        _tasks_per_listener: usize,
    ) {
        self.doors.begin(&shutdown);
        self.taking.store(true, Ordering::Release);
        // An error means that the server is gone.
        let _ = shutdown.wait_for(|stop| *stop).await;
        self.doors.end().await;
    }

    fn name(&self) -> &str {
        "listeners"
    }

    fn threads(&self) -> Option<usize> {
        Some(1)
    }
}
