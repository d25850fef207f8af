//! Pingora's heads as those of the `http` crate: to plugins, and to whatever changes them. They are moved out and back in
//! (two moves of some hundred bytes), so a plugin works on the very head that is sent on, and nothing is borrowed over
//! a call. Pingora's way to change a field spells its name twice, for the letters' case; here that is let go, and names
//! go on in lower case, as they do over HTTP/2. Checks nothing: the imports hold the limits.

use http::uri::{Authority, PathAndQuery};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header, request, response};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::plugin::exchange::Heads;

use super::forwarded;

/// The heads of one request while a chain has them; placeholders in between.
pub(crate) struct SessionHeads {
    request: request::Parts,
    response: response::Parts,
    /// Whether `response` is one, or a placeholder.
    has_response: bool,
    /// What a plugin made of the method. The session's own head keeps the client's: it decides how responses
    /// to the client are framed.
    method: Option<Method>,
    /// What `http` has no place for.
    rest: Rest,
    reason: Option<Box<str>>,
}

/// What Pingora knows of a request beside its parts.
#[derive(Debug, Default, Clone, Copy)]
struct Rest {
    /// A request over HTTP/2 without a body does not end with its head.
    ends_later: bool,
}

impl SessionHeads {
    /// Holds nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            request: no_request(),
            response: no_response(),
            has_response: false,
            method: None,
            rest: Rest::default(),
            reason: None,
        }
    }

    /// Moves the request's head in.
    pub(crate) fn lend_request(&mut self, head: &mut RequestHeader) {
        (self.request, self.rest) = take_request(head);
        self.exchange_methods();
    }

    /// Moves it out, with the client's method.
    pub(crate) fn take_back_request(&mut self, head: &mut RequestHeader) {
        self.exchange_methods();
        self.take_back_attempt(head);
    }

    /// Puts another request in the place of the one there is, which it gives back.
    pub(crate) fn exchange_request(&mut self, request: request::Parts) -> request::Parts {
        std::mem::replace(&mut self.request, request)
    }

    /// Moves the head in that an attempt sends. It has the method already that the upstream is sent.
    pub(crate) fn lend_attempt(&mut self, head: &mut RequestHeader) {
        (self.request, self.rest) = take_request(head);
    }

    /// Moves it out.
    pub(crate) fn take_back_attempt(&mut self, head: &mut RequestHeader) {
        *head = as_request(std::mem::replace(&mut self.request, no_request()), self.rest);
    }

    /// The method that the upstream is sent, where it is not the client's.
    pub(crate) fn chosen_method(&self) -> Option<&Method> {
        self.method.as_ref()
    }

    /// Puts the plugin's method in the place of the client's, or back.
    fn exchange_methods(&mut self) {
        if let Some(other) = &mut self.method {
            std::mem::swap(&mut self.request.method, other);
        }
    }

    /// Moves the response's head in.
    pub(crate) fn lend_response(&mut self, head: &mut ResponseHeader) {
        // What an upstream says of the status in words of its own goes on, too.
        self.reason = head
            .get_reason_phrase()
            .filter(|reason| Some(*reason) != head.status.canonical_reason())
            .map(Box::from);
        let lent = std::mem::replace(head, ResponseHeader::from(no_response()));
        self.show_response(lent.into());
    }

    /// Moves it, or what took its place, out.
    pub(crate) fn take_back_response(&mut self, head: &mut ResponseHeader) {
        let parts = std::mem::replace(&mut self.response, no_response());
        *head = ResponseHeader::from(parts);
        if let Some(reason) = self.reason.take() {
            let _ = head.set_reason_phrase(Some(&*reason));
        }
        self.has_response = false;
    }

    /// Shows what was sent.
    pub(crate) fn show_response(&mut self, parts: response::Parts) {
        self.response = parts;
        self.has_response = true;
    }

    fn response_mut(&mut self) -> Option<&mut response::Parts> {
        self.has_response.then_some(&mut self.response)
    }
}

fn no_request() -> request::Parts {
    http::Request::new(()).into_parts().0
}

fn no_response() -> response::Parts {
    http::Response::new(()).into_parts().0
}

/// The target is the one of its URI: [`super::admission`] lets no other pass.
fn take_request(head: &mut RequestHeader) -> (request::Parts, Rest) {
    let rest = Rest { ends_later: head.send_end_stream() == Some(false) };
    let taken = std::mem::replace(head, RequestHeader::from(no_request()));
    (taken.into(), rest)
}

fn as_request(parts: request::Parts, rest: Rest) -> RequestHeader {
    let mut head = RequestHeader::from(parts);
    if rest.ends_later {
        head.set_send_end_stream(false);
    }
    head
}

/// Changes a request's head, whose target must be the one of its URI.
pub(crate) fn change<R>(head: &mut RequestHeader, change: impl FnOnce(&mut request::Parts) -> R) -> R {
    let (mut parts, rest) = take_request(head);
    let result = change(&mut parts);
    *head = as_request(parts, rest);
    result
}

