//! How a plugin is given bodies, and how a chain of them is: by its exports and its manifest. Knows no chunks.

use super::error::LoadReason;
use super::limits::HOST_CALL_BYTES;
use crate::config::model::{Body, BodyMode, Codings, Unfit};
use crate::phase::Phase;

/// How one plugin is given bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bodies {
    request: BodyMode,
    response: BodyMode,
    unfit: Unfit,
    codings: Codings,
}

impl Bodies {
    /// What the manifest says, and in pieces where it says nothing and the phase is there.
    ///
    /// # Errors
    /// The manifest asks for what the plugin can't take.
    pub(super) fn of(phases: &[Phase], body: Body) -> Result<Self, LoadReason> {
        let settle = |key, mode, phase| match (mode, phases.contains(&phase)) {
            (None, true) => Ok(BodyMode::Stream),
            (None, false) => Ok(BodyMode::None),
            (Some(BodyMode::Stream), false) => Err(LoadReason::NoBodyPhase { key, mode: "stream", phase }),
            // The whole body of a request can be read in `request-filter`, too.
            (Some(BodyMode::Buffer { .. }), false) if phase == Phase::ResponseBody => {
                Err(LoadReason::NoBodyPhase { key, mode: "buffer", phase })
            }
            (Some(mode), _) => Ok(mode),
        };
        Ok(Self {
            request: settle("request", body.request, Phase::RequestBody)?,
            response: settle("response", body.response, Phase::ResponseBody)?,
            unfit: body.unfit,
            codings: body.codings,
        })
    }

    pub(super) fn request(self) -> BodyMode {
        self.request
    }

    pub(super) fn response(self) -> BodyMode {
        self.response
    }

    pub(super) fn unfit(self) -> Unfit {
        self.unfit
    }

    pub(super) fn codings(self) -> Codings {
        self.codings
    }

    /// Whether the manifest lets the plugin be called in a phase.
    pub(super) fn call(self, phase: Phase) -> bool {
        match phase {
            Phase::RequestBody => self.request != BodyMode::None,
            Phase::ResponseBody => self.response != BodyMode::None,
            _ => true,
        }
    }

    /// Bytes that one verdict may hand to the host: a body may grow.
    pub(super) fn transfer(self) -> usize {
        let of = |mode| match mode {
            BodyMode::Buffer { limit } => HOST_CALL_BYTES.max(usize::saturating_mul(limit, 2)),
            BodyMode::None | BodyMode::Stream => HOST_CALL_BYTES,
        };
        of(self.request).max(of(self.response))
    }
}

/// The bit of a plugin, by its place in a phase. A chain of more than 64 plugins with bodies has none for the rest,
/// which are then called again.
pub(super) fn bit(place: usize) -> u64 {
    u32::try_from(place).ok().and_then(|place| 1_u64.checked_shl(place)).unwrap_or(0)
}

/// How a chain is given bodies: whole, if one plugin wants them whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyPlan {
    #[default]
    None,
    Stream,
    Buffer {
        /// In bytes: the smallest of the plugins'.
        limit: usize,
    },
}

impl BodyPlan {
    pub(super) fn of(modes: impl Iterator<Item = BodyMode>) -> Self {
        modes.fold(Self::None, Self::and)
    }

    /// With one more plugin.
    pub(super) fn and(self, mode: BodyMode) -> Self {
        match (self, mode) {
            (plan, BodyMode::None) => plan,
            (Self::Buffer { limit }, BodyMode::Buffer { limit: other }) => {
                Self::Buffer { limit: limit.min(other) }
            }
            (Self::Buffer { limit }, _) | (_, BodyMode::Buffer { limit }) => Self::Buffer { limit },
            (_, BodyMode::Stream) => Self::Stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: BodyMode = BodyMode::Buffer { limit: 1024 };

    #[test]
    fn a_manifest_and_exports_agree() {
        let check = |phases: &[Phase], request, expected: Option<BodyMode>| {
            let body = Body { request, response: None, unfit: Unfit::Fail, codings: Codings::Identity };
            let bodies = Bodies::of(phases, body);
            assert_eq!(bodies.ok().map(Bodies::request), expected, "{phases:?} {request:?}");
        };
        check(&[Phase::Request], None, Some(BodyMode::None));
        check(&[Phase::RequestBody], None, Some(BodyMode::Stream));
        check(&[Phase::RequestBody], Some(BodyMode::None), Some(BodyMode::None));
        check(&[Phase::Request], Some(BodyMode::Stream), None);
        check(&[Phase::Request], Some(KIB), Some(KIB));
    }

    #[test]
    fn one_plugin_that_wants_it_whole_decides() {
        let check = |modes: &[BodyMode], expected| {
            assert_eq!(BodyPlan::of(modes.iter().copied()), expected, "{modes:?}");
        };
        check(&[], BodyPlan::None);
        check(&[BodyMode::None, BodyMode::Stream], BodyPlan::Stream);
        check(&[KIB, BodyMode::Stream], BodyPlan::Buffer { limit: 1024 });
        check(&[BodyMode::Buffer { limit: 2048 }, KIB, BodyMode::None], BodyPlan::Buffer { limit: 1024 });
    }
}
