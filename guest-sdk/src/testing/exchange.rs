//! One request on its way through a plugin, as a test writes it. Must not know the rules: those are the
//! double's.

use super::state::{Answer, Phase, State};
use crate::log::Level;
use crate::{
    Attempt, BodyVerdict, Bytes, Chunk, Entry, ErrorVerdict, Failure, Plugin, Request, Response,
    ResponseHead, TlsInfo, Verdict,
};

/// A request, and what plugins have made of it.
#[derive(Debug)]
pub struct Exchange {
    state: State,
}

/// What a phase decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the plugin returned.
    pub verdict: Verdict,
}

impl Outcome {
    /// The response, where the plugin made one.
    pub fn response(&self) -> Option<&Response> {
        match &self.verdict {
            Verdict::Respond(response) => Some(response),
            Verdict::Next => None,
        }
    }
}

/// What the client sends, and what the proxy knows.
impl Exchange {
    /// A request for `target` (`/path?query`): HTTP/1.1 over `http` to `example.test`, from 192.0.2.1.
    pub fn new(method: &str, target: &str) -> Self {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let state = State {
            method: method.to_owned(),
            scheme: "http".to_owned(),
            authority: "example.test".to_owned(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            raw_target: target.to_owned(),
            protocol: "HTTP/1.1".to_owned(),
            client_address: "192.0.2.1".to_owned(),
            route: "test".to_owned(),
            request_id: "0".repeat(32),
            ..State::default()
        };
        Self { state }
    }

    /// A GET request.
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// Adds a header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Bytes>) -> Self {
        self.state.head.receive(name, value.into());
        self
    }

    /// Adds a cookie, in a `cookie` line of its own.
    #[must_use]
    pub fn cookie(self, name: &str, value: &str) -> Self {
        self.header("cookie", format!("{name}={value}"))
    }

    /// The scheme: `http` or `https`.
    #[must_use]
    pub fn scheme(mut self, scheme: &str) -> Self {
        self.state.scheme = scheme.to_owned();
        self
    }

    /// The client's TLS. Sets the scheme, too.
    #[must_use]
    pub fn tls(mut self, tls: TlsInfo) -> Self {
        self.state.tls = Some(tls);
        self.scheme("https")
    }

    /// The host the client asked for.
    #[must_use]
    pub fn host(mut self, authority: &str) -> Self {
        self.state.authority = authority.to_owned();
        self
    }

    /// The protocol: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    #[must_use]
    pub fn protocol(mut self, protocol: &str) -> Self {
        self.state.protocol = protocol.to_owned();
        self
    }

    /// The client's IP address.
    #[must_use]
    pub fn client_address(mut self, address: &str) -> Self {
        self.state.client_address = address.to_owned();
        self
    }

    /// The name of the route.
    #[must_use]
    pub fn route(mut self, name: &str) -> Self {
        self.state.route = name.to_owned();
        self
    }

    /// The request's id.
    #[must_use]
    pub fn request_id(mut self, id: &str) -> Self {
        self.state.request_id = id.to_owned();
        self
    }

    /// The body of the request, buffered: what `Request::body` returns.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.state.body = Some(body.into());
        self
    }

    /// An attribute that an earlier plugin has set.
    #[must_use]
    pub fn with_attribute(mut self, key: &str, value: impl Into<Bytes>) -> Self {
        self.state.attributes.push((key.to_owned(), value.into()));
        self
    }

    /// The upstreams of the configuration; none without this.
    #[must_use]
    pub fn with_upstreams<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.state.upstreams = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// What the upstream answers; an empty 200 without this.
    #[must_use]
    pub fn with_response(mut self, response: Response) -> Self {
        self.state.response = Some(Answer::received(&response));
        self
    }
}

/// The phases.
impl Exchange {
    /// Runs `request-filter`. A response that the plugin makes is what the response phase sees.
    pub fn on_request<P: Plugin>(&mut self, plugin: &P) -> Outcome {
        let verdict = self.state.lend(Phase::Request, || plugin.on_request(&mut Request::current()));
        self.decided(verdict)
    }

