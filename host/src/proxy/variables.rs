//! What the variables of a configuration's templates are for one request. Everything here is a valid piece of a
//! field value: what came from the client was checked when the request was let in.

use std::fmt::Write as _;

use http::Method;
use http::uri::PathAndQuery;
use pingora::http::RequestHeader;

use crate::config::model::{Piece, Template, Variable};
use crate::plugin::exchange::Facts;

use super::ctx::Ctx;

/// Where variables are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    facts: Option<&'a Facts>,
    route: &'a str,
    upstream: &'a str,
    method: &'a Method,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Values<'a> {
    /// Those of a request as the client sent it, its target normalised.
    pub(crate) fn of(ctx: &'a Ctx, head: &'a RequestHeader) -> Self {
        let upstream = ctx.upstream.and_then(|id| ctx.generation.upstreams.get(id));
        Self {
            facts: ctx.facts.as_ref(),
            route: ctx.entry().map_or("", |entry| &entry.name),
            upstream: upstream.map_or("", |upstream| upstream.name()),
            ..Self::unrouted(head)
        }
    }

    /// Those of a request that is not sent.
    pub(crate) fn rehearsed(facts: &'a Facts, route: &'a str, head: &'a RequestHeader) -> Self {
        Self { facts: Some(facts), route, ..Self::unrouted(head) }
    }

    fn unrouted(head: &'a RequestHeader) -> Self {
        Self {
            facts: None,
            route: "",
            upstream: "",
            method: &head.method,
            path: head.uri.path(),
            query: head.uri.query(),
        }
    }

    /// The same with another target.
    #[must_use]
    pub(crate) fn with_target(mut self, target: &'a PathAndQuery) -> Self {
        self.path = target.path();
        self.query = target.query();
        self
    }

    /// Path and query.
    pub(crate) fn target(&self) -> (&'a str, Option<&'a str>) {
        (self.path, self.query)
    }

    /// The template's text.
    pub(crate) fn render(&self, template: &Template<Variable>) -> String {
        let mut text = String::with_capacity(64);
        for piece in &template.pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Variable(variable) => self.write(*variable, &mut text),
            }
        }
        text
    }

    /// The host that the client asked for, without port; empty for a request of HTTP/1.0 without one.
    pub(crate) fn host(&self) -> &'a str {
        without_port(self.authority())
    }

    fn authority(&self) -> &'a str {
        self.facts.map_or("", |facts| &facts.authority)
    }

    fn write(&self, variable: Variable, text: &mut String) {
        match variable {
            Variable::Authority => text.push_str(self.authority()),
            Variable::ClientAddress => {
                if let Some(facts) = self.facts {
                    // Writing to a string does not fail.
                    let _ = write!(text, "{}", facts.client);
                }
            }
            Variable::Host => text.push_str(self.host()),
            Variable::Method => text.push_str(self.method.as_str()),
            Variable::Path => text.push_str(self.path),
            Variable::Query => {
                if let Some(query) = self.query {
                    text.push('?');
                    text.push_str(query);
                }
            }
            Variable::RequestId => text.push_str(self.facts.map_or("", |facts| &facts.request_id)),
            Variable::Route => text.push_str(self.route),
            Variable::Scheme => text.push_str(self.facts.map_or("", |facts| facts.scheme)),
            Variable::Upstream => text.push_str(self.upstream),
        }
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        // In an IPv6 address, colons are inside of the brackets.
        Some((host, _)) if !authority.ends_with(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_lose_their_port() {
        let check = |authority: &str, host: &str| assert_eq!(without_port(authority), host, "{authority}");
        check("a.test", "a.test");
        check("a.test:80", "a.test");
        check("[::1]", "[::1]");
        check("[::1]:80", "[::1]");
        check("", "");
    }
}
