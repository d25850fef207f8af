//! Names: of headers, methods, routes, upstreams, plugins, cookies, parameters and attributes.

use http::{HeaderName, Method};

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;

/// Fields that frame a message or belong to the connection: the proxy itself makes them true.
const HOST_OWNED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A header to match on.
pub(super) fn header(text: &str) -> Result<HeaderName, Diagnostic> {
    if text.eq_ignore_ascii_case("host") {
        let message = "the host is not matched as a header";
        return Err(Diagnostic::error(codes::BAD_HEADER_NAME, message)
            .with_help("write `host = \"example.com\"` in `match`"));
    }
    header_name(text)
}

/// A header whose value is the key of a request.
pub(super) fn hash_header(text: &str) -> Result<HeaderName, Diagnostic> {
    header_name(text)
}

/// A header that clients can't set.
pub(super) fn owned_header(text: &str) -> Result<HeaderName, Diagnostic> {
    let name = header_name(text)?;
    if HOST_OWNED.contains(&name.as_str()) {
        let message = format!("`{text}` is handled by the proxy already");
        return Err(Diagnostic::error(codes::BAD_HEADER_NAME, message).with_help("leave it out"));
    }
    Ok(name)
}

/// A header that a route may change.
pub(super) fn edited_header(text: &str) -> Result<HeaderName, Diagnostic> {
    let name = header_name(text)?;
    if !HOST_OWNED.contains(&name.as_str()) {
        return Ok(name);
    }
    let help = match name.as_str() {
        "host" => "write `host = \"name\"` on the route",
        _ => "leave it out: the proxy keeps it true",
    };
    let message = format!("`{text}` can't be changed: it is the proxy's own");
    Err(Diagnostic::error(codes::BAD_HEADER_NAME, message).with_help(help))
}

fn header_name(text: &str) -> Result<HeaderName, Diagnostic> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| {
        Diagnostic::error(codes::BAD_HEADER_NAME, format!("`{text}` is not a header name"))
            .with_help("header names are letters, digits and `-`: `x-user`")
    })
}

/// Why a route for that method gets nothing, where that is so.
pub(super) fn refused_method(method: &Method) -> Option<Diagnostic> {
    (method == Method::TRACE || method == Method::CONNECT).then(|| {
        let message = format!("`{method}` never matches: the proxy answers it with 405");
        Diagnostic::warning(codes::IDLE_CONDITION, message).with_help("leave it out")
    })
}

/// Methods are case-sensitive, so `get` would never match.
pub(super) fn method(text: &str) -> Result<Method, Diagnostic> {
    const KNOWN: &[&str] = &["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];
    let refused = |message: &str, help: String| {
        Diagnostic::error(codes::BAD_METHOD, format!("`{text}` {message}")).with_help(help)
    };
    let upper = text.to_ascii_uppercase();
    if upper != text && KNOWN.contains(&upper.as_str()) {
        return Err(refused("never matches: methods are case-sensitive", format!("write `{upper}`")));
    }
    Method::from_bytes(text.as_bytes())
        .map_err(|_| refused("is not a method", "methods are a word such as `GET` or `POST`".to_owned()))
}

/// The name of a route or an upstream: it is a metric label, a word of the log, and what plugins choose by.
pub(super) fn name(text: &str) -> Result<(), Diagnostic> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BAD_NAME, format!("`{text}` can't be a name"))
        .with_help("names are 1 to 64 letters, digits, `.`, `_` and `-`"))
}

/// The name of a plugin: the stem of its file.
pub(crate) fn plugin_name(text: &str) -> Result<(), Diagnostic> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with('-') {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BAD_PLUGIN_NAME, format!("`{text}` can't be the name of a plugin"))
        .with_help("plugin names are 1 to 64 of `a` to `z`, digits and `-`: `api-key`"))
}

/// RFC 6265, section 4.1.1: a token.
pub(super) fn cookie(text: &str) -> Result<String, Diagnostic> {
    // Methods are tokens too, and keep their case.
    if Method::from_bytes(text.as_bytes()).is_ok() {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(codes::BAD_PARAMETER_NAME, format!("`{text}` is not the name of a cookie"))
        .with_help("cookie names are letters, digits and `-`, `_` and the like"))
}

/// The decoded name of a query parameter.
pub(super) fn parameter(text: &str) -> Result<String, Diagnostic> {
    if text.is_empty() {
        return Err(Diagnostic::error(codes::BAD_PARAMETER_NAME, "parameters have a name")
            .with_help("for example `query = { version = \"2\" }`"));
    }
    Ok(text.to_owned())
}

/// WIT `request.set-attribute` refuses every other key, so that it would never be in the log.
pub(super) fn attribute(text: &str) -> Result<String, Diagnostic> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(codes::BAD_ATTRIBUTE_KEY, format!("`{text}` can't be the key of an attribute"))
        .with_help("keys are 1 to 64 of `a` to `z`, digits, `.`, `_` and `-`: `api-key.owner`"))
}
