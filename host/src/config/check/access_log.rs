//! `[access-log]` and `[admin]`.

use std::ops::Range;
use std::path::Path;

use super::{Taken, names};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{AccessLog, Admin, LogSink};
use crate::config::recover::Section;
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, raw, scalar};

/// Nothing where it is turned off.
pub(crate) fn access_log(scope: &mut Scope, raw: raw::AccessLog, base: &Path) -> Option<AccessLog> {
    let default = defaults::access_log();
    scope.value(raw.format, (), |text| scalar::word(text, &[("json", ())]));
    let sink = scope.value(raw.path, default.sink, |text| match text.as_str() {
        "" => Err(Diagnostic::error(codes::EMPTY_VALUE, "`path` is empty")
            .with_help("write `\"stdout\"`, `\"stderr\"` or a file")),
        "stdout" => Ok(LogSink::Stdout),
        "stderr" => Ok(LogSink::Stderr),
        file => Ok(LogSink::File(base.join(file))),
    });
    let attributes = scope.entries(raw.attributes.unwrap_or_default(), |text| names::attribute(text));
    raw.enabled.unwrap_or(true).then_some(AccessLog { sink, attributes })
}

pub(crate) fn admin(
    scope: &mut Scope,
    taken: &mut Taken,
    span: Range<usize>,
    section: Section<raw::Admin>,
) -> Option<Admin> {
    let Some(field) = section.value.address else {
        scope.missing(span, &section.lost, ("admin", "address"), "`[admin]` has no `address`");
        return None;
    };
    let address = scope.keep(field.span(), address::socket(field.get_ref(), 9901))?;
    taken.take(scope, address, scope.place(field.span()));
    Some(Admin { address })
}
