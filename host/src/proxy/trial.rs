//! A request that goes through a chain without any socket: what the proxy would send on, and what the client would
//! get. For `plugin test` and `plugin bench`. The upstream is played; the phases are run by [`player`], in the order
//! of the hooks that serve requests.

mod player;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::plugin::Chain;
use crate::plugin::exchange::{Attributes, CallRecord, Failure, UpstreamNames};
use crate::snapshot::Policy;

use self::player::Player;
use super::failure::Kind;
use super::rehearsal::{Refused, Rehearsal};

/// A request as a client on the loopback interface sends it.
#[derive(Debug, Clone)]
pub struct Question {
    pub method: Method,
    /// As in the request line.
    pub target: String,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Its pieces, as they come; none where there is no body.
    pub body: Vec<Bytes>,
}

/// The upstream.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Why it does not answer: the same for each of its two peers.
    pub fails: Option<Outage>,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Its pieces, as they come.
    pub body: Vec<Bytes>,
}

/// Why an upstream does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage(Kind);

impl Outage {
    const ALL: [Kind; 7] = [
        Kind::NoPeer,
        Kind::Overloaded,
        Kind::Exhausted,
        Kind::ConnectFailed,
        Kind::ConnectTimeout,
        Kind::UpstreamTimeout,
        Kind::UpstreamBroken,
    ];

    /// By its word in the access log.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).map(Self)
    }

    /// All words that there are.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Kind::word)
    }
}

/// The response that the client got.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// A plugin failed behind the head: the response broke off.
    pub broken: bool,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub struct Course {
    /// Of all until the upstream answers.
    pub verdict: Verdict,
    /// What the upstream would be sent, whether it was asked or not.
    pub method: Method,
    /// Path and query.
    pub target: String,
    pub headers: HeaderMap,
    /// What of the body would go on.
    pub body: Bytes,
    /// How often a peer was asked, or could not be connected to.
    pub attempts: u32,
    /// The upstream that a plugin chose, as its place among the names.
    pub upstream: Option<usize>,
    /// What the client gets.
    pub reply: Reply,
    pub attributes: Attributes,
    pub calls: Vec<CallRecord>,
}

/// What was decided before an upstream answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Next,
    Respond,
    Failed(Failure),
    /// The proxy's error page, or what `error-filter` made of it: its word in the access log.
    Page(&'static str),
}

/// Plays a request.
///
/// # Errors
/// The proxy would refuse it before any plugin.
pub async fn play(
    chain: &Chain,
    policy: &Policy,
    upstreams: &Arc<dyn UpstreamNames>,
    question: &Question,
    origin: &Origin,
) -> Result<Course, Refused> {
    let target = question.target.as_bytes();
    let rehearsal = Rehearsal::play(policy, &question.method, target, &question.headers)?;
    let (head, mut facts) = rehearsal.into_parts();
    facts.route = "test".into();
    if facts.raw_target.is_empty() {
        facts.raw_target = Bytes::copy_from_slice(target);
    }
    let lost = || Refused { status: 500, cause: Some("the request was lost on its way".to_owned()) };
    let player = Player::new(chain, origin, head, facts, upstreams);
    player.play(&question.body).await.ok_or_else(lost)
}
