//! Fields that are about one connection and stop at the proxy (RFC 9110, section 7.6.1), and the fields
//! that a `Connection` line nominates. On requests this runs before any plugin, so what a plugin sets can't
//! be nominated away by the client; Pingora's own strip, which comes later, then finds nothing.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Version, header};
use pingora::http::{RequestHeader, ResponseHeader};

use super::survey::Survey;

/// Always removed, whatever `Connection` says. `transfer-encoding` is framing: Pingora reads and writes it.
const FIELDS: [HeaderName; 4] = [
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::TE,
];

/// A `Connection` line with more names than this is refused: no client needs it, and each name costs.
const MAX_NOMINATED: usize = 10;

/// A `Connection` line that tries to take out what the proxy or the application relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadConnection {
    #[error("`connection` names more than {MAX_NOMINATED} fields")]
    TooMany,
    #[error("`connection` names a field that is not the client's to remove")]
    Protected,
}

/// Takes hop-by-hop fields out of a request, as far as `found` says that there are any. An upgrade request keeps `connection: upgrade` and `upgrade`.
///
/// # Errors
/// A nominated field is one that proxies rely on, or there are too many.
pub(crate) fn strip_request(head: &mut Parts, found: Survey) -> Result<(), BadConnection> {
    let upgrade = found.upgrade && is_upgrade(head);
    if found.connection {
        let nominated: Vec<HeaderName> = nominated(&head.headers).take(MAX_NOMINATED + 1).collect();
        if nominated.len() > MAX_NOMINATED {
            return Err(BadConnection::TooMany);
        }
        if nominated.iter().any(is_protected) {
            return Err(BadConnection::Protected);
        }
        for name in &nominated {
            head.headers.remove(name);
        }
        head.headers.remove(&header::CONNECTION);
    }
    if found.upgrade && !upgrade {
        head.headers.remove(&header::UPGRADE);
    }
    if upgrade {
        head.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    if !found.hop_by_hop {
        return Ok(());
    }
    // `te: trailers` is the one value that means something to an HTTP/2 peer (gRPC).
    let trailers = head.headers.get(header::TE).is_some_and(|te| te == "trailers");
    for name in &FIELDS {
        if !(trailers && *name == header::TE) && head.headers.contains_key(name) {
            head.headers.remove(name);
        }
    }
    Ok(())
}

/// Has a request ask for no other protocol: it carries a body that is looked at, and what follows a switch is not.
pub(crate) fn strip_upgrade(head: &mut RequestHeader) {
    if head.remove_header(&header::UPGRADE).is_some() {
        head.remove_header(&header::CONNECTION);
    }
}

/// Takes hop-by-hop fields out of a response, as far as `found` says that there are any. A switch of protocols (101) keeps
/// what it is made of.
pub(crate) fn strip_response(head: &mut ResponseHeader, found: Survey) {
    let switching = head.status == http::StatusCode::SWITCHING_PROTOCOLS;
    if found.connection {
        // An upstream may nominate what it likes: it is believed, but for what frames the message.
        let nominated: Vec<HeaderName> =
            nominated(&head.headers).filter(|name| !is_protected(name)).collect();
        for name in &nominated {
            head.remove_header(name);
        }
        if !switching {
            head.remove_header(&header::CONNECTION);
        }
    }
    if found.hop_by_hop {
        for name in FIELDS.iter().filter(|name| **name != header::PROXY_AUTHENTICATE) {
            head.remove_header(name);
        }
    }
    if found.upgrade && !switching {
        head.remove_header(&header::UPGRADE);
    }
}

/// Whether the client asks for another protocol on this connection (RFC 9110, section 7.8): HTTP/1.1 only, and not
/// with a body, whose time limits are not those of a tunnel.
fn is_upgrade(head: &Parts) -> bool {
    let length = head.headers.get(header::CONTENT_LENGTH);
    head.version == Version::HTTP_11
        && length.is_none_or(|length| length == "0")
        && !head.headers.contains_key(header::TRANSFER_ENCODING)
        && head.headers.contains_key(header::UPGRADE)
        && tokens(&head.headers).any(|token| token.eq_ignore_ascii_case(b"upgrade"))
}

/// The tokens of all `Connection` lines.
fn tokens(headers: &http::HeaderMap) -> impl Iterator<Item = &[u8]> {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|token| !token.is_empty())
}