    /// Runs `upstream-request-filter` for an attempt. What the plugin changed can be seen until the next call:
    /// like the proxy, the test starts each attempt from the request as it was before the first.
    pub fn on_upstream_request<P: Plugin>(&mut self, plugin: &P, attempt: &Attempt) -> Outcome {
        self.state.begin_attempt();
        let call = || plugin.on_upstream_request(&mut Request::current(), attempt);
        let verdict = self.state.lend(Phase::UpstreamRequest, call);
        self.decided(verdict)
    }

    /// Runs `error-filter`. A response that the plugin makes is what the response phase sees.
    pub fn on_error<P: Plugin>(&mut self, plugin: &P, failure: &Failure) -> ErrorVerdict {
        let verdict = self.state.lend(Phase::Error, || plugin.on_error(&Request::current(), failure));
        if let ErrorVerdict::Respond(response) = &verdict {
            self.state.response = Some(Answer::made(response));
        }
        verdict
    }

    /// Runs `request-body-filter` on a piece of the body, or on [`Chunk::whole`]. What the plugin puts in the place
    /// of a buffered body is the body from then on.
    pub fn on_request_body<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        let verdict =
            self.state.lend(Phase::RequestBody, || plugin.on_request_body(&Request::current(), chunk));
        match &verdict {
            BodyVerdict::Pass => {}
            BodyVerdict::Replace(data) if self.state.body.is_some() => self.state.body = Some(data.clone()),
            BodyVerdict::Replace(_) => {}
            BodyVerdict::Respond(response) => self.state.response = Some(Answer::made(response)),
        }
        verdict
    }

    /// Runs `response-body-filter` on all of the response's body, as a buffering plugin gets it: head and body
    /// can be changed.
    pub fn on_response_body<P: Plugin>(&mut self, plugin: &P) -> BodyVerdict {
        self.answered();
        let chunk = Chunk::whole(self.response_body());
        let verdict = self.lend_response_body(plugin, chunk);
        match (&verdict, &mut self.state.response) {
            (BodyVerdict::Replace(data), Some(answer)) => answer.body = data.clone(),
            (BodyVerdict::Respond(response), answer) => *answer = Some(Answer::made(response)),
            _ => {}
        }
        verdict
    }

    /// Runs `response-body-filter` on a piece of the response's body, as a streaming plugin gets it: the head is
    /// gone.
    pub fn on_response_chunk<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        self.answered();
        self.state.streaming = true;
        let verdict = self.lend_response_body(plugin, chunk);
        self.state.streaming = false;
        verdict
    }

    fn lend_response_body<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        let call = || plugin.on_response_body(&Request::current(), &mut ResponseHead::current(), chunk);
        self.state.lend(Phase::ResponseBody, call)
    }

    /// Runs `response-filter`.
    pub fn on_response<P: Plugin>(&mut self, plugin: &P) -> Outcome {
        self.answered();
        let call = || plugin.on_response(&Request::current(), &mut ResponseHead::current());
        let verdict = self.state.lend(Phase::Response, call);
        self.decided(verdict)
    }

    /// Runs `log-filter`, with an entry of what is known.
    pub fn on_log<P: Plugin>(&mut self, plugin: &P) {
        self.answered();
        let entry =
            Entry { status: self.status(), upstream: self.state.upstream.clone(), ..Entry::default() };
        self.on_log_entry(plugin, &entry);
    }

    /// Runs `log-filter` with this entry.
    pub fn on_log_entry<P: Plugin>(&mut self, plugin: &P, entry: &Entry) {
        let call = || plugin.on_log(&Request::current(), &ResponseHead::current(), entry);
        self.state.lend(Phase::Log, call);
    }

    fn decided(&mut self, verdict: Verdict) -> Outcome {
        if let Verdict::Respond(response) = &verdict {
            self.state.response = Some(Answer::made(response));
        }
        Outcome { verdict }
    }

    fn answered(&mut self) {
        self.state.response.get_or_insert_with(|| Answer { status: 200, ..Answer::default() });
    }
}

/// What has become of it.
impl Exchange {
    /// The first line of that name of the request as it is now.
    pub fn request_header(&self, name: &str) -> Option<Bytes> {
        self.state.head.first(name)
    }

