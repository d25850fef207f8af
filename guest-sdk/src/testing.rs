//! Runs a plugin without a proxy, for unit tests: [`Exchange`] is one request on its way, held to the rules
//! of the contract. Not there on wasm32.
//!
//! Two things are the proxy's alone and not done here: a path that is set is checked but not normalised, and
//! a head from the test itself is taken as it is.
//!
//! ```
//! use edgewright_sdk::{prelude::*, testing};
//!
//! struct Teapot;
//!
//! #[plugin]
//! impl Plugin for Teapot {
//!     type Config = ();
//!
//!     fn configure(_: ()) -> Result<Self, String> {
//!         Ok(Self)
//!     }
//!
//!     fn on_request(&self, request: &mut Request) -> Verdict {
//!         let _ = request.set_attribute("teapot.path", request.path());
//!         Response::new(418).body("short and stout").into()
//!     }
//!
//!     fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
//!         let _ = response.set_header("x-brewed", "no");
//!         Verdict::Next
//!     }
//! }
//!
//! let mut exchange = testing::Exchange::get("/coffee?milk=1").header("accept", "*/*");
//! let outcome = exchange.on_request(&Teapot);
//! assert_eq!(outcome.response().map(Response::status), Some(418));
//! assert_eq!(exchange.attribute("teapot.path").unwrap(), "/coffee");
//!
//! exchange.on_response(&Teapot);
//! assert_eq!((exchange.status(), exchange.response_header("x-brewed")), (418, Some("no".into())));
//! ```

pub(crate) mod clock;
mod exchange;
mod head;
mod http;
mod metric;
pub(crate) mod rules;
pub(crate) mod state;

pub use clock::advance;
pub use exchange::{Exchange, Outcome};
pub use http::on_http;
pub use metric::metric;

use crate::Plugin;

/// Makes a plugin of a configuration, a JSON object, just as the proxy does: unknown keys, wrong types and
/// what `configure` itself refuses.
///
/// # Errors
/// What the user would read as the load error.
pub fn configure<P: Plugin>(json: &str) -> Result<P, String> {
    crate::configuration::configure(json)
}