/// The fields that `Connection` nominates, connection options themselves left out.
fn nominated(headers: &http::HeaderMap) -> impl Iterator<Item = HeaderName> {
    const OPTIONS: [&[u8]; 3] = [b"close", b"keep-alive", b"upgrade"];
    tokens(headers)
        .filter(|token| !OPTIONS.iter().any(|option| token.eq_ignore_ascii_case(option)))
        .filter_map(|token| HeaderName::from_bytes(token).ok())
}

/// Fields of the message itself, of routing and of forwarding.
fn is_protected(name: &HeaderName) -> bool {
    matches!(
        *name,
        header::HOST
            | header::CONTENT_LENGTH
            | header::TRANSFER_ENCODING
            | header::CONTENT_TYPE
            | header::AUTHORIZATION
            | header::COOKIE
            | header::FORWARDED
            | header::VIA
    ) || name.as_str().starts_with("x-forwarded-")
        || name.as_str() == "x-real-ip"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lines: &[(&'static str, &'static str)]) -> Parts {
        let mut head = http::Request::new(()).into_parts().0;
        for (name, value) in lines {
            let name = HeaderName::try_from(*name).unwrap();
            head.headers.append(name, HeaderValue::from_static(value));
        }
        head
    }

    #[test]
    fn requests_keep_end_to_end_fields_only() {
        let check = |lines: &[(&'static str, &'static str)], expected: Result<&[&str], BadConnection>| {
            let mut head = request(lines);
            let found = Survey::of(&head.headers, &[]);
            let left = strip_request(&mut head, found).map(|()| {
                let mut names: Vec<_> = head.headers.keys().map(|name| name.as_str().to_owned()).collect();
                names.sort();
                names
            });
            assert_eq!(
                left,
                expected.map(|names| names.iter().map(|s| (*s).to_owned()).collect()),
                "{lines:?}"
            );
        };
        check(&[("x-a", "1"), ("connection", "close")], Ok(&["x-a"]));
        check(&[("connection", "x-a, Keep-Alive"), ("x-a", "1"), ("x-b", "1")], Ok(&["x-b"]));
        check(&[("keep-alive", "1"), ("proxy-connection", "x"), ("te", "gzip")], Ok(&[]));
        check(&[("te", "trailers")], Ok(&["te"]));
        check(&[("upgrade", "h2c")], Ok(&[]));
        check(&[("connection", "Upgrade"), ("upgrade", "websocket")], Ok(&["connection", "upgrade"]));
        let upgrade = [("connection", "upgrade"), ("upgrade", "websocket")];
        check(&[upgrade[0], upgrade[1], ("content-length", "1")], Ok(&["content-length"]));
        check(&[upgrade[0], upgrade[1], ("transfer-encoding", "chunked")], Ok(&["transfer-encoding"]));
        check(&[("connection", "host")], Err(BadConnection::Protected));
        check(&[("connection", "X-Forwarded-For")], Err(BadConnection::Protected));
        check(&[("connection", "a,b,c,d,e,f,g,h,i,j,k")], Err(BadConnection::TooMany));
    }

    #[test]
    fn responses_lose_what_the_upstream_says_of_its_connection() {
        let mut head = ResponseHeader::build(200, None).unwrap();
        for (name, value) in [
            ("connection", "X-Foo, keep-alive"),
            ("x-foo", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("upgrade", "h2c"),
            ("x-bar", "2"),
        ] {
            head.append_header(name, value).unwrap();
        }
        let found = Survey::of_response(&head.headers);
        strip_response(&mut head, found);
        let names: Vec<_> = head.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-bar"]);
    }
}
