//! One request on its way through a plugin, as a test writes it. Must not know the rules: those are the
//! double's.

mod phases;

use super::state::{Answer, State};
use crate::log::Level;
use crate::{Bytes, Response, TlsInfo, Verdict};

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
mod tests;
