//! The trait that a plugin implements: one method per phase. Must not know how phases are called.

use serde::de::DeserializeOwned;

use crate::{Attempt, BodyVerdict, Chunk, Entry, ErrorVerdict, Failure, Request, ResponseHead, Verdict};

/// A plugin with one configuration. Implement it under [`#[plugin]`](crate::plugin), which exports the
/// phases whose methods the block has.
///
/// One instance of the component holds one value per distinct configuration, for as long as the instance
/// lives. What a value keeps between calls is seen by other requests, and is lost with the instance: keep
/// what belongs to a request in its attributes.
///
/// A panic costs the request (503, or the plugin is skipped, as its manifest says) and the instance; the
/// message goes to the proxy's log.
pub trait Plugin: Sized + 'static {
    /// What the user may write under `config`; `()` for a plugin without configuration.
    ///
    /// Derive `Deserialize` with `#[serde(deny_unknown_fields, rename_all = "kebab-case")]`: unknown keys
    /// become load errors, and keys look like the rest of the configuration.
    type Config: DeserializeOwned + 'static;

    /// Makes a plugin of its configuration. Called when the plugin is loaded, and once per instance and
    /// configuration before the first phase. There is no request yet.
    ///
    /// # Errors
    /// The text is shown to the user as the load error and nothing is loaded: say which key is wrong and
    /// what would be right.
    fn configure(config: Self::Config) -> Result<Self, String>;

    /// `request-filter`: once per request, after the route was matched and before a peer is chosen.
    fn on_request(&self, request: &mut Request) -> Verdict {
        let _ = request;
        Verdict::Next
    }

    /// `upstream-request-filter`: once per attempt, after a peer was chosen. The request is what goes out;
    /// changes to it last for this attempt, and the method can't be changed. An answer is sent in place of
    /// the upstream's.
    fn on_upstream_request(&self, request: &mut Request, attempt: &Attempt) -> Verdict {
        let _ = (request, attempt);
        Verdict::Next
    }

    /// `request-body-filter`: on each piece of the request's body, or on all of it at once, as the manifest's
    /// `body.request` says.
    fn on_request_body(&self, request: &Request, chunk: Chunk) -> BodyVerdict {
        let _ = (request, chunk);
        BodyVerdict::Pass
    }

    /// `response-filter`: on every response of the route, errors and plugins' answers included.
    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        let _ = (request, response);
        Verdict::Next
    }

    /// `response-body-filter`: on each piece of a response's body, or on all of it at once, as the manifest's
    /// `body.response` says. The head can be read and changed only where the body is buffered.
    fn on_response_body(&self, request: &Request, response: &mut ResponseHead, chunk: Chunk) -> BodyVerdict {
        let _ = (request, response, chunk);
        BodyVerdict::Pass
    }

    /// `error-filter`: when the request can't be served. May ask for another peer where that is safe, or make
    /// the error page.
    fn on_error(&self, request: &Request, failure: &Failure) -> ErrorVerdict {
        let _ = (request, failure);
        ErrorVerdict::Next
    }

    /// `log-filter`: once per request when all is over. Only attributes can still be set.
    fn on_log(&self, request: &Request, response: &ResponseHead, entry: &Entry) {
        let _ = (request, response, entry);
    }
}
