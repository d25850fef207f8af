//! The answer to who has no key. Must not know why: it never tells a missing key from a wrong one.

use edgewright_sdk::Response;

/// The value of `WWW-Authenticate` (RFC 9110, section 11.6.1). The realm needs no escapes.
pub(crate) fn challenge(realm: &str) -> String {
    format!("ApiKey realm=\"{realm}\"")
}

/// 401.
pub(crate) fn unauthorized(challenge: &str) -> Response {
    Response::new(401)
        .header("www-authenticate", challenge)
        .header("content-type", "text/plain; charset=utf-8")
        .body("a valid API key is required\n")
}
