//! A response's head that is kept back from the client, and what of the upstream's response goes out around it.
//! Knows no session.

use bytes::Bytes;
use pingora::http::ResponseHeader;
use pingora::protocols::http::HttpTask;
use pingora::{Error, ErrorType, Result};

/// Carries a request to `fail_to_proxy`, where the replacement is written.
const REPLACED: ErrorType = ErrorType::Custom("response replaced by a plugin");

/// What is kept back, or let go.
#[derive(Debug, Default)]
pub(super) enum Held {
    /// All goes out as it comes.
    #[default]
    Nothing,
    /// Nothing goes out.
    Waiting(Box<ResponseHeader>),
    /// This goes out, and then all that comes, but for the head that took its place.
    Released(Box<ResponseHeader>, Bytes),
    /// This goes out before the trailers.
    Rest(Bytes),
    /// This goes out, and nothing that comes.
    Replaced(Box<ResponseHeader>, Bytes),
}

impl Held {
    pub(super) fn take_waiting(&mut self) -> Option<Box<ResponseHeader>> {
        match std::mem::take(self) {
            Self::Waiting(head) => Some(head),
            other => {
                *self = other;
                None
            }
        }
    }

    pub(super) fn take_replacement(&mut self) -> Option<(Box<ResponseHeader>, Bytes)> {
        match std::mem::take(self) {
            Self::Replaced(head, body) => Some((head, body)),
            _ => None,
        }
    }

    /// What goes out now of what came.
    ///
    /// # Errors
    /// The exchange with the upstream is to end here: a replacement is due, and the rest of the upstream's response
    /// may be long, or never come.
    pub(super) fn arrange(&mut self, tasks: Vec<HttpTask>) -> Result<Vec<HttpTask>> {
        match std::mem::take(self) {
            Self::Nothing => Ok(tasks),
            Self::Waiting(head) => Ok(self.wait(head, tasks)),
            Self::Released(head, body) => {
                let mut out = vec![HttpTask::Header(head, false)];
                if !body.is_empty() {
                    out.push(HttpTask::Body(Some(body), false));
                }
                out.extend(tasks.into_iter().filter(|task| !matches!(task, HttpTask::Header(..))));
                Ok(out)
            }
            Self::Rest(rest) => {
                let mut tasks = tasks;
                let end = tasks.iter().position(|task| matches!(task, HttpTask::Trailer(_) | HttpTask::Done));
                tasks.insert(end.unwrap_or(tasks.len()), HttpTask::Body(Some(rest), false));
                Ok(tasks)
            }
            Self::Replaced(head, body) => {
                let is_whole = |task: &HttpTask| task.is_end() && !matches!(task, HttpTask::Failed(_));
                if !tasks.iter().any(is_whole) {
                    *self = Self::Replaced(head, body);
                    return Err(Error::new(REPLACED));
                }
                let mut out = vec![HttpTask::Header(head, body.is_empty())];
                if !body.is_empty() {
                    out.push(HttpTask::Body(Some(body), true));
                }
                Ok(out)
            }
        }
    }

    /// A failure goes out, which ends the response. So does a head that had no body to wait for.
    fn wait(&mut self, head: Box<ResponseHeader>, tasks: Vec<HttpTask>) -> Vec<HttpTask> {
        for task in tasks {
            match task {
                HttpTask::Failed(_) => return vec![task],
                HttpTask::Header(_, true) => return vec![HttpTask::Header(head, true)],
                _ => {}
            }
        }
        *self = Self::Waiting(head);
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16) -> Box<ResponseHeader> {
        Box::new(ResponseHeader::build_no_case(status, None).unwrap())
    }

    fn body(text: &'static str, end: bool) -> HttpTask {
        HttpTask::Body(Some(Bytes::from_static(text.as_bytes())), end)
    }

    /// What goes out, one word a task.
    fn arranged(held: &mut Held, tasks: Vec<HttpTask>) -> Result<String> {
        let told = |task: &HttpTask| match task {
            HttpTask::Header(head, end) => format!("{}{}", head.status.as_u16(), if *end { "." } else { "" }),
            HttpTask::Body(data, end) => {
                let text = data.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                format!("{text}{}", if *end { "." } else { "" })
            }
            HttpTask::Trailer(_) => "trailers".to_owned(),
            other => other.type_str().to_owned(),
        };
        Ok(held.arrange(tasks)?.iter().map(told).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn nothing_goes_out_before_the_head_is_let_go() {
        let mut held = Held::Waiting(head(201));
        let first = vec![HttpTask::Header(head(200), false), HttpTask::Body(None, false)];
        assert_eq!(arranged(&mut held, first).unwrap(), "");
        let waiting = held.take_waiting().unwrap();
        held = Held::Released(waiting, Bytes::from_static(b"all"));
        let last = vec![HttpTask::Header(head(200), false), HttpTask::Body(None, true)];
        assert_eq!(arranged(&mut held, last).unwrap(), "201 all .");
        assert_eq!(arranged(&mut held, vec![body("more", true)]).unwrap(), "more.");
    }

    #[test]
    fn a_head_without_a_body_does_not_wait() {
        let mut held = Held::Waiting(head(201));
        assert_eq!(arranged(&mut held, vec![HttpTask::Header(head(200), true)]).unwrap(), "201.");
    }

    #[test]
    fn the_rest_goes_before_the_trailers() {
        let mut held = Held::Rest(Bytes::from_static(b"rest"));
        let tasks = vec![body("a", false), HttpTask::Trailer(None)];
        assert_eq!(arranged(&mut held, tasks).unwrap(), "a rest trailers");
    }

    #[test]
    fn a_replacement_goes_out_only_behind_all_of_the_response() {
        let replaced = || Held::Replaced(head(404), Bytes::from_static(b"gone"));
        let mut held = replaced();
        let whole = vec![HttpTask::Header(head(200), false), body("old", true)];
        assert_eq!(arranged(&mut held, whole).unwrap(), "404 gone.");
        let mut held = replaced();
        assert!(arranged(&mut held, vec![HttpTask::Header(head(200), false)]).is_err());
        assert!(held.take_replacement().is_some());
    }
}
