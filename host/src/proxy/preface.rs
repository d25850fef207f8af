//! Whether a cleartext connection begins with HTTP/2's preface (RFC 9113, section 3.4). Pingora waits for as many
//! bytes as the preface has, without end, and a whole HTTP/1 request may be shorter; here, the first byte that
//! differs decides, within a deadline.

use tokio::time::{Instant, timeout_at};

use crate::config::model::ClientLimits;

use super::downstream::Downstream;

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Takes nothing from the stream. `None`: it was closed, or silent.
pub(super) async fn comes(stream: &mut Downstream, limits: &ClientLimits) -> Option<bool> {
    let deadline = Instant::now() + limits.idle;
    loop {
        let seen = stream.ahead();
        if seen.starts_with(PREFACE) {
            return Some(true);
        }
        if !PREFACE.starts_with(seen) {
            return Some(false);
        }
        if timeout_at(deadline, stream.fill()).await.ok()?.ok()? == 0 {
            return (!stream.ahead().is_empty()).then_some(false);
        }
    }
}
