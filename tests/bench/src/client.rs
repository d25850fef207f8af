//! One plain request and its answer, to see that a set-up does its job before it is measured. Knows no
//! proxy.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::contender::Target;

const DEADLINE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of the first line of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (line_name, value) = line.split_once(':')?;
            line_name.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// Sends a GET as wrk does and reads the whole answer.
///
/// # Errors
/// Where there is no answer within ten seconds, or one that is not HTTP.
pub(crate) async fn ask(target: &Target) -> Result<Answer> {
    timeout(DEADLINE, exchange(target)).await.context("no answer")?
}

async fn exchange(target: &Target) -> Result<Answer> {
    let mut head = format!("GET {} HTTP/1.1\r\nconnection: close\r\n", target.path);
    if !target.headers.iter().any(|(name, _)| name == "host") {
        head.push_str(&format!("host: {}\r\n", target.address));
    }
    for (name, value) in &target.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");

    let mut stream = TcpStream::connect(target.address).await?;
    stream.write_all(head.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    read(&answer)
}

fn read(answer: &[u8]) -> Result<Answer> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").context("an answer without an end of its head")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.with_context(|| format!("not a status line: `{head}`"))?;
    Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let check = |input: &str, expected: Option<(u16, &str, &str)>| {
            let answer = read(input.as_bytes()).ok();
            let seen = answer.as_ref().map(|a| (a.status, a.header("X-Edge").unwrap_or(""), a.body.as_str()));
            assert_eq!(seen, expected, "{input}");
        };
        check("HTTP/1.1 200 OK\r\nx-edge: bench\r\n\r\nbody", Some((200, "bench", "body")));
        check("HTTP/1.1 401 Unauthorized\r\n\r\n", Some((401, "", "")));
        check("HTTP/1.1 200 OK\r\n", None);
        check("what\r\n\r\n", None);
    }
}
