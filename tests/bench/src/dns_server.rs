//! A DNS server that answers every A question with 127.0.0.1, as fast as it is told: at once, late or
//! never. UDP on loopback; just enough of RFC 1035. Knows no proxy.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Seconds that an answer may be kept.
pub(crate) const TTL: u32 = 1;
/// How long a proxy may take until it asks again.
const ASK_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    AtOnce,
    After(Duration),
    Never,
}

/// Stops when dropped.
#[derive(Debug)]
pub(crate) struct DnsServer {
    pub(crate) address: SocketAddr,
    manner: watch::Sender<Manner>,
    asked: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl DnsServer {
    /// # Errors
    /// Where there is no free port.
    pub(crate) async fn start() -> Result<Self> {
        let socket = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?);
        let address = socket.local_addr()?;
        let (manner, told) = watch::channel(Manner::AtOnce);
        let asked = Arc::new(AtomicU64::new(0));
        let task = tokio::spawn(serve(socket, told, Arc::clone(&asked)));
        Ok(Self { address, manner, asked, task })
    }

    /// Changes how questions are answered from now on, and waits for the next one.
    ///
    /// # Errors
    /// Where nobody asks within half a minute.
    pub(crate) async fn turn(&self, manner: Manner) -> Result<()> {
        self.manner.send_replace(manner);
        let (before, start) = (self.asked(), Instant::now());
        while self.asked() == before {
            if start.elapsed() > ASK_DEADLINE {
                bail!("nobody asked the DNS server for {} s", ASK_DEADLINE.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Questions so far.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: Arc<UdpSocket>, manner: watch::Receiver<Manner>, asked: Arc<AtomicU64>) {
    let mut buffer = [0; 512];
    loop {
        // An error here is that of an earlier answer whose asker is gone.
        let Ok((length, asker)) = socket.recv_from(&mut buffer).await else { continue };
        let Some(answer) = buffer.get(..length).and_then(answer) else { continue };
        asked.fetch_add(1, Ordering::Relaxed);
        let delay = match *manner.borrow() {
            Manner::AtOnce => Duration::ZERO,
            Manner::After(delay) => delay,
            Manner::Never => continue,
        };
        let socket = Arc::clone(&socket);
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            // The asker may be gone; then nobody misses the answer.
            let _ = socket.send_to(&answer, asker).await;
        });
    }
}

/// The answer to a message with one question: an address for type A, nothing for any other type.
fn answer(message: &[u8]) -> Option<Vec<u8>> {
    let (id, rest) = message.split_at_checked(2)?;
    let (counts, body) = rest.split_at_checked(10)?;
    if counts.get(2..4)? != [0, 1] {
        return None;
    }
    let question = body.get(..question_length(body)?)?;
    let wants_address = question.ends_with(&[0, 1, 0, 1]);

    let mut answer = id.to_vec();
    // A response, recursion desired and available; one question, one answer or none.
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(wants_address), 0, 0, 0, 0]);
    answer.extend(question);
    if wants_address {
        // The name is the one at offset 12; type A, class IN.
        answer.extend([0xc0, 12, 0, 1, 0, 1]);
        answer.extend(TTL.to_be_bytes());
        answer.extend([0, 4, 127, 0, 0, 1]);
    }
    Some(answer)
}

/// Length of name, type and class at the start of `body`.
fn question_length(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match usize::from(*body.get(at)?) {
            0 => return Some(at + 5),
            label @ 1..=63 => at += label + 1,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &[u8], kind: u8) -> Vec<u8> {
        let head = [0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        // An empty OPT record follows, as resolvers send it.
        [&head[..], name, &[0, kind, 0, 1], &[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]].concat()
    }

    #[test]
    fn answers() {
        let check = |input: &[u8], expected: Option<(u8, &[u8])>| {
            let answer = answer(input);
            let seen = answer.as_deref().map(|a| (a[7], &a[a.len() - 4..]));
            assert_eq!(seen, expected, "{input:?}");
            if let Some(answer) = answer {
                assert_eq!(&answer[..4], [0xab, 0xcd, 0x81, 0x80]);
            }
        };
        check(&question(b"\x01a\x04test\x00", 1), Some((1, &[127, 0, 0, 1])));
        check(&question(b"\x01a\x04test\x00", 28), Some((0, &[0, 28, 0, 1])));
        check(&question(b"\x3fa\x00", 1), None);
        check(&question(b"\xc0\x0c", 1), None);
        check(&[0; 12], None);
        check(&[], None);
    }
}
