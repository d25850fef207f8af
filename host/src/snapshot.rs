//! A generation: one immutable snapshot of routes, chains and upstreams. Knows no files and no sockets.
