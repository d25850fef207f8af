//! How large the heads of an exchange are: summed up once a phase, then kept up with what plugins add. Must not know
//! the limits.

use http::{HeaderMap, HeaderName, HeaderValue};

/// What a line has beside its name and value.
const LINE: usize = 4;

/// Of each head, where a plugin changed it in the phase that runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeadSizes {
    pub(in crate::plugin) request: Option<HeadSize>,
    pub(in crate::plugin) response: Option<HeadSize>,
}

/// Lines and bytes of a head, or more than that where lines were taken away meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) struct HeadSize {
    pub(in crate::plugin) lines: usize,
    /// Each line with its `: ` and line end.
    pub(in crate::plugin) bytes: usize,
}

impl HeadSize {
    /// Of all lines but those that are `replaced`.
    pub(in crate::plugin) fn of(head: &HeaderMap, replaced: Option<&HeaderName>) -> Self {
        let mut size = Self { lines: 0, bytes: 0 };
        for (name, value) in head {
            if replaced.is_none_or(|replaced| replaced != name) {
                size = size.with(Self::of_line(name, value));
            }
        }
        size
    }

    /// Of one line.
    pub(in crate::plugin) fn of_line(name: &HeaderName, value: &HeaderValue) -> Self {
        Self { lines: 1, bytes: name.as_str().len() + value.len() + LINE }
    }

    pub(in crate::plugin) fn with(self, more: Self) -> Self {
        Self { lines: self.lines + more.lines, bytes: self.bytes + more.bytes }
    }
}
