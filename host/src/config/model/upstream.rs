//! `[upstreams.NAME]`: a group of peers, and how it is treated.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;

/// `[upstreams.NAME]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub name: Arc<str>,
    pub peers: Vec<PeerEntry>,
    pub balance: Balance,
    pub protocol: PeerProtocol,
    /// `None`: in the clear.
    pub tls: Option<PeerTls>,
    pub timeouts: Timeouts,
    pub retries: Retries,
    /// Active checks; `None`: there are none.
    pub health: Option<Health>,
    pub ejection: Ejection,
    pub limits: UpstreamLimits,
    /// How long a peer that comes back gets less than its share; zero: not at all.
    pub slow_start: Duration,
    /// Below this share of healthy peers, in percent, all are used. (With none that is healthy, all are, always.)
    pub panic_threshold: u8,
}

/// One entry of `peers`: a peer, or what stands for several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerEntry {
    pub source: PeerSource,
    /// Its share of the requests, relative to the others. At least 1; each address of a name has it, and that of a
    /// service its own in its place.
    pub weight: u16,
}

/// Where peers come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PeerSource {
    /// `HOST:PORT`
    Socket(PeerAddress),
    /// `unix:/PATH`
    Unix(Arc<Path>),
    /// `srv:_http._tcp.NAME`: targets, ports and weights come from SRV records (RFC 2782). Lower case.
    Service(Arc<str>),
}

/// A socket address, or a name that stands for several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PeerAddress {
    pub host: PeerHost,
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PeerHost {
    Ip(IpAddr),
    /// Lower case, without a final dot.
    Name(Arc<str>),
}

/// Which peer a request goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Balance {
    /// One after the other.
    RoundRobin,
    /// Of two that are drawn, the one with fewer requests in flight for its weight.
    LeastRequests,
    Random,
    /// Requests with one key go to one peer; those without a key go anywhere.
    Hash(HashKey),
}

/// What a request's key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HashKey {
    ClientAddress,
    /// The first line of that name.
    Header(HeaderName),
    /// The first cookie of that name.
    Cookie(String),
    /// What a plugin set (WIT `request.set-hash-key`).
    Plugin,
}

/// What is spoken to peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerProtocol {
    H1,
    /// HTTP/2: agreed on by ALPN, or with prior knowledge in the clear.
    H2,
    /// HTTP/2 if the peer offers it by ALPN, or else HTTP/1.1. Only with TLS.
    Auto,
}

/// TLS to peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerTls {
    /// Who peers are asked for, and must prove to be; `None`: the name or address in `peers`.
    pub sni: Option<Arc<str>>,
    pub verify: PeerVerify,
    /// Certificates (DER) of the authorities that are trusted; `None`: those of the system.
    pub ca: Option<Arc<[Vec<u8>]>>,
    /// What is shown to peers that ask for a certificate.
    pub identity: Option<Arc<PeerIdentity>>,
}

/// What of a peer's certificate is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerVerify {
    /// Who signed it, and that it is for the name.
    Name,
    /// Who signed it.
    Chain,
    Nothing,
}

/// A certificate with its key, in DER.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerIdentity {
    /// The own one first, then its issuers.
    pub chain: Vec<Vec<u8>>,
    pub key: Vec<u8>,
}

/// Without the key.
impl fmt::Debug for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerIdentity({} certificates)", self.chain.len())
    }
}

/// All finite: nothing waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands, its TLS handshake included.
    pub connect: Duration,
    /// Between two reads of the response, and until its first byte.
    pub read: Duration,
    /// Until a write of the request is taken.
    pub write: Duration,
    /// How long an idle connection is kept for the next request.
    pub idle: Duration,
    /// From the arrival of the request to the end of its response, all attempts included. Upgraded connections are
    /// not bound by it.
    pub total: Duration,
}

/// How peers are asked whether they are well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub probe: Probe,
    /// What a check is addressed to (`Host`, `:authority`); `None`: the peer's address.
    pub host: Option<String>,
    /// From one check of a peer to the next.
    pub interval: Duration,
    /// For one check, its connection included.
    pub timeout: Duration,
    /// So many good checks in a row bring a peer back. (The first check of all decides at once.)
    pub healthy_after: u32,
    /// So many bad checks in a row leave a peer out.
    pub unhealthy_after: u32,
}

/// What a check does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Connects.
    Tcp,
    /// GETs this target, and wants one of these statuses.
    Http { path: String, expected: Vec<RangeInclusive<u16>> },
    /// Calls `grpc.health.v1.Health/Check`, and wants `SERVING`. An empty name asks for the whole server.
    Grpc { service: String },
}

/// When a request is sent once more. (That a connection fails costs nothing, so those go on to the next peer until
/// all were tried, and are not counted here.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retries {
    /// How often a request is sent in all. At least 1.
    pub attempts: u32,
    /// At most this share of the requests in flight may be such retries, in percent; three always may.
    pub budget: u8,
    pub on: RetryOn,
}

/// What is tried again. All but `connect` only for idempotent requests whose body is still at hand, as long as the
/// client was sent nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryOn {
    /// No connection to the peer.
    pub connect: bool,
    /// The peer broke the connection, or what it sent is no HTTP.
    pub reset: bool,
    /// The peer was silent for too long.
    pub timeout: bool,
    /// The peer answered with one of these: 500 to 599.
    pub statuses: Vec<u16>,
}

/// How much an upstream and its peers take at once. What has no place is answered with 503.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// Requests of the whole upstream; `None`: any number.
    pub max_requests: Option<u32>,
    /// Connections of each peer that are in use; `None`: any number.
    pub max_connections: Option<u32>,
    /// Requests that wait for a place where there is none.
    pub max_pending: u32,
    /// How long each of them does.
    pub pending_timeout: Duration,
}

/// When a peer is left out for a while, from what requests see of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ejection {
    /// Connections in a row that failed; `None`: they eject nobody.
    pub connect_failures: Option<u32>,
    /// Responses in a row with a status of 500 and more, or none at all; `None`: they eject nobody.
    pub server_errors: Option<u32>,
    /// How long the first time; twice as long each time in a row.
    pub time: Duration,
    /// At most.
    pub max_time: Duration,
    /// Server errors eject no more than this share of the peers, in percent.
    pub max_share: u8,
}
