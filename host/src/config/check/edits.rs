//! What a route changes without a plugin: `path`, `query`, `host`, `request-headers` and `response-headers`.

use std::collections::BTreeMap;

use http::HeaderValue;
use regex::{Regex, RegexBuilder};
use toml::Spanned;

use super::{names, path, value_pattern};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{
    Edits, FieldValue, HeaderEdits, HostHeader, PathEdits, PathPattern, Piece, QueryEdits, Rewrite, Template,
};
use crate::config::raw::{self, OneOrMany};
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{codes, template};
use crate::target;

/// What was written of them.
pub(super) struct Written {
    pub(super) path: raw::PathEdits,
    pub(super) query: raw::FieldEdits,
    pub(super) host: Option<Spanned<String>>,
    pub(super) request_headers: raw::FieldEdits,
    pub(super) response_headers: raw::FieldEdits,
}

pub(super) fn edits(scope: &mut Scope, lost: &Lost, written: Written) -> Edits {
    Edits {
        path: path_edits(scope, lost, written.path),
        query: query_edits(scope, written.query),
        request_headers: header_edits(scope, written.request_headers),
        response_headers: header_edits(scope, written.response_headers),
        host: scope.value(written.host, HostHeader::Preserve, |text| host(text)),
    }
}

fn path_edits(scope: &mut Scope, lost: &Lost, raw: raw::PathEdits) -> PathEdits {
    PathEdits {
        strip_prefix: scope.value(raw.strip_prefix, None, |text| prefix(text).map(Some)),
        rewrite: raw.rewrite.and_then(|field| rewrite(scope, lost, field)),
        add_prefix: scope.value(raw.add_prefix, None, |text| prefix(text).map(Some)),
    }
}

/// Segments in normalised spelling, without a slash at the end.
fn prefix(text: &str) -> Result<String, Diagnostic> {
    let refused = |help: String| {
        Diagnostic::error(codes::BAD_PATH_EDIT, format!("`{text}` is not a prefix of paths")).with_help(help)
    };
    let kept = text.strip_suffix("/*").or_else(|| text.strip_suffix('/')).unwrap_or(text);
    if kept.is_empty() {
        return Err(refused("leave it out: every path starts with `/`".to_owned()));
    }
    match path::path(kept) {
        Ok(PathPattern::Exact(path)) if kept == text => Ok(path),
        Ok(_) => Err(refused(format!("write `{kept}`: a prefix is whole segments"))),
        Err(found) => Err(refused(found.help.unwrap_or_default())),
    }
}

fn rewrite(scope: &mut Scope, lost: &Lost, field: Spanned<raw::Rewrite>) -> Option<Rewrite> {
    let span = field.span();
    let raw::Rewrite { pattern, to } = field.into_inner();
    if pattern.is_none() {
        scope.missing(span.clone(), lost, ("rewrite", "pattern"), "the rewrite has no `pattern`");
    }
    if to.is_none() {
        scope.missing(span, lost, ("rewrite", "to"), "the rewrite has no `to`");
    }
    let pattern = pattern.and_then(|field| {
        let built = RegexBuilder::new(field.get_ref()).size_limit(value_pattern::MAX_REGEX).build();
        scope.keep(field.span(), built.map_err(|error| value_pattern::bad_regex(&error)))
    })?;
    let to = to?;
    let (path, query) = scope.keep(to.span(), replacement(to.get_ref(), &pattern))?;
    Some(Rewrite { pattern, path, query })
}

