//! Which route a request takes, and why. Pure and synchronous; knows no Pingora, plugins or upstreams.
