//! The phases of a request, each run as the proxy runs it. Must not know what the test sets up or looks at.

use super::{Exchange, Outcome};
use crate::testing::state::{Answer, Phase};
use crate::{
    Attempt, BodyVerdict, Chunk, Entry, ErrorVerdict, Failure, Plugin, Request, ResponseHead, Verdict,
};

/// The phases.
impl Exchange {
    /// Runs `request-filter`. A response that the plugin makes is what the response phase sees.
    pub fn on_request<P: Plugin>(&mut self, plugin: &P) -> Outcome {
        let verdict = self.state.lend(Phase::Request, || plugin.on_request(&mut Request::current()));
        self.decided(verdict)
    }

    /// Runs `upstream-request-filter` for an attempt. What the plugin changed can be seen until the next call:
    /// like the proxy, the test starts each attempt from the request as it was before the first.
    pub fn on_upstream_request<P: Plugin>(&mut self, plugin: &P, attempt: &Attempt) -> Outcome {
        self.state.begin_attempt();
        let call = || plugin.on_upstream_request(&mut Request::current(), attempt);
        let verdict = self.state.lend(Phase::UpstreamRequest, call);
        self.decided(verdict)
    }

    /// Runs `error-filter`. A response that the plugin makes is what the response phase sees.
    pub fn on_error<P: Plugin>(&mut self, plugin: &P, failure: &Failure) -> ErrorVerdict {
        let verdict = self.state.lend(Phase::Error, || plugin.on_error(&Request::current(), failure));
        if let ErrorVerdict::Respond(response) = &verdict {
            self.state.response = Some(Answer::made(response));
        }
        verdict
    }

    /// Runs `request-body-filter` on a piece of the body, or on [`Chunk::whole`]. What the plugin puts in the place
    /// of a buffered body is the body from then on.
    pub fn on_request_body<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        let verdict =
            self.state.lend(Phase::RequestBody, || plugin.on_request_body(&Request::current(), chunk));
        match &verdict {
            BodyVerdict::Pass => {}
            BodyVerdict::Replace(data) if self.state.body.is_some() => self.state.body = Some(data.clone()),
            BodyVerdict::Replace(_) => {}
            BodyVerdict::Respond(response) => self.state.response = Some(Answer::made(response)),
        }
        verdict
    }

    /// Runs `response-body-filter` on all of the response's body, as a buffering plugin gets it: head and body
    /// can be changed.
    pub fn on_response_body<P: Plugin>(&mut self, plugin: &P) -> BodyVerdict {
        self.answered();
        let chunk = Chunk::whole(self.response_body());
        let verdict = self.lend_response_body(plugin, chunk);
        match (&verdict, &mut self.state.response) {
            (BodyVerdict::Replace(data), Some(answer)) => answer.body = data.clone(),
            (BodyVerdict::Respond(response), answer) => *answer = Some(Answer::made(response)),
            _ => {}
        }
        verdict
    }

    /// Runs `response-body-filter` on a piece of the response's body, as a streaming plugin gets it: the head is
    /// gone.
    pub fn on_response_chunk<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        self.answered();
        self.state.streaming = true;
        let verdict = self.lend_response_body(plugin, chunk);
        self.state.streaming = false;
        verdict
    }

    fn lend_response_body<P: Plugin>(&mut self, plugin: &P, chunk: Chunk) -> BodyVerdict {
        let call = || plugin.on_response_body(&Request::current(), &mut ResponseHead::current(), chunk);
        self.state.lend(Phase::ResponseBody, call)
    }

    /// Runs `response-filter`.
    pub fn on_response<P: Plugin>(&mut self, plugin: &P) -> Outcome {
        self.answered();
        let call = || plugin.on_response(&Request::current(), &mut ResponseHead::current());
        let verdict = self.state.lend(Phase::Response, call);
        self.decided(verdict)
    }

    /// Runs `log-filter`, with an entry of what is known.
    pub fn on_log<P: Plugin>(&mut self, plugin: &P) {
        self.answered();
        let entry =
            Entry { status: self.status(), upstream: self.state.upstream.clone(), ..Entry::default() };
        self.on_log_entry(plugin, &entry);
    }

    /// Runs `log-filter` with this entry.
    pub fn on_log_entry<P: Plugin>(&mut self, plugin: &P, entry: &Entry) {
        let call = || plugin.on_log(&Request::current(), &ResponseHead::current(), entry);
        self.state.lend(Phase::Log, call);
    }

    fn decided(&mut self, verdict: Verdict) -> Outcome {
        if let Verdict::Respond(response) = &verdict {
            self.state.response = Some(Answer::made(response));
        }
        Outcome { verdict }
    }

    fn answered(&mut self) {
        self.state.response.get_or_insert_with(|| Answer { status: 200, ..Answer::default() });
    }
}
