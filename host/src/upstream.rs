//! Named groups of peers: resolved in the background, picked without a look-up or a lock. Knows no routes
//! and no plugins.
