//! What the proxy says of itself: the metrics registry, its own log and the access log. Knows no routes,
//! plugins or upstreams: each of them registers its own metrics.

pub mod access_log;
pub mod histogram;
pub mod lines;
pub mod logging;
pub mod refusals;
pub mod registry;
