//! Clients that come all at once, as many as there are to be, and ask for as long as the run takes: what became of
//! each request, and when all is well again once they are gone. Knows no proxy.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// An answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(10);
/// When a client comes back that had no answer, or none of 200: much sooner than any `retry-after`.
const PAUSE: Duration = Duration::from_millis(100);
/// So many answers of 200 in a row, each on a connection of its own, are no chance.
const IN_A_ROW: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(5);

/// What became of the requests.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Answers of 503 with `retry-after`.
    pub(crate) told_when: u64,
    /// Connections that were refused, or ended before the answer did.
    pub(crate) broken: u64,
    /// Requests that had no answer in ten seconds.
    pub(crate) silent: u64,
}

/// One answer, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Answer {
    status: u16,
    retry_after: bool,
    closes: bool,
    /// Bytes behind the head.
    length: usize,
}

impl Seen {
    pub(crate) fn with(&self, status: u16) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }

    /// Answers other than 200 and 503.
    pub(crate) fn others(&self) -> u64 {
        self.statuses.iter().filter(|(status, _)| ![200, 503].contains(*status)).map(|(_, count)| count).sum()
    }

    fn add(&mut self, other: &Self) {
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        self.told_when += other.told_when;
        self.broken += other.broken;
        self.silent += other.silent;
    }
}

/// Has so many clients ask at once for so long, each on a connection that it keeps as long as it may.
pub(crate) async fn come(address: SocketAddr, clients: u32, time: Duration) -> Seen {
    let end = Instant::now() + time;
    let mut crowd = JoinSet::new();
    for _ in 0..clients {
        crowd.spawn(client(address, end));
    }
    let mut all = Seen::default();
    while let Some(seen) = crowd.join_next().await {
        all.add(&seen.unwrap_or_default());
    }
    all
}

/// How long it takes until every new connection is answered with 200. `None`: not within ten seconds.
pub(crate) async fn recovery(address: SocketAddr) -> Option<Duration> {
    let start = Instant::now();
    let (mut first, mut row) = (start, 0);
    while row < IN_A_ROW {
        let asked = Instant::now();
        if asked.duration_since(start) > PATIENCE {
            return None;
        }
        match timeout(PATIENCE, one(address)).await {
            Ok(Ok(200)) => row += 1,
            _ => row = 0,
        }
        if row == 1 {
            first = Instant::now();
        }
        sleep(BETWEEN).await;
    }
    Some(first.duration_since(start))
}

async fn one(address: SocketAddr) -> Result<u16> {
    let mut stream = TcpStream::connect(address).await?;
    Ok(exchange(&mut stream, address).await?.status)
}

async fn client(address: SocketAddr, end: Instant) -> Seen {
    let mut seen = Seen::default();
    let mut kept = None;
    while Instant::now() < end {
        let exchange = async {
            let mut stream = match kept.take() {
                Some(stream) => stream,
                None => TcpStream::connect(address).await?,
            };
            let answer = exchange(&mut stream, address).await?;
            Ok::<_, Error>((answer, stream))
        };
        match timeout(PATIENCE, exchange).await {
            Err(_) => seen.silent += 1,
            Ok(Err(_)) => seen.broken += 1,
            Ok(Ok((answer, stream))) => {
                *seen.statuses.entry(answer.status).or_default() += 1;
                seen.told_when += u64::from(answer.status == 503 && answer.retry_after);
                kept = (!answer.closes).then_some(stream);
                if answer.status == 200 {
                    continue;
                }
            }
        }
        sleep(PAUSE).await;
    }
    seen
}

async fn exchange(stream: &mut TcpStream, address: SocketAddr) -> Result<Answer> {
    stream.write_all(format!("GET / HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).await?;
    let mut bytes = Vec::with_capacity(2048);
    loop {
        if let Some((answer, end)) = read(&bytes)
            && bytes.len() >= end + answer.length
        {
            return Ok(answer);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The head of an answer and where it ends, once that is there.
fn read(bytes: &[u8]) -> Option<(Answer, usize)> {
    let end = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(bytes.get(..end)?).to_ascii_lowercase();
    let value = |name: &str| {
        head.lines().find_map(|line| Some(line.split_once(':').filter(|(it, _)| *it == name)?.1.trim()))
    };
    let answer = Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        retry_after: value("retry-after").is_some(),
        closes: value("connection") == Some("close"),
        length: value("content-length").and_then(|length| length.parse().ok()).unwrap_or(0),
    };
    Some((answer, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let check = |input: &str, expected: Option<(u16, bool, bool, usize)>| {
            let seen =
                read(input.as_bytes()).map(|(it, _)| (it.status, it.retry_after, it.closes, it.length));
            assert_eq!(seen, expected, "{input}");
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Some((200, false, false, 2)));
        check("HTTP/1.1 503 No\r\nRetry-After: 1\r\nConnection: close\r\n\r\n", Some((503, true, true, 0)));
        check("HTTP/1.1 200 OK\r\n", None);
    }

    #[test]
    fn sums() {
        let seen =
            |status: u16, told_when| Seen { statuses: [(status, 2)].into(), told_when, broken: 1, silent: 0 };
        let mut all = seen(200, 0);
        all.add(&seen(503, 1));
        all.add(&seen(502, 0));
        assert_eq!((all.with(200), all.with(503), all.others()), (2, 2, 2));
        assert_eq!((all.told_when, all.broken), (1, 3));
    }
}
