//! A request that is not sent: let in, or refused, by the code of [`super::admission`]. For `explain` and
//! [`super::trial`].

use std::net::{Ipv4Addr, SocketAddr};

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Version, header};
use pingora::http::RequestHeader;

use crate::config::model::{Redirect, Route};
use crate::plugin::exchange::Facts;
use crate::route;
use crate::snapshot::Policy;

use super::failure::Failed;
use super::variables::Values;
use super::{action, admission, edit};

/// A request as the router would get it.
pub struct Rehearsal {
    head: RequestHeader,
    facts: Facts,
    host: String,
}

/// What the client would be answered instead.
#[derive(Debug, thiserror::Error)]
#[error("the proxy would answer {status}{}", cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default())]
pub struct Refused {
    pub status: u16,
    pub cause: Option<String>,
}

impl Refused {
    fn of(failed: Failed) -> Self {
        Self { status: failed.kind.status().map_or(400, |status| status.as_u16()), cause: failed.cause }
    }

    fn bad(cause: &str) -> Self {
        Self { status: 400, cause: Some(cause.to_owned()) }
    }
}

impl Rehearsal {
    /// Plays a request from a client on the loopback interface. Without a host, it is one of HTTP/1.0, which
    /// alone may go without.
    ///
    /// # Errors
    /// The proxy would refuse it.
    pub fn play(
        policy: &Policy,
        method: &Method,
        target: &[u8],
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Self, Refused> {
        let mut head = RequestHeader::build(method.clone(), target, Some(headers.len()))
            .map_err(|_| Refused::bad("the request target can't be read"))?;
        for (name, value) in headers {
            let _ = head.append_header(name.clone(), value.clone());
        }
        let hosts = head.headers.get_all(header::HOST).iter().count();
        if hosts > 1 {
            return Err(Refused::bad("several `host` lines"));
        }
        head.set_version(if hosts == 0 { Version::HTTP_10 } else { Version::HTTP_11 });
        let from =
            admission::Origin { peer: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0), connection: None };
        let mut facts = admission::facts(&head, &from, policy);
        let host_length = admission::admit(&mut head, &from, policy, &mut facts).map_err(Refused::of)?;
        let host = facts.authority.get(..host_length).unwrap_or_default().to_owned();
        Ok(Self { head, facts, host })
    }

    /// What the upstream would be asked for on this route, where it is not what the client asked for.
    ///
    /// # Errors
    /// The proxy would refuse it.
    pub fn target(&self, route: &Route) -> Result<Option<String>, Refused> {
        let target = self.edited(route)?.filter(|target| self.head.uri.path_and_query() != Some(target));
        Ok(target.map(|target| target.to_string()))
    }

    /// Where this route would send the client.
    ///
    /// # Errors
    /// The proxy would refuse it.
    pub fn location(&self, route: &Route, redirect: &Redirect) -> Result<String, Refused> {
        let target = self.edited(route)?;
        let mut values = Values::rehearsed(&self.facts, &route.name, &self.head);
        if let Some(target) = &target {
            values = values.with_target(target);
        }
        action::location(redirect, values).map_err(Refused::of)
    }

    fn edited(&self, route: &Route) -> Result<Option<PathAndQuery>, Refused> {
        let values = Values::rehearsed(&self.facts, &route.name, &self.head);
        edit::target(&route.edits, values).map_err(|bad| Refused::bad(&bad.to_string()))
    }

    /// The head as plugins would get it, and what is known of the request.
    pub(super) fn into_parts(self) -> (RequestHeader, Facts) {
        (self.head, self.facts)
    }

    /// What the router is asked.
    pub fn request(&self) -> route::Request<'_> {
        route::Request {
            host: &self.host,
            path: self.head.uri.path(),
            query: self.head.uri.query(),
            method: &self.head.method,
            headers: &self.head.headers,
        }
    }
}
