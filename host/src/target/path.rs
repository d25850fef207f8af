//! The path of a request in its one form. A gateway guards paths by their text while the origin decodes
//! and collapses them again, so every spelling that an origin could read as another path is brought to
//! that path or refused. Knows nothing else.

use std::borrow::Cow;

/// Why a path is refused, with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("the path does not start with `/`")]
    NoSlash,
    #[error("the path has a control character, a space, a `\\`, a `?` or a `#`")]
    Byte,
    #[error("the path has a `%` that is not followed by two hexadecimal digits")]
    Escape,
    #[error("the path has an encoded NUL")]
    Nul,
    #[error("the path climbs above its root")]
    AboveRoot,
    #[error("the path has a dot segment beside a `;` or an encoded slash or backslash")]
    HiddenDotSegment,
}

/// Brings a path (without its query) to its normal form:
///
/// - percent-encoded unreserved characters are decoded, other escapes get upper-case digits (RFC 3986,
///   sections 6.2.2.1 and 6.2.2.2); `%2F` and `%5C` stay escapes;
/// - bytes that no path may hold are percent-encoded;
/// - runs of `/` become one, then dot segments are removed (RFC 3986, section 5.2.4).
///
/// Doing it twice is the same as doing it once. Allocates only where something may have to be changed.
///
/// # Errors
/// The path has no reading that all origins share: see [`BadPath`].
pub fn normalize(raw: &[u8]) -> Result<Cow<'_, str>, BadPath> {
    if raw.first() != Some(&b'/') {
        return Err(BadPath::NoSlash);
    }
    if let (true, Ok(text)) = (is_plain(raw), std::str::from_utf8(raw)) {
        return Ok(Cow::Borrowed(text));
    }
    let path = without_dot_segments(&with_canonical_escapes(raw)?)?;
    match std::str::from_utf8(raw) {
        Ok(text) if text == path => Ok(Cow::Borrowed(text)),
        _ => Ok(Cow::Owned(path)),
    }
}

/// Appends `%XX`.
pub(super) fn push_escape(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| char::from(DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0'));
    out.push('%');
    out.push(digit(byte >> 4));
    out.push(digit(byte & 0xf));
}

/// What is to be done about a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Stays as it is, and can't be part of anything that changes.
    Keep,
    Slash,
    Percent,
    Encode,
    Refuse,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Keep; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            0..=b' ' | 0x7f | b'\\' | b'?' | b'#' => Class::Refuse,
            b'/' => Class::Slash,
            b'%' => Class::Percent,
            // Not in `pchar` (RFC 3986, section 3.3).
            b'"' | b'<' | b'>' | b'[' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80.. => Class::Encode,
            _ => Class::Keep,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Refuse)
}

/// Whether a path certainly is in its normal form: one scan.
fn is_plain(path: &[u8]) -> bool {
    let mut after_slash = false;
    for byte in path {
        match class(*byte) {
            Class::Slash if after_slash => return false,
            Class::Slash => after_slash = true,
            Class::Keep if after_slash && *byte == b'.' => return false,
            Class::Keep => after_slash = false,
            _ => return false,
        }
    }
    true
}

fn with_canonical_escapes(raw: &[u8]) -> Result<String, BadPath> {
    let mut out = String::with_capacity(raw.len() + 16);
    let mut bytes = raw.iter();
    while let Some(byte) = bytes.next() {
        match class(*byte) {
            Class::Keep | Class::Slash => out.push(char::from(*byte)),
            Class::Encode => push_escape(&mut out, *byte),
            Class::Refuse => return Err(BadPath::Byte),
            Class::Percent => {
                let high = bytes.next().and_then(|b| hex(*b)).ok_or(BadPath::Escape)?;
                let low = bytes.next().and_then(|b| hex(*b)).ok_or(BadPath::Escape)?;
                match high << 4 | low {
                    0 => return Err(BadPath::Nul),
                    decoded if is_unreserved(decoded) => out.push(char::from(decoded)),
                    decoded => push_escape(&mut out, decoded),
                }
            }
        }
    }
    Ok(out)
}

fn without_dot_segments(path: &str) -> Result<String, BadPath> {
    let mut out = String::with_capacity(path.len());
    let mut ends_with_slash = false;
    for segment in path.split('/') {
        refuse_hidden_dots(segment)?;
        ends_with_slash = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => {
                let parent = out.rfind('/').ok_or(BadPath::AboveRoot)?;
                out.truncate(parent);
            }
            _ => {
                out.push('/');
                out.push_str(segment);
            }
        }
    }
    if ends_with_slash || out.is_empty() {
        out.push('/');
    }
    Ok(out)
}

