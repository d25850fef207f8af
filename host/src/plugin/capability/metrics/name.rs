//! What names, labels, bounds and help texts may be: WIT `metrics`. Must not know metrics.

use super::{Kind, Refused};
use crate::plugin::printable::printable;

const MAX_NAME: usize = 64;
const MAX_LABELS: usize = 8;
const MAX_BOUNDS: usize = 32;
const MAX_HELP: usize = 256;

/// What the text format makes names of itself.
const ENDINGS: [&str; 6] = ["_total", "_count", "_sum", "_bucket", "_created", "_info"];
/// Labels of the host and of the text format.
const OWNED: [&str; 2] = ["plugin", "le"];
/// In seconds: from what a look-up in memory takes to what nobody waits for.
const SECONDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

pub(super) fn check(name: &str) -> Result<(), Refused> {
    let fits = is_name(name) && !ENDINGS.iter().any(|ending| name.ends_with(ending));
    if fits { Ok(()) } else { Err(Refused::InvalidName) }
}

pub(super) fn check_labels(labels: &[String]) -> Result<(), Refused> {
    let is_new = |index: usize, label: &String| !labels.iter().take(index).any(|earlier| earlier == label);
    let fits = |(index, label): (usize, &String)| {
        is_name(label) && !OWNED.contains(&label.as_str()) && is_new(index, label)
    };
    let fits = labels.len() <= MAX_LABELS && labels.iter().enumerate().all(fits);
    if fits { Ok(()) } else { Err(Refused::InvalidLabel) }
}

/// The kind, with the bounds filled in.
pub(super) fn checked_kind(kind: Kind) -> Result<Kind, Refused> {
    let Kind::Histogram(bounds) = kind else { return Ok(kind) };
    if bounds.is_empty() {
        return Ok(Kind::Histogram(SECONDS.to_vec()));
    }
    let ascend = bounds.iter().zip(bounds.iter().skip(1)).all(|(one, next)| one < next);
    let fits = bounds.len() <= MAX_BOUNDS && ascend && bounds.iter().all(|bound| bound.is_finite());
    if fits { Ok(Kind::Histogram(bounds)) } else { Err(Refused::InvalidValue) }
}

/// In one line, as the text format has it.
pub(super) fn help(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(MAX_HELP)).unwrap_or(text);
    printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(fits)
}
