//! Bodies, for the body phases. Must not know how they are called.

use crate::{Bytes, Response};

/// A piece of a body: WIT `types.chunk`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Empty at most where it is the last one.
    pub data: Bytes,
    /// Whether the body ends with it.
    pub last: bool,
}

impl Chunk {
    /// A body as a whole.
    pub fn whole(data: impl Into<Bytes>) -> Self {
        Self { data: data.into(), last: true }
    }

    /// A piece behind which more comes.
    pub fn part(data: impl Into<Bytes>) -> Self {
        Self { data: data.into(), last: false }
    }
}

/// What becomes of a piece of a body: WIT `types.body-verdict`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BodyVerdict {
    /// It goes on as it is.
    #[default]
    Pass,
    /// This goes on in its place; nothing, where it is empty.
    Replace(Bytes),
    /// Answer with this. A mistake in `on_response_body` where the body is streamed.
    Respond(Response),
}

impl BodyVerdict {
    /// This goes on in the place of the piece.
    pub fn replace(data: impl Into<Bytes>) -> Self {
        Self::Replace(data.into())
    }
}

impl From<Response> for BodyVerdict {
    fn from(response: Response) -> Self {
        Self::Respond(response)
    }
}
