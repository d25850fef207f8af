//! Which route a request takes, and why. Pure and synchronous; knows no Pingora, plugins or upstreams.
//!
//! The most specific route wins: an exact host before the longest wildcard before any host; within a
//! host an exact path before the longest prefix; within a path the route with more predicates (method,
//! headers, query, cookies), then the one that the file has first. Where no route of a path has its
//! predicates met, the next less specific path is tried, then the next host.

mod explain;
mod host_index;
mod path_tree;
mod predicate;
mod query;
mod table;

use http::{HeaderMap, Method};

pub use explain::{Candidate, Explanation, Outcome};
pub use query::decode as decoded_parameter;
pub use table::RouteTable;

/// What of a request decides about its route.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Lower case, without port and final dot, as [`crate::target::Authority::host`] gives it; empty for
    /// a request without a host.
    pub host: &'a str,
    /// Normalised by [`crate::target::normalize`], or `*`, which only routes without a path match.
    pub path: &'a str,
    /// What follows the `?`.
    pub query: Option<&'a str>,
    pub method: &'a Method,
    pub headers: &'a HeaderMap,
}
