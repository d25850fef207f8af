//! What the double knows of a request, and the loan of it to the phase that runs: on this thread, for one
//! call. Must not know how a test is written.

use std::cell::RefCell;

use super::head::Head;
use super::rules;
use crate::log::Level;
use crate::{AttributeError, Bytes, Response, TlsInfo};

const MAX_ATTRIBUTES: usize = 64;
const MAX_BODY: usize = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Request,
    UpstreamRequest,
    RequestBody,
    Response,
    ResponseBody,
    Error,
    Log,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// The phase that runs.
    pub(crate) phase: Option<Phase>,
    pub(crate) method: String,
    pub(crate) scheme: String,
    pub(crate) tls: Option<TlsInfo>,
    pub(crate) authority: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) raw_target: String,
    pub(crate) protocol: String,
    pub(crate) client_address: String,
    pub(crate) route: String,
    pub(crate) request_id: String,
    pub(crate) head: Head,
    /// The whole body, where it is buffered.
    pub(crate) body: Option<Bytes>,
    /// The body of the response goes by in pieces: its head is gone.
    pub(crate) streaming: bool,
    pub(crate) attributes: Vec<(String, Bytes)>,
    /// What the configuration has.
    pub(crate) upstreams: Vec<String>,
    /// What a plugin chose.
    pub(crate) upstream: Option<String>,
    /// The key that a plugin set.
    pub(crate) hash_key: Option<Bytes>,
    pub(crate) response: Option<Answer>,
    pub(crate) http_calls: usize,
    pub(crate) logged: Vec<(Level, String)>,
    /// The request before its first attempt.
    pub(crate) before: Option<Box<Sent>>,
}

/// What an attempt may change.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    authority: String,
    path: String,
    query: Option<String>,
    head: Head,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: Head,
    pub(crate) body: Bytes,
}

impl Answer {
    /// As the upstream sent it.
    pub(crate) fn received(response: &Response) -> Self {
        let mut head = Head::default();
        for line in response.headers() {
            head.receive(&line.name, line.value.clone());
        }
        Self { status: response.status(), head, body: response.body.clone() }
    }

    /// As a plugin made it: 500 in its place where the contract refuses a part of it.
    pub(crate) fn made(response: &Response) -> Self {
        let mut head = Head::default();
        let refused = response.headers().iter().any(|line| head.append(&line.name, &line.value).is_err());
        if refused || !(200..=599).contains(&response.status()) || response.body.len() > MAX_BODY {
            return Self { status: 500, ..Self::default() };
        }
        Self { status: response.status(), head, body: response.body.clone() }
    }
}

impl State {
    pub(crate) fn attribute(&self, key: &str) -> Option<Bytes> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    }

    pub(crate) fn set_attribute(&mut self, key: &str, value: &[u8]) -> Result<(), AttributeError> {
        rules::attribute(key, value)?;
        if let Some((_, old)) = self.attributes.iter_mut().find(|(name, _)| name == key) {
            *old = value.into();
        } else if self.attributes.len() >= MAX_ATTRIBUTES {
            return Err(AttributeError::TooLarge);
        } else {
            self.attributes.push((key.to_owned(), value.into()));
        }
        Ok(())
    }

    /// Puts the request back to what it was before the first attempt.
    pub(crate) fn begin_attempt(&mut self) {
        let now = || Sent {
            authority: self.authority.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            head: self.head.clone(),
        };
        let before = self.before.get_or_insert_with(|| Box::new(now())).as_ref().clone();
        Sent { authority: self.authority, path: self.path, query: self.query, head: self.head } = before;
    }

    /// RFC 6265, section 5.4, by the words of WIT `request.cookie`.
    pub(crate) fn cookie(&self, name: &str) -> Option<Bytes> {
        let lines = self.head.all("cookie");
        let mut pairs = lines.iter().flat_map(|line| line.split(|byte| *byte == b';'));
        pairs.find_map(|pair| {
            let equals = pair.iter().position(|byte| *byte == b'=')?;
            let (key, value) = pair.split_at(equals);
            (trimmed(key) == name.as_bytes()).then(|| trimmed(value.get(1..).unwrap_or_default()).into())
        })
    }

    /// Runs `phase` with this state as the request of the thread. It is given back even if the plugin
    /// panics.
    pub(crate) fn lend<T>(&mut self, phase: Phase, call: impl FnOnce() -> T) -> T {
        let mut lent = std::mem::take(self);
        lent.phase = Some(phase);
        CURRENT.with(|current| *current.borrow_mut() = Some(lent));
        let _back = GiveBack(self);
        call()
    }
}

/// Asks the request of this thread; the empty value where no phase runs.
pub(crate) fn current<T: Default>(ask: impl FnOnce(&State) -> T) -> T {
    CURRENT.with(|current| current.borrow().as_ref().map(ask)).unwrap_or_default()
}

/// Changes the request of this thread; `None` where no phase runs.
pub(crate) fn change<T>(change: impl FnOnce(&mut State) -> T) -> Option<T> {
    CURRENT.with(|current| current.borrow_mut().as_mut().map(change))
}

thread_local! {
    static CURRENT: RefCell<Option<State>> = const { RefCell::new(None) };
}

struct GiveBack<'a>(&'a mut State);

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        if let Some(mut state) = CURRENT.with(|current| current.borrow_mut().take()) {
            state.phase = None;
            *self.0 = state;
        }
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    bytes.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_in_odd_lines() {
        fn check(lines: &[&str], expected: Option<&str>) {
            let mut state = State::default();
            for line in lines {
                state.head.receive("cookie", (*line).into());
            }
            assert_eq!(state.cookie("variant"), expected.map(Bytes::from), "{lines:?}");
        }
        check(&[], None);
        check(&["OnlyHttp;variant=b"], Some("b"));
        check(&["a=1;  variant=b ; z=2"], Some("b"));
        check(&["variant=\"b\""], Some("\"b\""));
        check(&["xvariant=b; Variant=c; variant"], None);
        check(&["variant=a; variant=b"], Some("a"));
        check(&["a=1", "variant=b=c"], Some("b=c"));
    }

    #[test]
    fn attributes_are_replaced_and_counted() {
        let mut state = State::default();
        for number in 0..MAX_ATTRIBUTES {
            state.set_attribute(&format!("a{number}"), b"1").unwrap();
        }
        assert_eq!(state.set_attribute("one-more", b""), Err(AttributeError::TooLarge));
        assert_eq!(state.set_attribute("a0", b"2"), Ok(()));
        assert_eq!(state.attribute("a0").unwrap(), "2");
    }
}
