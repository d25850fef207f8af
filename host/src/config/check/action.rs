//! What a route does: `upstream`, `redirect` or `respond`, and exactly one of them.

use std::ops::Range;
use std::path::Path;

use http::{HeaderName, HeaderValue, StatusCode, header};
use toml::Spanned;

use super::{Upstreams, body_file, edits, names, split};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Action, Piece, Redirect, Respond, Template, Variable};
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::suggest::Words;
use crate::config::{codes, defaults, example, raw, scalar, template};
use crate::ids::UpstreamId;
use crate::target;

/// The keys of which a route has one.
const ACTIONS: [&str; 3] = ["upstream", "redirect", "respond"];

/// What the keys of an action can name.
pub(super) struct Known<'a> {
    pub(super) upstreams: &'a Upstreams,
    pub(super) names: Words,
    /// Where files are relative to.
    pub(super) base: &'a Path,
}

/// What was written of the three.
pub(super) struct Written {
    pub(super) upstream: Option<Spanned<raw::Targets>>,
    pub(super) sticky: Option<Spanned<raw::SplitKey>>,
    pub(super) redirect: Option<Spanned<raw::Redirect>>,
    pub(super) respond: Option<Spanned<raw::Respond>>,
}

pub(super) fn action(
    scope: &mut Scope,
    known: &Known<'_>,
    route: Range<usize>,
    lost: &Lost,
    written: Written,
) -> Option<Action> {
    let Written { upstream, sticky, redirect, respond } = written;
    let spans = [
        upstream.as_ref().map(Spanned::span),
        redirect.as_ref().map(Spanned::span),
        respond.as_ref().map(Spanned::span),
    ];
    one_of_them(scope, route, lost, spans);
    // All are checked, whatever their number.
    let upstream = upstream.and_then(|field| split::targets(scope, known, lost, field, sticky));
    let redirect = redirect.and_then(|field| self::redirect(scope, lost, field)).map(Action::Redirect);
    let respond = respond.and_then(|field| self::respond(scope, known.base, field)).map(Action::Respond);
    upstream.or(redirect).or(respond)
}

fn one_of_them(scope: &mut Scope, route: Range<usize>, lost: &Lost, spans: [Option<Range<usize>>; 3]) {
    let mut there = ACTIONS.iter().zip(spans).filter_map(|(key, span)| Some((*key, span?)));
    let Some((first, first_span)) = there.next() else {
        if ACTIONS.iter().all(|key| !lost.has(key)) {
            let upstream = example::quoted("routes", "upstream");
            let help = format!("for example {upstream}, or a `redirect` or `respond`");
            let found = Diagnostic::error(codes::MISSING, "the route has no `upstream`");
            scope.report(route, found.with_help(help));
        }
        return;
    };
    for (key, span) in there {
        let message = format!("a route has either `{first}` or `{key}`");
        let found = Diagnostic::error(codes::CONTRADICTION, message)
            .with_help("leave one of them out, or make two routes")
            .with_related(scope.place(first_span.clone()), format!("the `{first}`"));
        scope.report(span, found);
    }
}

/// The upstream of that name.
pub(super) fn upstream(scope: &mut Scope, known: &Known<'_>, field: &Spanned<String>) -> Option<UpstreamId> {
    let name = field.get_ref();
    if let Some(id) = known.upstreams.id(name) {
        return Some(id);
    }
    let help = if known.names.is_empty() {
        format!("define it: `[upstreams.{name}]`")
    } else {
        known.names.help(name, "there is")
    };
    let found =
        Diagnostic::error(codes::UNKNOWN_UPSTREAM, format!("unknown upstream `{name}`")).with_help(help);
    scope.report(field.span(), found);
    None
}

fn redirect(scope: &mut Scope, lost: &Lost, field: Spanned<raw::Redirect>) -> Option<Redirect> {
    let span = field.span();
    let raw::Redirect { to, scheme, host, path, status } = field.into_inner();
    let status = scope.value(status, defaults::REDIRECT_STATUS, |number| redirect_status(*number));
    let parts = [&scheme, &host, &path].into_iter().flatten().next().map(Spanned::span);
    let to = match (to, parts) {
        (Some(to), None) => scope.keep(to.span(), location(to.get_ref()))?,
        (Some(_), Some(part)) => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`to` is the whole URL already");
            scope.report(part, found.with_help("leave `to` out, or `scheme`, `host` and `path`"));
            return None;
        }
        (None, Some(_)) => put_together(scope, scheme, host, path)?,
        (None, None) => {
            if ["to", "scheme", "host", "path"].iter().all(|key| !lost.has(key)) {
                scope.missing(span, lost, ("redirect", "to"), "the redirect has no `to`");
            }
            return None;
        }
    };
    Some(Redirect { status, to })
}

fn redirect_status(number: i64) -> Result<StatusCode, Diagnostic> {
    let status = u16::try_from(number).ok().and_then(|number| StatusCode::from_u16(number).ok());
    status.filter(|status| matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)).ok_or_else(|| {
        Diagnostic::error(codes::BAD_STATUS, format!("`{number}` is not the status of a redirect")).with_help(
            "301 and 308 are remembered by browsers, 302 and 307 are not; 307 and 308 keep the method; 303 \
             asks for GET",
        )
    })
}

