//! Who answers a plugin under test that calls. Must not know how calls are checked.

use crate::HttpError;
use crate::host::http_client::answer_with;
use crate::http_client::{Answer, Call};

/// Answers the calls of this thread's plugins from now on. Without it, no origin is granted.
///
/// ```
/// use edgewright_sdk::http_client::{Answer, Call};
/// use edgewright_sdk::{HttpError, testing};
///
/// assert_eq!(Call::get("https://a.test/").send(), Err(HttpError::NotGranted));
/// testing::on_http(|call| match call.url() {
///     "https://a.test/" => Ok(Answer::new(204)),
///     _ => Err(HttpError::TimedOut),
/// });
/// assert_eq!(Call::get("https://a.test/").send().unwrap().status(), 204);
/// assert_eq!(Call::get("https://a.test/x").send(), Err(HttpError::TimedOut));
/// ```
pub fn on_http(answer: impl FnMut(&Call) -> Result<Answer, HttpError> + 'static) {
    answer_with(Box::new(answer));
}
