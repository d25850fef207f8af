//! What a route changes in requests and responses without a plugin. Knows nothing of how it is done.

use http::{HeaderName, HeaderValue};
use regex::Regex;

use super::template::{Template, Variable};

/// Every change of a route.
#[derive(Debug, Clone, Default)]
pub struct Edits {
    pub path: PathEdits,
    pub query: QueryEdits,
    pub request_headers: HeaderEdits,
    pub response_headers: HeaderEdits,
    pub host: HostHeader,
}

/// `path`: what the upstream is asked for, and what `{path}` of a redirect is. In this order.
#[derive(Debug, Clone, Default)]
pub struct PathEdits {
    /// Whole segments, without a slash at the end: `/api` is taken off `/api` and `/api/x`, not off `/apis`.
    pub strip_prefix: Option<String>,
    pub rewrite: Option<Rewrite>,
    /// Without a slash at the end.
    pub add_prefix: Option<String>,
}

/// `path.rewrite`: what the pattern matches is replaced, once.
#[derive(Debug, Clone)]
pub struct Rewrite {
    /// Unanchored, over the path alone.
    pub pattern: Regex,
    /// What takes its place; the variables are groups of the pattern.
    pub path: Template<usize>,
    /// Added to the client's query.
    pub query: Option<Template<usize>>,
}

/// `query`: in the order of the fields.
#[derive(Debug, Clone, Default)]
pub struct QueryEdits {
    /// Names, decoded.
    pub remove: Vec<String>,
    /// In the place of every parameter of that name.
    pub set: Vec<(String, Template<Variable>)>,
    pub append: Vec<(String, Template<Variable>)>,
}

/// `request-headers` and `response-headers`: in the order of the fields.
#[derive(Debug, Clone, Default)]
pub struct HeaderEdits {
    pub remove: Vec<HeaderName>,
    /// In the place of every line of that name.
    pub set: Vec<(HeaderName, FieldValue)>,
    pub append: Vec<(HeaderName, FieldValue)>,
}

/// The value of a field.
#[derive(Debug, Clone)]
pub enum FieldValue {
    Fixed(HeaderValue),
    /// Its text is fit for a field, and so is every variable.
    Made(Template<Variable>),
}

/// `host`: what the upstream is sent as `Host` or `:authority`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HostHeader {
    /// What the client asked for.
    #[default]
    Preserve,
    /// What the peer is called in `peers`.
    Peer,
    Name(HeaderValue),
}

impl Edits {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        let Self { path, query, request_headers, response_headers, host } = self;
        path.is_empty()
            && query.is_empty()
            && request_headers.is_empty()
            && response_headers.is_empty()
            && *host == HostHeader::Preserve
    }
}

impl PathEdits {
    pub fn is_empty(&self) -> bool {
        self.strip_prefix.is_none() && self.rewrite.is_none() && self.add_prefix.is_none()
    }
}

impl QueryEdits {
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.append.is_empty()
    }
}

impl HeaderEdits {
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.append.is_empty()
    }
}
