//! What happens to the requests of a route. Knows nothing of how it is done.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::config::shown;
use crate::ids::UpstreamId;

use super::split::Split;
use super::template::{Template, Variable};

/// Where a route's requests go, unless a plugin answers or chooses an upstream.
#[derive(Debug, Clone)]
pub enum Action {
    Upstream(UpstreamId),
    Split(Split),
    Redirect(Redirect),
    Respond(Respond),
}

/// `redirect`
#[derive(Debug, Clone)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: StatusCode,
    /// What becomes `location`.
    pub to: Template<Variable>,
}

/// `respond`
#[derive(Debug, Clone)]
pub struct Respond {
    pub status: StatusCode,
    /// With a `content-type` where there is a body.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

impl Action {
    /// The upstreams that a request may go to.
    pub fn upstreams(&self) -> impl Iterator<Item = UpstreamId> {
        let (one, several) = match self {
            Action::Upstream(id) => (Some(*id), None),
            Action::Split(split) => (None, Some(split.shares.iter().map(|share| share.upstream))),
            Action::Redirect(_) | Action::Respond(_) => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// For people: `api`, `a 90 %, b 10 %`, `302 to https://{host}{path}{query}`, `a fixed 200`. Without what may
    /// be secret.
    pub fn told<'a>(&self, name: impl Fn(UpstreamId) -> Option<&'a str>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = match self {
            Action::Upstream(id) => write!(text, "{}", name(*id).unwrap_or_default()),
            Action::Split(split) => {
                let shares = split.shares.iter().map(|share| {
                    let percent = 100.0 * f64::from(share.weight) / split.total() as f64;
                    format!("{} {percent:.4}", name(share.upstream).unwrap_or_default())
                });
                let shares =
                    shares.map(|text| format!("{} %", text.trim_end_matches('0').trim_end_matches('.')));
                write!(text, "{}", shares.collect::<Vec<_>>().join(", "))
            }
            Action::Redirect(redirect) => {
                let to = redirect.to.to_string();
                write!(text, "{} to {}", redirect.status.as_u16(), shown::target(&to))
            }
            Action::Respond(respond) => write!(text, "a fixed {}", respond.status.as_u16()),
        };
        text
    }
}
