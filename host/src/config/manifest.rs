//! Manifests of plugins: `NAME.toml` beside `NAME.wasm`. Knows nothing of routes.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::Path;

use toml::Spanned;
use toml::de::DeValue;

use super::diagnostic::{Diagnostic, Place};
use super::model::{Body, BodyMode, Codings, Isolation, Limits, Manifest, OnFailure, Quarantine, Unfit};
use super::scope::Scope;
use super::{check, codes, defaults, json, raw, recover, scalar, source, syntax};

/// The manifest of a component: all defaults where there is none, and where it is wrong.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) manifest: Manifest,
    /// Where its `config` is.
    pub(crate) config: Option<Place>,
    pub(crate) found: Vec<Diagnostic>,
}

impl Beside {
    fn default_with(found: Option<Diagnostic>) -> Self {
        Self { manifest: defaults::manifest(), config: None, found: found.into_iter().collect() }
    }
}

/// The manifest beside a component as it holds, for those who only look: with what is wrong in it.
pub(crate) fn held(component: &Path) -> (Manifest, Vec<Diagnostic>) {
    let Beside { manifest, found, .. } = beside(component);
    (manifest, found)
}

/// Reads the manifest beside a component.
pub(crate) fn beside(component: &Path) -> Beside {
    let path = component.with_extension("toml");
    if path.symlink_metadata().is_err() {
        return Beside::default_with(None);
    }
    let file = match source::read(&path) {
        Ok(file) => file,
        Err(mut found) => {
            found.place.get_or_insert_with(|| Place::whole_file(&path));
            return Beside::default_with(Some(found));
        }
    };
    let tree = match syntax::parse(&file) {
        Ok(tree) => tree,
        Err(found) => return Beside::default_with(Some(found)),
    };
    let mut scope = Scope::new(file.clone());
    // The span is empty: it stands for the file as a whole.
    let tree = Spanned::new(0..0, DeValue::Table(tree));
    let raw: Option<recover::Section<raw::Manifest>> = recover::section(&mut scope, "manifest", tree);
    let raw = raw.map(|section| section.value).unwrap_or_default();
    let config = raw.config.as_ref().map(|config| scope.place(config.span()));
    let manifest = checked(&mut scope, raw, path.parent().unwrap_or(Path::new("")));
    Beside { manifest, config, found: scope.into_found() }
}

fn checked(scope: &mut Scope, mut raw: raw::Manifest, base: &Path) -> Manifest {
    let default = defaults::manifest();
    let grants = check::grants(scope, raw.grants, &mut raw.limits, base);
    Manifest {
        description: raw.description,
        isolation: scope.value(raw.isolation, default.isolation, |text| {
            scalar::word(text, &[("fresh", Isolation::Fresh), ("reuse", Isolation::Reuse)])
        }),
        on_failure: scope.value(raw.on_failure, default.on_failure, |text| {
            scalar::word(text, &[("closed", OnFailure::Closed), ("open", OnFailure::Open)])
        }),
        limits: limits(scope, raw.limits, default.limits),
        quarantine: quarantine(scope, raw.quarantine, default.quarantine),
        grants,
        body: body(scope, raw.body, default.body),
        config: scope.value(raw.config, default.config, json::object),
        sha256: scope.value(raw.sha256, None, |text| hash(text).map(Some)),
    }
}

fn limits(scope: &mut Scope, raw: raw::Limits, default: Limits) -> Limits {
    let time = scope.value(raw.time, default.time, |value| scalar::duration(value, defaults::CALL_TIME));
    let memory = scope.value(raw.memory, default.memory, |value| scalar::size(value, defaults::CALL_MEMORY));
    let kept = raw.kept_memory.as_ref().map(Spanned::span);
    let kept_memory = scope.value(raw.kept_memory, defaults::kept_memory(memory), |value| {
        scalar::size(value, defaults::CALL_MEMORY)
    });
    if let Some(span) = kept.filter(|_| kept_memory > memory) {
        let message = "`kept-memory` is above `memory`";
        let help = "no instance ever has that much: leave it out for three quarters of `memory`";
        scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    Limits {
        time,
        memory,
        instances: scope
            .value(raw.instances, default.instances, |number| scalar::count(*number, defaults::INSTANCES)),
        queue: scope.value(raw.queue, default.queue, |value| scalar::duration(value, defaults::QUEUE)),
        calls: scope.value(raw.calls, default.calls, |number| count(*number, defaults::CALLS)),
        kept_memory,
    }
}

fn quarantine(scope: &mut Scope, raw: raw::Quarantine, default: Quarantine) -> Quarantine {
    let pauses = raw.pause.as_ref().or(raw.longest_pause.as_ref()).map(Spanned::span);
    let mut time =
        |field, default| scope.value(field, default, |value| scalar::duration(value, defaults::TIME));
    let window = time(raw.window, default.window);
    let pause = time(raw.pause, default.pause);
    let longest_pause = time(raw.longest_pause, default.longest_pause);
    if let Some(span) = pauses.filter(|_| pause > longest_pause) {
        let (first, longest) = (scalar::told(pause), scalar::told(longest_pause));
        let message = format!("`pause` (`{first}`) is above `longest-pause` (`{longest}`)");
        let help = "pauses grow from the one to the other";
        scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    let failures = scope.value(raw.failures, default.failures, |number| {
        count(*number, defaults::FAILURES).map(NonZeroU32::new)
    });
    Quarantine { failures, window, pause, longest_pause }
}

/// A count that fits 32 bits, as its range does.
fn count(number: i64, range: RangeInclusive<usize>) -> Result<u32, Diagnostic> {
    scalar::count(number, range).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn body(scope: &mut Scope, raw: raw::Body, default: Body) -> Body {
    Body {
        request: raw.request.and_then(|mode| body_mode(scope, mode)),
        response: raw.response.and_then(|mode| body_mode(scope, mode)),
        unfit: scope.value(raw.unfit, default.unfit, |text| {
            scalar::word(text, &[("fail", Unfit::Fail), ("skip", Unfit::Skip)])
        }),
        codings: scope.value(raw.codings, default.codings, |text| {
            scalar::word(text, &[("identity", Codings::Identity), ("any", Codings::Any)])
        }),
    }
}

fn body_mode(scope: &mut Scope, field: Spanned<raw::BodyMode>) -> Option<BodyMode> {
    let span = field.span();
    let buffer = match field.into_inner() {
        raw::BodyMode::Word(word) => {
            let words = [("none", BodyMode::None), ("stream", BodyMode::Stream)];
            return scope.keep(span, scalar::word(&word, &words));
        }
        raw::BodyMode::Table(table) => table.buffer,
    };
    let Some(size) = buffer else {
        let found = Diagnostic::error(codes::MISSING, "`buffer` is missing");
        scope.report(span, found.with_help("for example `{ buffer = \"1MiB\" }`"));
        return None;
    };
    let limit = scope.keep(size.span(), scalar::size(size.get_ref(), defaults::BODY_BUFFER))?;
    Some(BodyMode::Buffer { limit })
}

/// 64 hexadecimal digits, in lower case.
fn hash(text: &str) -> Result<String, Diagnostic> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    let help = match text.strip_prefix("sha256:") {
        Some(_) => "leave the `sha256:` in front out",
        None => "64 hexadecimal digits, as `sha256sum FILE` prints them",
    };
    let message = format!("`{text}` is not a SHA-256 hash");
    Err(Diagnostic::error(codes::BAD_HASH, message).with_help(help))
}
