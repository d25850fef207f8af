//! What a route asks of a request beyond host and path. Knows no hosts, paths and other routes.

use std::fmt;

use http::{HeaderName, Method, header};

use crate::config::model::{Match, ValuePattern};
use crate::cookie;

use super::{Request, query};

/// All that must hold.
#[derive(Debug)]
pub(super) struct Predicates {
    methods: Vec<Method>,
    headers: Vec<(HeaderName, ValuePattern)>,
    query: Vec<(String, ValuePattern)>,
    cookies: Vec<(String, ValuePattern)>,
}

/// The first predicate that did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmet<'t> {
    Method(&'t [Method]),
    Header(&'t HeaderName),
    Query(&'t str),
    Cookie(&'t str),
}

impl Predicates {
    pub(super) fn of(matcher: &Match) -> Self {
        Self {
            methods: matcher.methods.clone(),
            headers: matcher.headers.clone(),
            query: matcher.query.clone(),
            cookies: matcher.cookies.clone(),
        }
    }

    /// How many there are: routes with more are tried first. A list of methods is one.
    pub(super) fn count(&self) -> usize {
        usize::from(!self.methods.is_empty()) + self.headers.len() + self.query.len() + self.cookies.len()
    }

    /// Whether all hold.
    ///
    /// Any line of a header and any parameter of a name may be the one that fits; of cookies only the
    /// first of that name counts, since that is the one an application reads.
    ///
    /// # Errors
    /// The first one that does not hold.
    pub(super) fn check(&self, request: &Request<'_>) -> Result<(), Unmet<'_>> {
        if !self.methods.is_empty() && !self.methods.contains(request.method) {
            return Err(Unmet::Method(&self.methods));
        }
        for (name, pattern) in &self.headers {
            let mut lines = request.headers.get_all(name).iter();
            if !lines.any(|line| fits(pattern, line.as_bytes())) {
                return Err(Unmet::Header(name));
            }
        }
        for (name, pattern) in &self.query {
            let mut parameters = request.query.into_iter().flat_map(query::parameters);
            if !parameters.any(|(key, value)| *key == *name.as_bytes() && fits(pattern, &value)) {
                return Err(Unmet::Query(name));
            }
        }
        for (name, pattern) in &self.cookies {
            let lines = request.headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
            if !cookie::value(lines, name.as_bytes()).is_some_and(|value| fits(pattern, value)) {
                return Err(Unmet::Cookie(name));
            }
        }
        Ok(())
    }
}

fn fits(pattern: &ValuePattern, value: &[u8]) -> bool {
    match pattern {
        ValuePattern::Present => true,
        ValuePattern::Exact(text) => value == text.as_bytes(),
        ValuePattern::Prefix(text) => value.starts_with(text.as_bytes()),
        ValuePattern::Regex(regex) => regex.is_match(value),
    }
}

impl fmt::Display for Unmet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Method(methods) => {
                f.write_str("the method is not ")?;
                for (index, method) in methods.iter().enumerate() {
                    write!(f, "{}`{method}`", if index == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
            Unmet::Header(name) => write!(f, "the header `{name}` does not match"),
            Unmet::Query(name) => write!(f, "the query parameter `{name}` does not match"),
            Unmet::Cookie(name) => write!(f, "the cookie `{name}` does not match"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn check(matcher: &Match, expected: Result<(), &str>) {
        let mut headers = HeaderMap::new();
        headers.append("x-tier", HeaderValue::from_static("free"));
        headers.append("x-tier", HeaderValue::from_bytes(b"gold\xff").unwrap());
        headers.append("cookie", HeaderValue::from_static("a=1; variant=a"));
        headers.append("cookie", HeaderValue::from_static("variant=b"));
        let request = Request {
            host: "a.test",
            path: "/",
            query: Some("beta=0&beta=1&q=a+b"),
            method: &Method::GET,
            headers: &headers,
        };
        let predicates = Predicates::of(matcher);
        let seen = predicates.check(&request).map_err(|unmet| unmet.to_string());
        assert_eq!(seen, expected.map_err(str::to_owned), "{matcher:?}");
    }

    fn regex(text: &str) -> ValuePattern {
        ValuePattern::Regex(Arc::new(regex::bytes::Regex::new(text).unwrap()))
    }

    #[test]
    fn methods() {
        check(&Match::default(), Ok(()));
        check(&Match { methods: vec![Method::POST, Method::GET], ..Match::default() }, Ok(()));
        check(
            &Match { methods: vec![Method::POST, Method::PUT], ..Match::default() },
            Err("the method is not `POST` or `PUT`"),
        );
    }

    #[test]
    fn headers() {
        let header = |name, pattern| Match {
            headers: vec![(HeaderName::from_static(name), pattern)],
            ..Match::default()
        };
        check(&header("x-tier", ValuePattern::Present), Ok(()));
        check(&header("x-tier", ValuePattern::Exact("free".into())), Ok(()));
        check(&header("x-tier", ValuePattern::Prefix("gold".into())), Ok(()));
        check(&header("x-tier", regex("(?-u)\\xff$")), Ok(()));
        check(
            &header("x-tier", ValuePattern::Exact("gold".into())),
            Err("the header `x-tier` does not match"),
        );
        check(&header("x-none", ValuePattern::Present), Err("the header `x-none` does not match"));
    }

    #[test]
    fn query_parameters() {
        let query = |name: &str, pattern| Match { query: vec![(name.into(), pattern)], ..Match::default() };
        check(&query("beta", ValuePattern::Exact("1".into())), Ok(()));
        check(&query("q", ValuePattern::Exact("a b".into())), Ok(()));
        check(&query("q", ValuePattern::Exact("a+b".into())), Err("the query parameter `q` does not match"));
        check(&query("bet", ValuePattern::Present), Err("the query parameter `bet` does not match"));
    }

    #[test]
    fn cookies() {
        let cookie =
            |name: &str, pattern| Match { cookies: vec![(name.into(), pattern)], ..Match::default() };
        check(&cookie("variant", ValuePattern::Exact("a".into())), Ok(()));
        check(
            &cookie("variant", ValuePattern::Exact("b".into())),
            Err("the cookie `variant` does not match"),
        );
        check(&cookie("Variant", ValuePattern::Present), Err("the cookie `Variant` does not match"));
    }
}
