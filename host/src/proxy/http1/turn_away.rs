//! A connection that is one too many: its first request is waited for, and answered with 503. Knows no limits.

use std::time::Duration;

use pingora::prelude::fast_timeout::fast_timeout;

use crate::proxy::downstream::Downstream;
use crate::proxy::failure::{Failed, Kind};

use super::{Http1, refuse};

/// How long the client may take to say something: who has not by then, is closed without a word.
const PATIENCE: Duration = Duration::from_secs(1);

impl Http1 {
    /// Answers whatever comes first, and ends the connection. HTTP/2 is closed without a word.
    pub(in crate::proxy) async fn turn_away(&self, mut stream: Box<Downstream>) {
        // Reset streams of a client that is not done are no loss: it is to come back anyway.
        if !matches!(fast_timeout(PATIENCE, stream.fill()).await, Ok(Ok(1..)))
            || stream.ahead().starts_with(b"PRI ")
        {
            return;
        }
        let failed = Failed::because(Kind::Overloaded, "there are as many connections as there may be");
        refuse::answer(self, stream, failed).await;
    }
}
