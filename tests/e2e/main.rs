//! End-to-end tests: the real binary between scripted origins and raw clients, one module a subject. A
//! function `case_NN_…` is the acceptance case of that number, with all its rows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

mod kit;

mod balance;
mod dns;
mod framing;
mod grpc_web;
mod headers;
mod heads;
mod health;
mod hosts;
mod http2;
mod limited_upstreams;
mod name_faults;
mod old_clients;
mod peer_health;
mod proxy_protocol;
mod responses;
mod retries;
mod rewriting;
mod route_limits;
mod routing;
mod splits;
mod streams;
mod time_limits;
mod tls;
mod tunnels;
mod uploads;
mod upstream_answers;
mod upstream_faults;
mod upstream_tls;
mod upstreams;

mod actions;
mod answers;
mod attempts;
mod capabilities;
mod connections;
mod contract;
mod cors;
mod edits;
mod environment;
mod event_streams;
mod faults;
mod hostile;
mod http_client;
mod isolation;
mod jwt;
mod limits;
mod load;
mod loops;
mod mirrors;
mod plugin_metrics;
mod plugin_tunnels;
mod rate_limit;
mod replacements;
mod request_bodies;
mod response_bodies;
mod server_timing;
mod shipped;

mod access_log;
mod admin;
mod cardinality;
mod cli;
mod examples;
mod explain;
mod log_sinks;
mod reload;
mod reload_faults;
mod reload_listeners;
mod reload_tls;
mod reload_watch;
mod rollout;
mod shutdown;
mod status;
mod tools;
