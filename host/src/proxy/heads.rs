//! Pingora's heads as plugins see them. The heads are moved in for a phase and moved out after it (two
//! moves of some hundred bytes), so a plugin works on the very head that is sent on, and nothing is
//! borrowed over a call. Checks nothing: the imports hold the limits.

use std::cell::RefCell;

use http::uri::{Authority, PathAndQuery};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::plugin::exchange::{FieldName, Heads};

use super::forwarded;

/// What a worker keeps of these for its next requests: building placeholders is a tenth of what a plugin costs.
const MAX_SPARES: usize = 64;

thread_local! {
    #[allow(clippy::vec_box, reason = "they are handed on as boxes")]
    static SPARES: RefCell<Vec<Box<SessionHeads>>> = const { RefCell::new(Vec::new()) };
}

/// The heads of one request while a chain has them; placeholders in between.
pub(crate) struct SessionHeads {
    request: RequestHeader,
    response: ResponseHeader,
    /// Whether `response` is one, or a placeholder.
    has_response: bool,
    /// What a plugin made of the method. The session's own head keeps the client's: it decides how responses
    /// to the client are framed.
    method: Option<Method>,
}

impl SessionHeads {
    /// Holds nothing yet. `None` only if Pingora refuses `GET /` and status 200.
    pub(crate) fn empty() -> Option<Box<Self>> {
        if let Some(spare) = SPARES.with_borrow_mut(Vec::pop) {
            return Some(spare);
        }
        let request = RequestHeader::build_no_case(Method::GET, b"/", None).ok()?;
        let response = ResponseHeader::build_no_case(StatusCode::OK, None).ok()?;
        Some(Box::new(Self { request, response, has_response: false, method: None }))
    }

    /// At the end of a request: kept for another one if it holds nothing of this one, dropped otherwise.
    pub(crate) fn retire(mut self: Box<Self>) {
        self.method = None;
        if self.is_empty() {
            SPARES.with_borrow_mut(|spares| {
                if spares.len() < MAX_SPARES {
                    spares.push(self);
                }
            });
        }
    }

    fn is_empty(&self) -> bool {
        !self.has_response
            && self.request.headers.is_empty()
            && self.request.method == Method::GET
            && self.request.uri == "/"
            && self.response.headers.is_empty()
    }

    /// Moves the request's head in.
    pub(crate) fn lend_request(&mut self, head: &mut RequestHeader) {
        std::mem::swap(&mut self.request, head);
        self.exchange_methods();
    }

    /// Moves it out, with the client's method.
    pub(crate) fn take_back_request(&mut self, head: &mut RequestHeader) {
        self.exchange_methods();
        std::mem::swap(&mut self.request, head);
    }

    /// Moves the head in that an attempt sends. It has the method already that the upstream is sent.
    pub(crate) fn lend_attempt(&mut self, head: &mut RequestHeader) {
        std::mem::swap(&mut self.request, head);
    }

    /// Moves it out.
    pub(crate) fn take_back_attempt(&mut self, head: &mut RequestHeader) {
        std::mem::swap(&mut self.request, head);
    }

    /// The method that the upstream is sent, where it is not the client's.
    pub(crate) fn chosen_method(&self) -> Option<&Method> {
        self.method.as_ref()
    }

    /// Puts the plugin's method in the place of the client's, or back.
    fn exchange_methods(&mut self) {
        if let Some(other) = self.method.take() {
            self.method = Some(self.request.method.clone());
            self.request.set_method(other);
        }
    }

    /// Moves the response's head in.
    pub(crate) fn lend_response(&mut self, head: &mut ResponseHeader) {
        std::mem::swap(&mut self.response, head);
        self.has_response = true;
    }

    /// Moves it, or what took its place, out.
    pub(crate) fn take_back_response(&mut self, head: &mut ResponseHeader) {
        std::mem::swap(&mut self.response, head);
        self.has_response = false;
    }

    /// Shows what was sent.
    pub(crate) fn show_response(&mut self, head: ResponseHeader) {
        self.response = head;
        self.has_response = true;
    }