/// Origins differ in whether `%2F` and `%5C` separate segments and whether `;` ends one, so `..` beside
/// one of these climbs at some of them and not at others.
fn refuse_hidden_dots(segment: &str) -> Result<(), BadPath> {
    if matches!(segment, "." | "..") {
        return Ok(());
    }
    let mut rest = segment;
    loop {
        let end = ["%2F", "%5C"].iter().filter_map(|escape| rest.find(escape)).min();
        let part = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        let stem = part.split(';').next().unwrap_or_default();
        let stem = stem.split("%3B").next().unwrap_or_default();
        if matches!(stem, "." | "..") {
            return Err(BadPath::HiddenDotSegment);
        }
        match end.and_then(|end| rest.get(end + 3..)) {
            Some(next) => rest = next,
            None => return Ok(()),
        }
    }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: Result<&str, BadPath>) {
        let seen = normalize(raw.as_bytes());
        assert_eq!(seen.as_deref(), expected.as_ref().map(|s| &**s), "{raw}");
        if let Ok(path) = seen {
            assert_eq!(normalize(path.as_bytes()).as_deref(), Ok(&*path), "{raw}, the second time");
        }
    }

    #[test]
    fn escapes() {
        check("/%61dmin", Ok("/admin"));
        check("/%7Eu/%2D%5f", Ok("/~u/-_"));
        check("/a%2fb%5cc%3a", Ok("/a%2Fb%5Cc%3A"));
        check("/%252e%252e/x", Ok("/%252e%252e/x"));
        check("/ü", Ok("/%C3%BC"));
        check("/%c3%bc", Ok("/%C3%BC"));
        check("/a\"<>^`{|}[]b", Ok("/a%22%3C%3E%5E%60%7B%7C%7D%5B%5Db"));
        check("/!$&'()*+,;=:@", Ok("/!$&'()*+,;=:@"));
        check("/%", Err(BadPath::Escape));
        check("/%4", Err(BadPath::Escape));
        check("/%4g", Err(BadPath::Escape));
        check("/%+1", Err(BadPath::Escape));
        check("/admin%00", Err(BadPath::Nul));
        check("/a%0d%0ab", Ok("/a%0D%0Ab"));
    }

    #[test]
    fn dot_segments_of_rfc_3986_section_5_2_4() {
        check("/a/b/c/./../../g", Ok("/a/g"));
        check("/a/b/..", Ok("/a/"));
        check("/a/b/.", Ok("/a/b/"));
        check("/a/..", Ok("/"));
        check("/.", Ok("/"));
        check("/./admin/u", Ok("/admin/u"));
        check("/public/../admin/u", Ok("/admin/u"));
        check("/public/%2e%2e/admin/u", Ok("/admin/u"));
        check("/public/.%2E/admin/u", Ok("/admin/u"));
        check("/a/.../b", Ok("/a/.../b"));
        check("/.well-known/acme", Ok("/.well-known/acme"));
        check("/a/..b/.c", Ok("/a/..b/.c"));
        check("/api%2e%2e/admin", Ok("/api../admin"));
        check("/..", Err(BadPath::AboveRoot));
        check("/../a", Err(BadPath::AboveRoot));
        check("/a/../../b", Err(BadPath::AboveRoot));
        check("/a/%2e%2e/%2e%2e/b", Err(BadPath::AboveRoot));
    }

    #[test]
    fn runs_of_slashes() {
        check("//admin/u", Ok("/admin/u"));
        check("/a//", Ok("/a/"));
        check("//", Ok("/"));
        check("/a///b", Ok("/a/b"));
        check("/a//../b", Ok("/b"));
        check("/a/.//b", Ok("/a/b"));
    }

    #[test]
    fn dots_that_some_origins_would_climb() {
        for raw in [
            "/public/..%2fadmin/u",
            "/public/%2e%2e%2fadmin",
            "/public/..%5cadmin",
            "/api%2f..%2fadmin",
            "/api%2f..",
            "/api%5C.",
            "/a/..;/admin",
            "/a/..;x=1/admin",
            "/a/.;/b",
            "/a/..%3b/b",
            "/a%2f..;x%2fb",
        ] {
            check(raw, Err(BadPath::HiddenDotSegment));
        }
        check("/api..;/admin", Ok("/api..;/admin"));
        check("/admin;x/u", Ok("/admin;x/u"));
        check("/a;..", Ok("/a;.."));
        check("/a%2Fb", Ok("/a%2Fb"));
        check("/a..%2Fb", Ok("/a..%2Fb"));
    }

    #[test]
    fn what_is_no_path() {
        for raw in ["", "a", "*", "%2f", "http://a/"] {
            check(raw, Err(BadPath::NoSlash));
        }
        for raw in ["/api\\..\\admin", "/a b", "/a\tb", "/a\r\nb", "/a\0", "/a\x7f", "/a?b", "/a#b"] {
            check(raw, Err(BadPath::Byte));
        }
    }

    #[test]
    fn a_normal_path_is_borrowed() {
        for raw in ["/", "/v1/users/7", "/a.b/c.d", "/.well-known/x", "/a%2Fb"] {
            assert!(matches!(normalize(raw.as_bytes()), Ok(Cow::Borrowed(_))), "{raw}");
        }
    }

    /// Every short path over the bytes that matter: what comes out is normal, and stays so.
    #[test]
    fn twice_is_once() {
        let pieces = ["/", ".", "%2e", "%2F", "%5c", ";", "a", "%61", "%", "|", "\u{fc}", "%3B"];
        let mut paths = vec![String::from("/")];
        for _ in 0..4 {
            let longer = paths.iter().flat_map(|path| pieces.map(|piece| format!("{path}{piece}")));
            paths = longer.collect();
            for path in &paths {
                let Ok(once) = normalize(path.as_bytes()) else { continue };
                assert_eq!(normalize(once.as_bytes()).as_deref(), Ok(&*once), "{path}");
                assert!(!once.split('/').any(|segment| matches!(segment, "." | "..")), "{path}");
                assert!(!once.contains("//"), "{path}");
            }
        }
    }
}