/// Path and query that take the place of what the pattern matched. Its text is in normalised spelling, so that
/// only what it is put together with can make another path of it.
fn replacement(
    text: &str,
    pattern: &Regex,
) -> Result<(Template<usize>, Option<Template<usize>>), Diagnostic> {
    let refused = |help: &str| {
        let message = format!("`{text}` can't take the place of a path");
        Err(Diagnostic::error(codes::BAD_PATH_EDIT, message).with_help(help))
    };
    let (path, query) = match text.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (text, None),
    };
    let path = template::groups(path, pattern)?;
    for piece in &path.pieces {
        let Piece::Text(text) = piece else { continue };
        // Between two letters, so that a `.` or an empty end is no segment of its own.
        let framed = format!("/a{text}a");
        match target::normalize(framed.as_bytes()) {
            Ok(normal) if normal == framed => {}
            _ => return refused("write it as a normalised path: no `.`, `..` or `//`, escapes as `%2F`"),
        }
    }
    let query = query.map(|query| template::groups(query, pattern)).transpose()?;
    for piece in query.iter().flat_map(|query| &query.pieces) {
        let Piece::Text(text) = piece else { continue };
        if target::normalize_query(text.as_bytes()).map_or(true, |normal| normal != *text) {
            return refused("percent-encode what no query has: `%20` for a space");
        }
    }
    Ok((path, query.filter(|query| !query.pieces.is_empty())))
}

fn query_edits(scope: &mut Scope, raw: raw::FieldEdits) -> QueryEdits {
    let pairs = |scope: &mut Scope, table: BTreeMap<Spanned<String>, Spanned<OneOrMany>>| {
        let mut pairs = Vec::new();
        for (name, values) in in_order(table) {
            let name = scope.keep(name.span(), names::parameter(name.get_ref()));
            for value in OneOrMany::items(values) {
                let value = scope.keep(value.span(), template::request(value.get_ref()));
                pairs.extend(name.clone().zip(value));
            }
        }
        pairs
    };
    QueryEdits {
        remove: scope.entries(raw.remove.unwrap_or_default(), |text| names::parameter(text)),
        set: pairs(scope, raw.set),
        append: pairs(scope, raw.append),
    }
}

fn header_edits(scope: &mut Scope, raw: raw::FieldEdits) -> HeaderEdits {
    let lines = |scope: &mut Scope, table: BTreeMap<Spanned<String>, Spanned<OneOrMany>>| {
        let mut lines = Vec::new();
        for (name, values) in in_order(table) {
            let name = scope.keep(name.span(), names::edited_header(name.get_ref()));
            for value in OneOrMany::items(values) {
                let value = scope.keep(value.span(), field_value(value.get_ref()));
                lines.extend(name.clone().zip(value));
            }
        }
        lines
    };
    HeaderEdits {
        remove: scope.entries(raw.remove.unwrap_or_default(), |text| names::edited_header(text)),
        set: lines(scope, raw.set),
        append: lines(scope, raw.append),
    }
}

fn field_value(text: &str) -> Result<FieldValue, Diagnostic> {
    let made = template::request(text)?;
    if let Some(fixed) = made.fixed() {
        return field_text(fixed).map(FieldValue::Fixed);
    }
    for piece in &made.pieces {
        if let Piece::Text(text) = piece {
            field_text(text)?;
        }
    }
    Ok(FieldValue::Made(made))
}

/// RFC 9110, section 5.5, without the bytes that recipients read in different ways.
pub(super) fn field_text(text: &str) -> Result<HeaderValue, Diagnostic> {
    let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
    value.ok_or_else(|| {
        let message = format!("`{}` is not the value of a header", text.escape_debug());
        Diagnostic::error(codes::BAD_HEADER_VALUE, message)
            .with_help("values are printable ASCII, without line breaks")
    })
}

fn host(text: &str) -> Result<HostHeader, Diagnostic> {
    if text == "preserve" {
        return Ok(HostHeader::Preserve);
    }
    if text == "upstream" {
        return Ok(HostHeader::Peer);
    }
    let refused = |reason: String| {
        Diagnostic::error(codes::BAD_HOST_HEADER, format!("`{text}` can't be the host: {reason}"))
            .with_help("write `\"preserve\"`, `\"upstream\"`, or a host: `\"api.internal\"`")
    };
    let host = target::authority(text.as_bytes()).map_err(|reason| refused(reason.to_string()))?;
    HeaderValue::from_str(host.as_str()).map(HostHeader::Name).map_err(|reason| refused(reason.to_string()))
}

/// The entries of a table in the order of the file.
pub(super) fn in_order<V>(
    table: BTreeMap<Spanned<String>, Spanned<V>>,
) -> impl Iterator<Item = (Spanned<String>, Spanned<V>)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries.into_iter()
}
