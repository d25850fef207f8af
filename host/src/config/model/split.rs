//! Several upstreams of one route: shares of its requests, and copies of them. Knows nothing of how it is done.

use std::time::Duration;

use http::HeaderName;

use crate::ids::UpstreamId;

/// `upstream` where it is several.
#[derive(Debug, Clone)]
pub struct Split {
    /// In the order of the file. The weights are not all zero.
    pub shares: Vec<Share>,
    /// What requests have in common that belong to one upstream; `None`: each is drawn by itself.
    pub sticky: Option<SplitKey>,
}

/// One upstream, and its part of the requests relative to the others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub upstream: UpstreamId,
    pub weight: u32,
}

/// Requests that have it in common go to one upstream; those without it are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitKey {
    ClientAddress,
    /// The first line of that name.
    Header(HeaderName),
    /// The first cookie of that name.
    Cookie(String),
}

/// `mirror`: copies of requests, whose responses nobody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    pub upstream: UpstreamId,
    /// Of the requests, in percent.
    pub share: u8,
    /// Requests with a larger body are not copied. Bytes.
    pub max_body: usize,
    /// For a copy from its connection to the end of its response.
    pub timeout: Duration,
    /// Copies under way at once; what comes on top is not sent.
    pub concurrency: usize,
}

impl Split {
    /// The sum of all weights, at least 1.
    pub fn total(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(share.weight)).sum::<u64>().max(1)
    }
}
