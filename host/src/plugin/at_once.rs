//! Futures that are ready when they are first polled, for hooks that can't wait. Must not know what they do.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The result of a future that never waits; `None` if it did after all, and is dropped.
pub(super) fn result<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_has_no_result() {
        assert_eq!(result(std::future::ready(1)), Some(1));
        assert_eq!(result(std::future::pending::<()>()), None);
    }
}
