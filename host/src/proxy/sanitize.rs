//! The fields of a request that are not the client's to send, taken out before anything reads them: those
//! that the proxy owns, their look-alikes with `_` for `-`, and forwarding fields of untrusted peers.
//! Knows no routes: what the router sees is what is left.

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Version, header};

use crate::config::model::UnderscoreHeaders;

use super::forwarded;
use super::local_response::REQUEST_ID;
use super::survey::Survey;

/// Takes out what may not pass. `trust`: the peer's forwarding fields are believed.
pub(crate) fn request(
    head: &mut Parts,
    found: Survey,
    owned: &[HeaderName],
    underscores: UnderscoreHeaders,
    trust: bool,
) {
    if found.forwarding && !trust {
        forwarded::remove(&mut head.headers);
    }
    if found.underscore {
        let suspects: Vec<HeaderName> =
            head.headers.keys().filter(|name| name.as_str().contains('_')).cloned().collect();
        for name in suspects {
            let folded = name.as_str().replace('_', "-");
            let protected = owned.iter().any(|own| folds_to(own.as_str(), &folded))
                || folded == REQUEST_ID.as_str()
                || (!trust && forwarded::is_forwarding(&folded));
            if underscores == UnderscoreHeaders::Drop || protected {
                head.headers.remove(&name);
            }
        }
    }
    if found.owned {
        for name in owned {
            head.headers.remove(name);
        }
    }
    if head.version == Version::HTTP_2 {
        join_cookies(&mut head.headers);
    }
}

/// Whether an application that folds `_` and `-` reads the two names as one.
fn folds_to(own: &str, folded: &str) -> bool {
    own.len() == folded.len()
        && own.bytes().zip(folded.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'-'))
}

/// Browsers split cookies over several fields on HTTP/2; HTTP/1.1 applications read one line (RFC 9113,
/// section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(header::COOKIE).iter();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return };
    let mut joined = first.as_bytes().to_vec();
    for line in std::iter::once(second).chain(lines) {
        joined.extend_from_slice(b"; ");
        joined.extend_from_slice(line.as_bytes());
    }
    if let Ok(value) = HeaderValue::from_maybe_shared(bytes::Bytes::from(joined)) {
        headers.insert(header::COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(
        lines: &[(&'static str, &'static str)],
        underscores: UnderscoreHeaders,
        trust: bool,
    ) -> Vec<String> {
        let mut head = http::Request::new(()).into_parts().0;
        for (name, value) in lines {
            let name = HeaderName::try_from(*name).unwrap();
            head.headers.append(name, HeaderValue::from_static(value));
        }
        let owned = [HeaderName::from_static("x-user")];
        let found = Survey::of(&head.headers, &owned);
        request(&mut head, found, &owned, underscores, trust);
        let mut names: Vec<_> = head.headers.keys().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn owned_and_forwarding_fields_go_in_every_spelling() {
        use UnderscoreHeaders::{Drop, Keep};
        let check = |lines: &[(&'static str, &'static str)], underscores, trust, expected: &[&str]| {
            assert_eq!(left(lines, underscores, trust), expected, "{lines:?}");
        };
        check(&[("X-User", "a"), ("x-user", "b"), ("x-ok", "1")], Drop, false, &["x-ok"]);
        check(&[("X_User", "a"), ("x_other", "1")], Drop, false, &[]);
        check(&[("X_User", "a"), ("x_other", "1")], Keep, false, &["x_other"]);
        check(&[("forwarded", "a"), ("x-forwarded-prefix", "/a"), ("x-real-ip", "1")], Drop, false, &[]);
        check(&[("x_forwarded_for", "1"), ("x-forwarded_for", "1")], Keep, false, &[]);
        check(&[("x-forwarded-proto", "https")], Drop, true, &["x-forwarded-proto"]);
        check(&[("x-user", "a")], Drop, true, &[]);
    }

    #[test]
    fn cookie_crumbs_become_one_line_on_http_2_alone() {
        let mut head = http::Request::new(()).into_parts().0;
        for crumb in ["a=1", "b=2", "csrf=x%3D"] {
            head.headers.append(header::COOKIE, HeaderValue::from_static(crumb));
        }
        let mut h2 = head.clone();
        h2.version = Version::HTTP_2;
        request(&mut head, Survey::default(), &[], UnderscoreHeaders::Drop, false);
        request(&mut h2, Survey::default(), &[], UnderscoreHeaders::Drop, false);
        assert_eq!(head.headers.get_all("cookie").iter().count(), 3);
        let lines: Vec<_> = h2.headers.get_all("cookie").iter().collect();
        assert_eq!(lines, ["a=1; b=2; csrf=x%3D"]);
    }
}