    /// All lines of that name of the request as it is now.
    pub fn request_header_all(&self, name: &str) -> Vec<Bytes> {
        self.state.head.all(name)
    }

    /// The method as it is now.
    pub fn method(&self) -> &str {
        &self.state.method
    }

    /// The authority that the upstream is sent.
    pub fn authority(&self) -> &str {
        &self.state.authority
    }

    /// Path and query as they are now.
    pub fn target(&self) -> String {
        match &self.state.query {
            Some(query) => format!("{}?{query}", self.state.path),
            None => self.state.path.clone(),
        }
    }

    /// An attribute.
    pub fn attribute(&self, key: &str) -> Option<Bytes> {
        self.state.attribute(key)
    }

    /// The upstream that was chosen in place of the route's.
    pub fn upstream(&self) -> Option<&str> {
        self.state.upstream.as_deref()
    }

    /// The key that an upstream may choose the peer by.
    pub fn hash_key(&self) -> Option<&[u8]> {
        self.state.hash_key.as_deref()
    }

    /// The status of the response; 0 before there is one.
    pub fn status(&self) -> u16 {
        self.state.response.as_ref().map_or(0, |answer| answer.status)
    }

    /// The first line of that name of the response.
    pub fn response_header(&self, name: &str) -> Option<Bytes> {
        self.state.response.as_ref().and_then(|answer| answer.head.first(name))
    }

    /// All lines of that name of the response.
    pub fn response_header_all(&self, name: &str) -> Vec<Bytes> {
        self.state.response.as_ref().map(|answer| answer.head.all(name)).unwrap_or_default()
    }

    /// The body of the response.
    pub fn response_body(&self) -> &[u8] {
        self.state.response.as_ref().map_or(&[], |answer| &answer.body)
    }

    /// What the plugin wrote to the log in its phases.
    pub fn logged(&self) -> &[(Level, String)] {
        &self.state.logged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HashKeyError, HeaderError, StatusError, TargetError, UpstreamError};

    /// Tries everything in every phase and keeps what it was told.
    struct Prober;

    impl Plugin for Prober {
        type Config = ();

        fn configure((): ()) -> Result<Self, String> {
            Ok(Self)
        }

        fn on_request(&self, request: &mut Request) -> Verdict {
            assert_eq!(request.set_header("host", "x"), Err(HeaderError::HostOwned));
            assert_eq!(request.set_header("x-a", "1"), Ok(()));
            assert_eq!(request.set_path("no"), Err(TargetError::Invalid));
            assert_eq!(request.append_query("b", "2 3"), Ok(()));
            assert_eq!(request.set_upstream("nowhere"), Err(UpstreamError::Unknown));
            assert_eq!(request.set_upstream("blue"), Ok(()));
            assert_eq!(request.set_hash_key([0; 8193]), Err(HashKeyError::TooLarge));
            assert_eq!(request.set_hash_key("tenant"), Ok(()));
            assert_eq!(ResponseHead::current().status(), 0);
            assert_eq!(ResponseHead::current().set_status(200), Err(StatusError::WrongPhase));
            crate::log::info!("at {}", request.path());
            Verdict::Next
        }

        fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
            assert_eq!(Request::current().set_header("x-a", "2"), Err(HeaderError::WrongPhase));
            assert_eq!(Request::current().set_query(None), Err(TargetError::WrongPhase));
            assert_eq!(Request::current().set_upstream("blue"), Err(UpstreamError::WrongPhase));
            assert_eq!(Request::current().set_hash_key("x"), Err(HashKeyError::WrongPhase));
            assert_eq!(response.status(), 200);
            assert_eq!(response.set_status(199), Err(StatusError::Invalid));
            assert_eq!(response.append_header("vary", "origin"), Ok(()));
            Response::new(99).into()
        }