    fn response_mut(&mut self) -> Option<&mut ResponseHeader> {
        self.has_response.then_some(&mut self.response)
    }
}

impl Heads for SessionHeads {
    fn request(&self) -> &http::request::Parts {
        &self.request
    }

    fn set_authority(&mut self, authority: HeaderValue) {
        replace_host(&mut self.request, authority);
    }

    fn insert_request_header(&mut self, name: FieldName, value: HeaderValue) {
        // Only a name that is no token is refused, and a `FieldName` is one.
        let _ = self.request.insert_header(name.into_bytes(), value);
    }

    fn append_request_header(&mut self, name: FieldName, value: HeaderValue) {
        let _ = self.request.append_header(name.into_bytes(), value);
    }

    fn remove_request_header(&mut self, name: &HeaderName) {
        self.request.remove_header(name);
    }

    fn set_method(&mut self, method: Method) {
        // The first change keeps the client's; later ones replace what a plugin chose.
        self.method.get_or_insert_with(|| self.request.method.clone());
        self.request.set_method(method);
    }

    fn set_target(&mut self, target: PathAndQuery) {
        replace_target(&mut self.request, target);
    }

    fn response(&self) -> Option<&http::response::Parts> {
        self.has_response.then_some(&self.response)
    }

    fn set_status(&mut self, status: StatusCode) {
        if let Some(head) = self.response_mut() {
            let _ = head.set_status(status);
        }
    }

    fn insert_response_header(&mut self, name: FieldName, value: HeaderValue) {
        if let Some(head) = self.response_mut() {
            let _ = head.insert_header(name.into_bytes(), value);
        }
    }

    fn append_response_header(&mut self, name: FieldName, value: HeaderValue) {
        if let Some(head) = self.response_mut() {
            let _ = head.append_header(name.into_bytes(), value);
        }
    }

    fn remove_response_header(&mut self, name: &HeaderName) {
        if let Some(head) = self.response_mut() {
            head.remove_header(name);
        }
    }

    fn replace_response(&mut self, status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>) {
        if let Ok(head) = super::local_response::head(status, &headers) {
            self.show_response(head);
        }
    }
}

/// Puts another path and query under the request's scheme and authority.
pub(crate) fn replace_target(head: &mut RequestHeader, target: PathAndQuery) {
    let mut parts = head.uri.clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        head.set_uri(uri);
    }
}

/// Replaces what the upstream is sent as its host, and tells it what the client asked for.
pub(crate) fn replace_host(head: &mut RequestHeader, host: HeaderValue) {
    if let Some(asked) = head.headers.get(header::HOST).cloned() {
        forwarded::keep_host(head, &asked);
    }
    replace_authority(head, &host);
    let _ = head.insert_header(header::HOST, host);
}

/// HTTP/2 requests carry their authority in the URI, too: both must say the same.
fn replace_authority(head: &mut RequestHeader, value: &HeaderValue) {
    if head.uri.authority().is_none() {
        return;
    }
    let Ok(authority) = Authority::try_from(value.as_bytes()) else { return };
    let mut parts = head.uri.clone().into_parts();
    parts.authority = Some(authority);
    if let Ok(uri) = Uri::from_parts(parts) {
        head.set_uri(uri);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_nothing_of_a_request_serves_another() {
        let spares = || SPARES.with_borrow(Vec::len);
        let before = spares();
        let mut head = RequestHeader::build_no_case(Method::POST, b"/secret", None).unwrap();
        head.insert_header("x-key", "1").unwrap();

        let mut lent = SessionHeads::empty().unwrap();
        lent.lend_request(&mut head);
        lent.set_method(Method::PUT);
        lent.take_back_request(&mut head);
        assert_eq!(head.method, Method::POST);
        lent.retire();
        assert_eq!(spares(), before + 1);

        let mut kept = SessionHeads::empty().unwrap();
        assert_eq!(kept.chosen_method(), None);
        kept.lend_request(&mut head);
        kept.retire();
        assert_eq!(spares(), before, "a head that was never taken back goes with its request");
    }
}
