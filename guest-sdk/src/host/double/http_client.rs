//! The double of `http-client`: a function of the test answers. Must not know what it says.

use std::cell::RefCell;

use crate::http_client::{Answer, Call};
use crate::testing::state;
use crate::{Header, HttpError};

const MAX_URL: usize = 16 * 1024;
const MAX_BODY: usize = 1024 * 1024;

type Answering = Box<dyn FnMut(&Call) -> Result<Answer, HttpError>>;

thread_local! {
    static ANSWERING: RefCell<Option<Answering>> = const { RefCell::new(None) };
}

/// Whom this thread's plugins call from now on.
pub(crate) fn answer_with(answering: Answering) {
    ANSWERING.with(|current| *current.borrow_mut() = Some(answering));
}

pub(crate) fn send(call: &Call) -> Result<Answer, HttpError> {
    let header_fits =
        |line: &Header| Header::check_name(&line.name).is_ok() && Header::check_value(&line.value).is_ok();
    let is_absolute = call.url.starts_with("http://") || call.url.starts_with("https://");
    let fits = is_absolute && call.url.len() <= MAX_URL && call.body.len() <= MAX_BODY;
    if !fits || call.method.is_empty() || call.method == "CONNECT" || !call.headers.iter().all(header_fits) {
        return Err(HttpError::InvalidCall);
    }
    let within = state::change(|state| {
        state.http_calls += 1;
        state.http_calls <= MAX_CALLS
    });
    if within == Some(false) {
        return Err(HttpError::TooMany);
    }
    // Taken out meanwhile, so that an answer may be made with another call.
    let answering = ANSWERING.with(|current| current.borrow_mut().take());
    let Some(mut answering) = answering else { return Err(HttpError::NotGranted) };
    let answer = answering(call);
    ANSWERING.with(|current| {
        current.borrow_mut().get_or_insert(answering);
    });
    answer
}

/// Of one request, where the manifest says nothing else.
const MAX_CALLS: usize = 8;