        fn on_log(&self, request: &Request, response: &ResponseHead, entry: &Entry) {
            assert_eq!(ResponseHead::current().remove_header("vary"), Err(HeaderError::WrongPhase));
            assert_eq!((response.status(), entry.status), (500, 500));
            assert_eq!(request.set_attribute("seen", "1"), Ok(()));
        }
    }

    #[test]
    fn each_phase_may_change_what_the_contract_says() {
        let mut exchange = Exchange::get("/a?b=1").with_upstreams(["blue"]);
        assert_eq!(exchange.on_request(&Prober).verdict, Verdict::Next);
        assert_eq!((exchange.target().as_str(), exchange.upstream()), ("/a?b=1&b=2%203", Some("blue")));
        assert_eq!(exchange.hash_key(), Some(b"tenant".as_slice()));
        assert_eq!(exchange.logged(), [(Level::Info, "at /a".to_owned())]);
        exchange.on_response(&Prober);
        assert_eq!((exchange.status(), exchange.response_header("vary")), (500, None));
        exchange.on_log(&Prober);
        assert_eq!(exchange.attribute("seen").unwrap(), "1");
    }

    struct Bodies;

    impl Plugin for Bodies {
        type Config = ();

        fn configure((): ()) -> Result<Self, String> {
            Ok(Self)
        }

        fn on_upstream_request(&self, request: &mut Request, attempt: &Attempt) -> Verdict {
            assert_eq!(request.append_header("x-attempt", attempt.number.to_string()), Ok(()));
            assert_eq!(request.set_method("PUT"), Err(TargetError::WrongPhase));
            Verdict::Next
        }

        fn on_request_body(&self, request: &Request, chunk: Chunk) -> BodyVerdict {
            let _ = request.set_attribute("last", if chunk.last { "yes" } else { "no" });
            BodyVerdict::replace(chunk.data.to_ascii_uppercase())
        }

        fn on_response_body(&self, _: &Request, response: &mut ResponseHead, chunk: Chunk) -> BodyVerdict {
            let _ = response.set_header("x-length", chunk.data.len().to_string());
            BodyVerdict::replace(chunk.data.to_ascii_uppercase())
        }

        fn on_error(&self, _: &Request, failure: &Failure) -> ErrorVerdict {
            if failure.can_retry { ErrorVerdict::Retry } else { Response::new(failure.status).into() }
        }
    }

    #[test]
    fn an_attempt_starts_from_the_request_as_it_was() {
        let mut exchange = Exchange::get("/a");
        for number in 1..=2 {
            exchange.on_upstream_request(&Bodies, &Attempt { number, ..Attempt::default() });
            assert_eq!(exchange.request_header_all("x-attempt"), [Bytes::from(number.to_string())]);
        }
    }

    #[test]
    fn a_buffered_body_is_replaced_and_its_head_waits() {
        let mut exchange =
            Exchange::new("POST", "/a").body("abc").with_response(Response::new(200).body("xyz"));
        exchange.on_request_body(&Bodies, Chunk::whole("abc"));
        assert_eq!(exchange.state.lend(Phase::Request, || Request::current().body()), Some("ABC".into()));
        exchange.on_response_body(&Bodies);
        assert_eq!(
            (exchange.response_body(), exchange.response_header("x-length")),
            (&b"XYZ"[..], Some("3".into()))
        );
    }

    #[test]
    fn a_streamed_body_has_no_head() {
        let mut exchange = Exchange::new("POST", "/a").with_response(Response::new(200).body("xyz"));
        assert_eq!(exchange.on_request_body(&Bodies, Chunk::part("ab")), BodyVerdict::replace("AB"));
        assert_eq!(exchange.attribute("last").unwrap(), "no");
        assert_eq!(exchange.on_response_chunk(&Bodies, Chunk::part("x")), BodyVerdict::replace("X"));
        assert_eq!(exchange.response_header("x-length"), None);
    }

    #[test]
    fn an_error_page_is_what_the_response_phase_sees() {
        let mut exchange = Exchange::get("/a");
        let failure = Failure { status: 502, can_retry: true, ..Failure::default() };
        assert_eq!(exchange.on_error(&Bodies, &failure), ErrorVerdict::Retry);
        exchange.on_error(&Bodies, &Failure { can_retry: false, ..failure });
        assert_eq!(exchange.status(), 502);
    }

    #[test]
    fn without_a_phase_there_is_no_request() {
        assert_eq!(Request::current().path(), "");
        assert_eq!(Request::current().set_header("x-a", "1"), Err(HeaderError::WrongPhase));
    }
}
