//! The file of `plugin test`: requests, and what is to become of each. Must not know how they are played.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;

use crate::proxy::{Origin, Outage, Question};

/// A file of cases.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Cases {
    /// Of all cases; a case's own keys win over it, and it over the manifest's.
    #[serde(default)]
    pub(super) config: toml::Table,
    /// What `request.set-upstream` may name.
    #[serde(default)]
    pub(super) upstreams: Vec<String>,
    #[serde(default)]
    pub(super) cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Case {
    pub(super) name: String,
    #[serde(default)]
    pub(super) config: toml::Table,
    #[serde(default)]
    pub(super) request: Request,
    /// What the upstream answers, where it is asked.
    #[serde(default)]
    pub(super) response: Response,
    /// Why the upstream does not answer, as the access log has it.
    pub(super) fails: Option<String>,
    #[serde(default)]
    pub(super) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Request {
    method: String,
    /// As in the request line: `/path?query`.
    target: String,
    headers: BTreeMap<String, Lines>,
    /// In one piece or several.
    body: Lines,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Response {
    status: u16,
    headers: BTreeMap<String, Lines>,
    /// In one piece or several.
    body: Lines,
}

/// What is to become of a request; what is left out may be anything.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Expect {
    /// Of the phases before the upstream answers: `next`, `respond`, or the word of a failure (`trap`).
    pub(super) verdict: Option<String>,
    /// How often a peer was asked.
    pub(super) attempts: Option<u32>,
    pub(super) request: ExpectedRequest,
    pub(super) response: ExpectedResponse,
    /// By name.
    pub(super) upstream: Option<String>,
    pub(super) attributes: BTreeMap<String, Wanted>,
}

/// What the upstream is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExpectedRequest {
    pub(super) method: Option<String>,
    pub(super) target: Option<String>,
    pub(super) headers: BTreeMap<String, Wanted>,
    pub(super) body: Option<String>,
}

/// What the client gets.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExpectedResponse {
    pub(super) status: Option<u16>,
    pub(super) headers: BTreeMap<String, Wanted>,
    pub(super) body: Option<String>,
    /// Whether it broke off behind its head.
    pub(super) broken: Option<bool>,
}

/// The lines of one header, or the pieces of a body.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a string, or a list of them")]
enum Lines {
    One(String),
    Many(Vec<String>),
}

/// What a header or an attribute is to be.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a string, a list of them, or `true` or `false` for there or not")]
pub(super) enum Wanted {
    There(bool),
    One(String),
    Many(Vec<String>),
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            target: "/".to_owned(),
            headers: BTreeMap::new(),
            body: Lines::default(),
        }
    }
}

impl Default for Response {
    fn default() -> Self {
        Self { status: 200, headers: BTreeMap::new(), body: Lines::default() }
    }
}

impl Cases {
    /// Reads a file.
    ///
    /// # Errors
    /// It can't be read, is no TOML or has unknown keys, told with their place.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("`{shown}`: {error}"))?;
        let cases: Self = toml::from_str(&text).map_err(|error| format!("`{shown}`: {error}"))?;
        if cases.cases.is_empty() {
            return Err(format!("`{shown}` has no `[[cases]]`"));
        }
        Ok(cases)
    }
}

impl Request {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn question(&self) -> Result<Question, String> {
        let method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| format!("`{}` is not a method", self.method))?;
        let mut headers: Vec<(HeaderName, HeaderValue)> = fields(&self.headers)?;
        if !headers.iter().any(|(name, _)| *name == http::header::HOST) {
            headers.push((http::header::HOST, HeaderValue::from_static("localhost")));
        }
        Ok(Question { method, target: self.target.clone(), headers, body: self.body.pieces() })
    }
}

impl Response {
    /// The upstream that answers with it, unless it fails.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn origin(&self, fails: Option<&str>) -> Result<Origin, String> {
        let fails = fails.map(outage).transpose()?;
        let status =
            StatusCode::from_u16(self.status).map_err(|_| format!("`{}` is not a status", self.status))?;
        let headers: HeaderMap = HeaderMap::from_iter(fields(&self.headers)?);
        Ok(Origin { fails, status, headers, body: self.body.pieces() })
    }
}

fn outage(word: &str) -> Result<Outage, String> {
    let known = || Outage::words().collect::<Vec<_>>().join("`, `");
    Outage::of_word(word).ok_or_else(|| format!("`fails = \"{word}\"`: there is `{}`", known()))
}

impl Default for Lines {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Lines {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(line) => std::slice::from_ref(line),
            Self::Many(lines) => lines,
        }
    }

    /// An empty text is no body.
    fn pieces(&self) -> Vec<Bytes> {
        let pieces = self.as_slice().iter().filter(|piece| !piece.is_empty());
        pieces.map(|piece| Bytes::from(piece.clone())).collect()
    }
}

fn fields(headers: &BTreeMap<String, Lines>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let mut fields = Vec::new();
    for (name, lines) in headers {
        let key =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is not a header name"))?;
        for line in lines.as_slice() {
            let value = HeaderValue::from_str(line).map_err(|_| format!("`{name}` can't have this value"))?;
            fields.push((key.clone(), value));
        }
    }
    Ok(fields)
}
