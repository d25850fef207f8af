//! The target of a request: host and path, normalised. One form for the router, the plugins, the log and
//! the upstream, so that no two of them can read a request differently. Pure; knows nothing else.
