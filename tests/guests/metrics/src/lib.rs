//! Counts requests by the header `x-kind`, keeps the last `x-size` in a gauge and all of them in a histogram.

use edgewright_sdk::metrics::{Counter, Gauge, Histogram};
use edgewright_sdk::prelude::*;

pub struct Metrics {
    requests: Counter,
    last: Gauge,
    sizes: Histogram,
}

#[plugin]
impl Plugin for Metrics {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        let refused = |error: edgewright_sdk::MetricError| error.to_string();
        Ok(Self {
            requests: Counter::define("requests", "Requests by kind", &["kind"]).map_err(refused)?,
            last: Gauge::define("last_size_bytes", "Size of the last request", &[]).map_err(refused)?,
            sizes: Histogram::define("size_bytes", "Sizes of requests", &[10.0, 100.0], &[])
                .map_err(refused)?,
        })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let kind = request.header("x-kind").unwrap_or_default();
        let size = request.header("x-size").and_then(|size| size.to_str().ok()?.parse().ok()).unwrap_or(0.0);
        let done = [
            self.requests.add(&[&kind.to_str_lossy()], 1.0),
            self.last.set(&[], size),
            self.sizes.observe(&[], size),
        ];
        match done.into_iter().find_map(Result::err) {
            None => Verdict::Next,
            Some(error) => Response::new(507).body(error.to_string()).into(),
        }
    }
}
