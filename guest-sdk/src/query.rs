//! Queries: read decoded, changed without touching the bytes of the parameters that stay. Must not know
//! where a query is from.

/// A query that is being changed. Parameters are separated by `&`; an empty one is dropped when something is
/// added, so that no stray `&` is ever made.
///
/// ```
/// use edgewright_sdk::query::Query;
///
/// let mut query = Query::from(Some("color=red&x=%26".to_owned()));
/// query.append("brand", "a&b");
/// query.remove("color");
/// assert_eq!(query.as_deref(), Some("x=%26&brand=a%26b"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Option<String>);

impl From<Option<String>> for Query {
    fn from(query: Option<String>) -> Self {
        Self(query)
    }
}

impl Query {
    /// The query without its `?`; `None` where there is none. What `Request::set_query` takes.
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Adds a parameter at the end, percent-encoded.
    pub fn append(&mut self, name: &str, value: &str) {
        self.append_encoded(&format!("{}={}", encode(name), encode(value)));
    }

    /// Adds parameters at the end that are percent-encoded already.
    pub fn append_encoded(&mut self, parameters: &str) {
        let query = self.0.get_or_insert_default();
        query.truncate(query.trim_end_matches('&').len());
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(parameters);
    }

    /// Removes every parameter of that name, however it is encoded. The others keep their bytes; a query of
    /// which nothing is left is removed.
    pub fn remove(&mut self, name: &str) {
        let Some(query) = &self.0 else { return };
        let named = |parameter: &&str| decode(name_and_value(parameter).0) == name;
        if query.split('&').any(|parameter| named(&parameter)) {
            let kept: Vec<_> = query.split('&').filter(|parameter| !named(parameter)).collect();
            self.0 = Some(kept.join("&")).filter(|query| !query.is_empty());
        }
    }

    /// Replaces every parameter of that name by one at the end, percent-encoded.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.append(name, value);
    }
}

/// The parameters of a query in order, decoded: `%XX` and `+` (a space) in names and values, U+FFFD where
/// that is not UTF-8. A parameter without `=` has an empty value.
pub fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    query.split('&').filter(|parameter| !parameter.is_empty()).map(|parameter| {
        let (name, value) = name_and_value(parameter);
        (decode(name), decode(value))
    })
}

/// Percent-encodes all but the unreserved characters of RFC 3986, section 2.3.
pub fn encode(text: &str) -> String {
    encoded(text, Triplets::Escape)
}

/// Percent-encodes what is not allowed inside one query parameter of a text that may be encoded already, a
/// piece of a path for instance: its `%XX` stay, and so does what is unreserved.
///
/// ```
/// assert_eq!(edgewright_sdk::query::encode_piece("a%20b&c=100%"), "a%20b%26c%3D100%25");
/// ```
pub fn encode_piece(text: &str) -> String {
    encoded(text, Triplets::Keep)
}

#[derive(Clone, Copy, PartialEq)]
enum Triplets {
    Escape,
    Keep,
}

fn encoded(text: &str, triplets: Triplets) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let kept = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || (triplets == Triplets::Keep && byte == b'%' && hex_pair(tail).is_some());
        if kept {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
        }
        rest = tail;
    }
    out
}

fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, mut tail)) = rest.split_first() {
        let decoded = match byte {
            b'+' => b' ',
            b'%' => match hex_pair(tail) {
                Some(decoded) => {
                    tail = tail.get(2..).unwrap_or_default();
                    decoded
                }
                None => byte,
            },
            _ => byte,
        };
        out.push(decoded);
        rest = tail;
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn hex_pair(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match text {
        [high, low, ..] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

fn name_and_value(parameter: &str) -> (&str, &str) {
    parameter.split_once('=').unwrap_or((parameter, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_joins_the_clients_query() {
        fn check(query: Option<&str>, expected: &str) {
            let mut query = Query::from(query.map(str::to_owned));
            query.append("brand", "acme");
            assert_eq!(query.as_deref(), Some(expected));
        }
        check(None, "brand=acme");
        check(Some(""), "brand=acme");
        check(Some("color=red&x=%26"), "color=red&x=%26&brand=acme");
        check(Some("a&"), "a&brand=acme");
        check(Some("&&"), "brand=acme");
        check(Some("brand=b"), "brand=b&brand=acme");
        check(Some("q=why?"), "q=why?&brand=acme");
    }

    #[test]
    fn a_parameter_is_removed_by_its_decoded_name() {
        fn check(query: &str, expected: Option<&str>) {
            let mut query = Query::from(Some(query.to_owned()));
            query.remove("a b");
            assert_eq!(query.as_deref(), expected);
        }
        check("a%20b=1", None);
        check("a+b=1&c=%2f&a%20b", Some("c=%2f"));
        check("c&&d=1&", Some("c&&d=1&"));
        check("", Some(""));
    }

    #[test]
    fn a_set_parameter_is_there_once() {
        let mut query = Query::from(Some("a=1&b=2&a=3".to_owned()));
        query.set("a", "ä=/ +");
        assert_eq!(query.as_deref(), Some("b=2&a=%C3%A4%3D%2F%20%2B"));
    }

    #[test]
    fn pairs_are_decoded() {
        fn check(query: &str, expected: &[(&str, &str)]) {
            let pairs: Vec<_> = pairs(query).collect();
            let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(pairs, expected, "{query}");
        }
        check("", &[]);
        check("a=1&b=2", &[("a", "1"), ("b", "2")]);
        check("a&&b=&=c", &[("a", ""), ("b", ""), ("", "c")]);
        check("a=b=c", &[("a", "b=c")]);
        check("%61+b=%2B%ff", &[("a b", "+\u{fffd}")]);
        check("a=%&b=%4&c=%zz", &[("a", "%"), ("b", "%4"), ("c", "%zz")]);
    }
}
