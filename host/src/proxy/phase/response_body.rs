//! `response_body_filter`: puts a plugin's body in the place of the upstream's, whose chunks are dropped.

use bytes::Bytes;

use crate::proxy::ctx::{BodyOverride, Ctx};

pub(crate) fn run(body: &mut Option<Bytes>, ctx: &mut Ctx) {
    match std::mem::take(&mut ctx.body) {
        BodyOverride::None => {}
        BodyOverride::Send(replacement) => {
            ctx.body = BodyOverride::Sent;
            *body = Some(replacement);
        }
        BodyOverride::Sent => {
            ctx.body = BodyOverride::Sent;
            // Empty, not `None`: for Pingora, that would be the end of the body.
            *body = Some(Bytes::new());
        }
    }
}
