//! The phases in the order in which a request meets them. Each file is one hook of Pingora.

pub(crate) mod body_limit;
pub(crate) mod early_request;
mod empty_body;
pub(crate) mod fail;
pub(crate) mod log;
pub(crate) mod request;
pub(crate) mod request_body;
pub(crate) mod response;
pub(crate) mod response_body;
pub(crate) mod select_peer;
pub(crate) mod upgrade;
pub(crate) mod upstream_request;
pub(crate) mod upstream_response;
