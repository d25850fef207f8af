//! Which plugins of a chain a response is fit for: by its coding, its kind and its length, and what their
//! manifests say where it is not. Must not know heads.

use std::sync::Arc;

use tracing::Level;

use super::body::BodyPlan;
use super::chain::{Chain, Link};
use crate::config::model::{BodyMode, Codings, Unfit};
use crate::phase::Phase;

/// What of a response decides whether a plugin can be given its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    /// It has a content coding.
    pub coded: bool,
    /// It is a part (206).
    pub partial: bool,
    /// It is a stream of events: there may be no end to wait for.
    pub events: bool,
    /// It is larger than the smallest buffer.
    pub too_large: bool,
}

/// How the body of one response is given to the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    pub plan: BodyPlan,
    /// Plugins that are passed over, as [`Exchange::passed_over`](super::exchange::Exchange::passed_over).
    pub passed_over: u64,
}

/// A plugin that takes no such response, and lets none pass without it.
#[derive(Debug)]
pub struct Unsuitable {
    pub by: Arc<str>,
    pub why: &'static str,
}

impl Chain {
    /// How a response with these traits is given to the chain. `request` is named in the log.
    ///
    /// # Errors
    /// A plugin takes no such response.
    pub fn fit(&self, traits: Traits, request: &str) -> Result<Fit, Unsuitable> {
        let mut fit = Fit { plan: BodyPlan::None, passed_over: 0 };
        for (place, link) in self.links(Phase::ResponseBody).iter().enumerate() {
            let Some(why) = misfit(link, traits) else {
                fit.plan = fit.plan.and(link.plugin.bodies().response());
                continue;
            };
            if link.plugin.bodies().unfit() == Unfit::Fail {
                return Err(Unsuitable { by: Arc::clone(link.plugin.shared_name()), why });
            }
            let voice = link.plugin.blueprint().voice();
            voice.say(Level::WARN, Some(request), &format!("left out of the response's body: {why}"));
            fit.passed_over |= super::body::bit(place);
        }
        Ok(fit)
    }
}

fn misfit(link: &Link, traits: Traits) -> Option<&'static str> {
    let bodies = link.plugin.bodies();
    let whole = matches!(bodies.response(), BodyMode::Buffer { .. });
    match traits {
        Traits { coded: true, .. } if bodies.codings() == Codings::Identity => Some("it is coded"),
        Traits { partial: true, .. } => Some("it is a part"),
        Traits { events: true, .. } if whole => Some("it is a stream of events"),
        Traits { too_large: true, .. } if whole => Some("it is larger than the buffer"),
        _ => None,
    }
}
