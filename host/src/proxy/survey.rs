//! One look over the names of a head's fields: what is there that the proxy has to deal with. Most heads have none of it,
//! and each question asked by itself would cost a look-up.

use http::{HeaderMap, HeaderName, header};

use super::forwarded;

/// What was found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) connection: bool,
    pub(crate) upgrade: bool,
    /// Any other field of [`super::hop_by_hop`].
    pub(crate) hop_by_hop: bool,
    pub(crate) forwarding: bool,
    /// A name with `_`.
    pub(crate) underscore: bool,
    /// A field that the proxy owns.
    pub(crate) owned: bool,
    /// `content-length`, `transfer-encoding` or `expect`.
    pub(crate) framing: bool,
    /// `transfer-encoding`.
    pub(crate) coding: bool,
    pub(crate) lines: usize,
    /// Of all names and values.
    pub(crate) bytes: usize,
}

impl Survey {
    /// What a request has; `owned` are the fields that the proxy owns.
    pub(crate) fn of(headers: &HeaderMap, owned: &[HeaderName]) -> Self {
        let mut found = Self::of_response(headers);
        found.owned = !owned.is_empty() && owned.iter().any(|name| headers.contains_key(name));
        found
    }

    /// What a response has.
    pub(crate) fn of_response(headers: &HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            found.lines += 1;
            found.bytes += name.as_str().len() + value.len();
            match *name {
                header::CONNECTION => found.connection = true,
                header::UPGRADE => found.upgrade = true,
                header::TE | header::PROXY_AUTHENTICATE => found.hop_by_hop = true,
                header::CONTENT_LENGTH | header::EXPECT => found.framing = true,
                header::TRANSFER_ENCODING => (found.framing, found.coding) = (true, true),
                // What browsers and servers send and is none of our business: no look at its letters.
                header::HOST
                | header::USER_AGENT
                | header::ACCEPT
                | header::ACCEPT_ENCODING
                | header::ACCEPT_LANGUAGE
                | header::CONTENT_TYPE
                | header::COOKIE
                | header::REFERER
                | header::DATE
                | header::SERVER
                | header::CACHE_CONTROL
                | header::ETAG
                | header::LAST_MODIFIED => {}
                _ => found.unusual(name.as_str()),
            }
        }
        found
    }

    fn unusual(&mut self, name: &str) {
        self.underscore |= name.as_bytes().contains(&b'_');
        self.forwarding |= forwarded::is_forwarding(name);
        self.hop_by_hop |= matches!(name, "keep-alive" | "proxy-connection");
    }
}