impl Heads for SessionHeads {
    fn request(&self) -> &http::request::Parts {
        &self.request
    }

    fn set_authority(&mut self, authority: HeaderValue) {
        replace_host(&mut self.request, authority);
    }

    fn insert_request_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.request.headers.insert(name, value);
    }

    fn append_request_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.request.headers.append(name, value);
    }

    fn remove_request_header(&mut self, name: &HeaderName) {
        self.request.headers.remove(name);
    }

    fn set_method(&mut self, method: Method) {
        // The first change keeps the client's; later ones replace what a plugin chose.
        let before = std::mem::replace(&mut self.request.method, method);
        self.method.get_or_insert(before);
    }

    fn set_target(&mut self, target: PathAndQuery) {
        self.request.uri = with_target(&self.request.uri, target);
    }

    fn response(&self) -> Option<&http::response::Parts> {
        self.has_response.then_some(&self.response)
    }

    fn set_status(&mut self, status: StatusCode) {
        if let Some(head) = self.response_mut() {
            head.status = status;
        }
    }

    fn insert_response_header(&mut self, name: HeaderName, value: HeaderValue) {
        if let Some(head) = self.response_mut() {
            head.headers.insert(name, value);
        }
    }

    fn append_response_header(&mut self, name: HeaderName, value: HeaderValue) {
        if let Some(head) = self.response_mut() {
            head.headers.append(name, value);
        }
    }

    fn remove_response_header(&mut self, name: &HeaderName) {
        if let Some(head) = self.response_mut() {
            head.headers.remove(name);
        }
    }

    fn replace_response(&mut self, status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>) {
        let mut parts = no_response();
        parts.status = status;
        parts.headers.reserve(headers.len());
        for (name, value) in headers {
            parts.headers.append(name, value);
        }
        self.reason = None;
        self.show_response(parts);
    }
}

/// Another path and query under the scheme and authority of a URI.
pub(crate) fn with_target(uri: &Uri, target: PathAndQuery) -> Uri {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target);
    // A path that begins with `/`, and `*` alone, go with any authority.
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

/// Replaces what the upstream is sent as its host, and tells it what the client asked for.
pub(crate) fn replace_host(head: &mut request::Parts, host: HeaderValue) {
    if let Some(asked) = head.headers.get(header::HOST).cloned() {
        forwarded::keep_host(&mut head.headers, asked);
    }
    replace_authority(head, &host);
    head.headers.insert(header::HOST, host);
}

/// HTTP/2 requests carry their authority in the URI, too: both must say the same.
fn replace_authority(head: &mut request::Parts, value: &HeaderValue) {
    if head.uri.authority().is_none() {
        return;
    }
    let Ok(authority) = Authority::try_from(value.as_bytes()) else { return };
    let mut parts = head.uri.clone().into_parts();
    parts.authority = Some(authority);
    if let Ok(uri) = Uri::from_parts(parts) {
        head.uri = uri;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_with_the_clients_method_and_without_the_upstreams() {
        let mut head = RequestHeader::build(Method::POST, b"/a?b", None).unwrap();
        head.set_version(http::Version::HTTP_2);
        head.set_send_end_stream(false);
        head.insert_header("X-Key", "1").unwrap();

        let mut lent = SessionHeads::empty();
        lent.lend_request(&mut head);
        lent.set_method(Method::PUT);
        lent.set_method(Method::PATCH);
        lent.take_back_request(&mut head);
        assert_eq!((&head.method, head.raw_path()), (&Method::POST, &b"/a?b"[..]));
        assert_eq!(
            (&head.headers["x-key"], head.send_end_stream()),
            ("1".parse().as_ref().unwrap(), Some(false))
        );
        assert_eq!(lent.chosen_method(), Some(&Method::PATCH));
        lent.lend_request(&mut head);
        assert_eq!(lent.request().method, Method::PATCH);
    }

    #[test]
    fn an_upstreams_own_words_for_a_status_stay_with_its_response() {
        let lent_and_back = |head: &mut ResponseHeader, change: fn(&mut SessionHeads)| {
            let mut lent = SessionHeads::empty();
            lent.lend_response(head);
            change(&mut lent);
            lent.take_back_response(head);
            head.get_reason_phrase().map(str::to_owned)
        };
        let mut head = ResponseHeader::build(200, None).unwrap();
        assert_eq!(lent_and_back(&mut head, |_| {}).as_deref(), Some("OK"));
        assert_eq!(
            lent_and_back(&mut head, |lent| lent.set_status(StatusCode::GONE)).as_deref(),
            Some("Gone")
        );
        head.set_reason_phrase(Some("Away")).unwrap();
        assert_eq!(lent_and_back(&mut head, |_| {}).as_deref(), Some("Away"));
        let replace = |lent: &mut SessionHeads| lent.replace_response(StatusCode::OK, Vec::new());
        assert_eq!(lent_and_back(&mut head, replace).as_deref(), Some("OK"));
    }
}
