//! A guest that may wait: polled on a fiber, within its wall time, its CPU time told apart from that of the
//! worker's other tasks. Must not know what is called.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::failure::Ended;
use super::limits::time::Slice;

/// Runs a call on its fiber. If it does not end within `wall`, the fiber is unwound and the call is over.
pub(super) async fn run<T>(
    slice: Arc<Slice>,
    wall: Duration,
    call: impl Future<Output = wasmtime::Result<T>>,
) -> Result<T, Ended> {
    // Boxed, so that calls without a fiber do not carry the room for one.
    let slices = Slices { slice, call: Box::pin(call) };
    tokio::time::timeout(wall, slices).await.unwrap_or(Err(Ended::Waited))
}

/// Polls a call and notes when its slices of CPU begin. A panic of a host call comes out of a poll.
struct Slices<F> {
    slice: Arc<Slice>,
    call: F,
}

impl<F, T> Future for Slices<Pin<Box<F>>>
where
    F: Future<Output = wasmtime::Result<T>> + ?Sized,
{
    type Output = Result<T, Ended>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { slice, call } = &mut *self;
        let _running = slice.running();
        slice.resume();
        match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))) {
            Ok(polled) => polled.map_err(Ended::Guest),
            Err(payload) => Poll::Ready(Err(Ended::panicked(payload))),
        }
    }
}
