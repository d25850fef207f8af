//! Whether a cleartext connection begins with HTTP/2's preface (RFC 9113, section 3.4). Pingora waits for as many
//! bytes as the preface has, without end, and a whole HTTP/1 request may be shorter; here, the first byte that
//! differs decides, within a deadline.

use std::time::Duration;

use pingora::protocols::Stream;
use pingora::protocols::l4::stream::Stream as TcpStream;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a client may take to say which protocol it speaks: as long as for the first byte of a request.
const DEADLINE: Duration = Duration::from_secs(60);

/// The connection with nothing taken from it, and whether it speaks HTTP/2. `None`: it was closed, or silent.
pub(super) async fn read(stream: Stream) -> Option<(Stream, bool)> {
    let mut stream = stream.into_any().downcast::<TcpStream>().ok()?;
    let deadline = Instant::now() + DEADLINE;
    let mut buffer = [0u8; PREFACE.len()];
    let mut length = 0;
    loop {
        let rest = buffer.get_mut(length..)?;
        let count = timeout_at(deadline, stream.read(rest)).await.ok()?.ok()?;
        length += count;
        let seen = buffer.get(..length)?;
        let http2 = seen == PREFACE;
        if http2 || count == 0 || !PREFACE.starts_with(seen) {
            if seen.is_empty() {
                return None;
            }
            stream.rewind(seen);
            return Some((stream, http2));
        }
    }
}
