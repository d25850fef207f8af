//! The response phases of a played request. Must not know what it went through before.

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use crate::phase::Phase;
use crate::plugin::exchange::{BodyDecision, Decision, Piece, Place, PluginResponse};
use crate::plugin::{BodyPlan, Traits};
use crate::proxy::failure::Kind;
use crate::proxy::{local_response, whole_body};

use super::super::Reply;
use super::{Player, Stop, whole};

/// A response on its way back.
pub(super) struct Draft {
    pub(super) status: StatusCode,
    pub(super) lines: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<Bytes>,
    /// Whether the proxy or a plugin made it.
    pub(super) local: bool,
}

impl Player<'_> {
    /// The response phases.
    pub(super) async fn respond(&mut self, mut draft: Draft) -> Option<Reply> {
        loop {
            let Draft { status, lines, mut body, local } = draft;
            self.lent.exchange_mut()?.heads.replace_response(status, lines);
            match self.chain.on_response(&mut self.lent).await {
                Decision::Next => {}
                Decision::Respond { response, .. } => body = vec![response.body],
                Decision::Failed { failure, .. } => {
                    body = vec![local_response::page(failure.status(), &self.request_id).body];
                }
            }
            match self.response_body(&body, local) {
                Ok((body, broken)) => {
                    let response = self.lent.exchange_mut()?.heads.response()?;
                    return Some(Reply {
                        status: response.status,
                        headers: response.headers.clone(),
                        body,
                        broken,
                    });
                }
                // An error page is local: it passes plugins that it is unfit for.
                Err(Stop::Answered(_, page)) if !local => draft = Draft::of(page),
                Err(_) => return None,
            }
        }
    }

    /// What comes of a body, and whether it broke off.
    fn response_body(&mut self, body: &[Bytes], local: bool) -> Result<(Bytes, bool), Stop> {
        let all = whole(body);
        let exchange = self.exchange()?;
        let is_head = exchange.heads.request().method == Method::HEAD;
        let Some(head) = exchange.heads.response() else { return Err(Stop::Lost) };
        if local_response::is_bodiless(head.status) {
            return Ok((Bytes::new(), false));
        }
        let traits = whole_body::traits(head);
        if all.is_empty() || is_head || !self.chain.has(Phase::ResponseBody) {
            return Ok((all, false));
        }
        let mut plan = match self.fit(traits) {
            Err(_) if local => return Ok((all, false)),
            fit => fit?,
        };
        if let BodyPlan::Buffer { limit } = plan
            && all.len() > limit
            && !local
        {
            plan = self.fit(Traits { too_large: true, ..traits })?;
        }
        match plan {
            BodyPlan::None => Ok((all, false)),
            BodyPlan::Stream if !local => Ok(self.stream(body)),
            _ => self.held(all).map(|body| (body, false)),
        }
    }

    fn fit(&mut self, traits: Traits) -> Result<BodyPlan, Stop> {
        match self.chain.fit(traits, &self.request_id) {
            Ok(fit) => {
                self.exchange()?.passed_over.response = fit.passed_over;
                Ok(fit.plan)
            }
            Err(_) => Err(self.page(Kind::ResponseUnfit)),
        }
    }

    /// The head went out before.
    fn stream(&mut self, body: &[Bytes]) -> (Bytes, bool) {
        let mut sent = BytesMut::new();
        for (at, data) in body.iter().enumerate() {
            let place = if at + 1 == body.len() { Place::Last } else { Place::Inside };
            match self.chain.on_response_body(&mut self.lent, Piece { data: data.clone(), place }) {
                BodyDecision::Pass(data) => sent.extend_from_slice(&data),
                BodyDecision::Respond { .. } | BodyDecision::Failed { .. } => return (sent.freeze(), true),
            }
        }
        (sent.freeze(), false)
    }

    /// The head waits for the body.
    fn held(&mut self, all: Bytes) -> Result<Bytes, Stop> {
        let response = match self
            .chain
            .on_response_body(&mut self.lent, Piece { data: all, place: Place::Last })
        {
            BodyDecision::Pass(data) => return Ok(data),
            BodyDecision::Respond { response, .. } => response,
            BodyDecision::Failed { failure, .. } => local_response::page(failure.status(), &self.request_id),
        };
        self.exchange()?.heads.replace_response(response.status, response.headers);
        Ok(response.body)
    }
}

impl Draft {
    pub(super) fn of(response: PluginResponse) -> Self {
        let PluginResponse { status, headers, body } = response;
        Self { status, lines: headers, body: vec![body], local: true }
    }
}
