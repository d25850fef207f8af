//! The admin address: `/metrics`, `/healthz`, `/readyz`, `/status` and `/config`, which are read only, and `/reload`. On a
//! service of its own, so that it answers however busy the workers are.

mod reload;
mod status;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use http::{HeaderValue, Method, Response, StatusCode, header};
use pingora::apps::http_app::ServeHttp;
use pingora::protocols::http::ServerSession;
use prometheus_client::registry::Registry;

use crate::observe::registry;
use crate::snapshot::Generation;

use super::health::{Health, State};
use super::reload::Reloads;

/// What the admin address tells.
pub struct Admin {
    pub registry: Arc<Registry>,
    pub health: Health,
    pub generation: Arc<ArcSwap<Generation>>,
    pub reloads: Reloads,
    pub facts: Facts,
}

/// What does not change while the process runs.
#[derive(Debug, Clone)]
pub struct Facts {
    pub version: &'static str,
    pub started: Instant,
    pub workers: usize,
    /// Why that number.
    pub workers_reason: String,
}

#[async_trait]
impl ServeHttp for Admin {
    async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
        let head = session.req_header();
        let mut response = if head.uri.path() == "/reload" {
            reload::answer(&self.reloads, session).await
        } else {
            self.answer(&head.method, head.uri.path())
        };
        let head = session.req_header();
        // Pingora writes what it is given: the body of a HEAD is ours to leave out.
        let length = response.body().len();
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        if head.method == Method::HEAD {
            response.body_mut().clear();
        }
        response
    }
}

impl Admin {
    fn answer(&self, method: &Method, path: &str) -> Response<Vec<u8>> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD here\n");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "/healthz" => text(StatusCode::OK, "ok\n"),
            "/readyz" => match self.health.state() {
                State::Ready => text(StatusCode::OK, "ready\n"),
                other => text(StatusCode::SERVICE_UNAVAILABLE, &format!("{}\n", other.name())),
            },
            "/metrics" => match registry::text(&self.registry) {
                Ok(body) => typed(StatusCode::OK, registry::CONTENT_TYPE, body.into_bytes()),
                Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the metrics could not be written\n"),
            },
            "/status" => {
                let generation = self.generation.load();
                let last = self.reloads.last();
                let status =
                    status::Status::of(&self.facts, self.health.state(), &generation, last.as_deref());
                json(StatusCode::OK, &status)
            }
            "/config" => json(StatusCode::OK, &self.generation.load().shown),
            "/" => text(StatusCode::OK, "/metrics /healthz /readyz /status /config /reload\n"),
            _ => text(
                StatusCode::NOT_FOUND,
                "there are /metrics, /healthz, /readyz, /status, /config and /reload\n",
            ),
        }
    }
}

fn json(status: StatusCode, answer: &impl serde::Serialize) -> Response<Vec<u8>> {
    match serde_json::to_vec_pretty(answer) {
        Ok(mut body) => {
            body.push(b'\n');
            typed(status, "application/json", body)
        }
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be written\n"),
    }
}

fn text(status: StatusCode, body: &str) -> Response<Vec<u8>> {
    typed(status, "text/plain; charset=utf-8", body.as_bytes().to_vec())
}

fn typed(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