/// A URL, or a path with what follows.
fn location(text: &str) -> Result<Template<Variable>, Diagnostic> {
    let refused = |message: &str, help: &str| {
        Err(Diagnostic::error(codes::BAD_TEMPLATE, format!("`{text}` {message}")).with_help(help))
    };
    let made = template::request(text)?;
    let begins = match made.pieces.first() {
        Some(Piece::Text(text)) => ["/", "http://", "https://"].iter().any(|start| text.starts_with(start)),
        Some(Piece::Variable(variable)) => matches!(variable, Variable::Path | Variable::Scheme),
        None => false,
    };
    if !begins || text.starts_with("//") {
        return refused("is not where a redirect can lead", "for example `https://{host}{path}{query}`");
    }
    let fits = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b);
    let texts = made.pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Variable(_) => None,
    });
    if texts.flat_map(|text| text.bytes()).any(|b| !fits(b)) {
        return refused("has characters that no URL has", "percent-encode them: `%20` for a space");
    }
    Ok(made)
}

/// The URL of `scheme`, `host` and `path`; what is not given is the request's.
fn put_together(
    scope: &mut Scope,
    scheme: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    path: Option<Spanned<String>>,
) -> Option<Template<Variable>> {
    let before = scope.errors();
    let scheme = scheme.and_then(|field| {
        scope.keep(field.span(), scalar::word(field.get_ref(), &[("http", "http://"), ("https", "https://")]))
    });
    let host = host.and_then(|field| {
        let valid = target::authority(field.get_ref().as_bytes()).map(|host| host.as_str().to_owned());
        scope.keep(
            field.span(),
            valid.map_err(|reason| {
                let message = format!("`{}` is not a host: {reason}", field.get_ref());
                Diagnostic::error(codes::BAD_TEMPLATE, message).with_help("for example `example.com`")
            }),
        )
    });
    let path = path.and_then(|field| {
        let made = location(field.get_ref()).and_then(|made| match made.pieces.first() {
            Some(Piece::Text(text)) if !text.starts_with('/') => {
                let message = format!("`{}` is not a path", field.get_ref());
                Err(Diagnostic::error(codes::BAD_TEMPLATE, message).with_help("write the whole URL as `to`"))
            }
            _ => Ok(made),
        });
        scope.keep(field.span(), made)
    });
    if scope.errors() > before {
        return None;
    }
    let mut pieces = Vec::new();
    if scheme.is_some() || host.is_some() {
        pieces
            .push(scheme.map_or(Piece::Variable(Variable::Scheme), |scheme| Piece::Text(scheme.to_owned())));
        if scheme.is_none() {
            pieces.push(Piece::Text("://".to_owned()));
        }
        pieces.push(host.map_or(Piece::Variable(Variable::Host), Piece::Text));
    }
    let path = path.map_or_else(|| vec![Piece::Variable(Variable::Path)], |path| path.pieces);
    let has_query = path.iter().any(|piece| match piece {
        Piece::Text(text) => text.contains('?'),
        Piece::Variable(variable) => *variable == Variable::Query,
    });
    pieces.extend(path);
    if !has_query {
        pieces.push(Piece::Variable(Variable::Query));
    }
    Some(Template { pieces })
}

fn respond(scope: &mut Scope, base: &Path, field: Spanned<raw::Respond>) -> Option<Respond> {
    let span = field.span();
    let raw::Respond { status, headers, body, file } = field.into_inner();
    let before = scope.errors();
    let status = scope.value(status, StatusCode::OK, |number| respond_status(*number));
    let mut headers = fixed_headers(scope, headers);
    let (body, kind) = match (body, file) {
        (Some(body), None) => (body.into_inner().into(), Some(body_file::TEXT)),
        (None, Some(file)) => {
            let read = body_file::read(base, file.get_ref());
            (scope.keep(file.span(), read)?, Some(body_file::content_type(file.get_ref())))
        }
        (Some(_), Some(file)) => {
            let found = Diagnostic::error(codes::CONTRADICTION, "the response has a `body` already");
            scope.report(file.span(), found.with_help("leave `body` or `file` out"));
            return None;
        }
        (None, None) => (bytes::Bytes::new(), None),
    };
    let bodiless =
        matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED);
    if bodiless && !body.is_empty() {
        let message = format!("a response of status {} has no body", status.as_u16());
        let found = Diagnostic::error(codes::CONTRADICTION, message);
        scope.report(span, found.with_help("leave the body out, or take another status"));
    }
    if let Some(kind) = kind
        && !headers.iter().any(|(name, _)| *name == header::CONTENT_TYPE)
    {
        headers.push((header::CONTENT_TYPE, HeaderValue::from_static(kind)));
    }
    (scope.errors() == before).then_some(Respond { status, headers, body })
}

fn respond_status(number: i64) -> Result<StatusCode, Diagnostic> {
    let status = u16::try_from(number).ok().filter(|number| (200..=599).contains(number));
    status.and_then(|number| StatusCode::from_u16(number).ok()).ok_or_else(|| {
        Diagnostic::error(codes::BAD_STATUS, format!("`{number}` is not the status of a response"))
            .with_help("from `200` to `599` are fine")
    })
}

/// Fields of a fixed response: what varies is for `response-headers`.
fn fixed_headers(
    scope: &mut Scope,
    table: std::collections::BTreeMap<Spanned<String>, Spanned<raw::OneOrMany>>,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    for (name, values) in edits::in_order(table) {
        let name = scope.keep(name.span(), names::edited_header(name.get_ref()));
        for value in raw::OneOrMany::items(values) {
            let value = scope.keep(value.span(), edits::field_text(value.get_ref()));
            headers.extend(name.clone().zip(value));
        }
    }
    headers
}
