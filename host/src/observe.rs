//! What the proxy says of itself: the metrics registry, its log and the access log. Knows no routes, plugins
//! or upstreams: each of them registers its own metrics.
