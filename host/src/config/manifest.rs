//! Manifests of plugins: `NAME.toml` beside `NAME.wasm`. Knows nothing of routes.

use std::path::Path;

use toml::Spanned;
use toml::de::DeValue;

use super::diagnostic::Diagnostic;
use super::model::{Isolation, Limits, Manifest, OnFailure};
use super::scope::Scope;
use super::{codes, defaults, json, raw, recover, scalar, source, syntax};

/// The manifest beside a component: all defaults where there is none, and where it is wrong.
pub(crate) fn beside(component: &Path) -> (Manifest, Vec<Diagnostic>) {
    let path = component.with_extension("toml");
    if path.symlink_metadata().is_err() {
        return (defaults::manifest(), Vec::new());
    }
    let file = match source::read(&path) {
        Ok(file) => file,
        Err(found) => return (defaults::manifest(), vec![found]),
    };
    let tree = match syntax::parse(&file) {
        Ok(tree) => tree,
        Err(found) => return (defaults::manifest(), vec![found]),
    };
    let mut scope = Scope::new(file.clone());
    // The span is empty: it stands for the file as a whole.
    let tree = Spanned::new(0..0, DeValue::Table(tree));
    let raw: Option<recover::Section<raw::Manifest>> = recover::section(&mut scope, "manifest", tree);
    let manifest = checked(&mut scope, raw.map(|section| section.value).unwrap_or_default());
    (manifest, scope.into_found())
}

fn checked(scope: &mut Scope, raw: raw::Manifest) -> Manifest {
    let default = defaults::manifest();
    Manifest {
        description: raw.description,
        isolation: scope.value(raw.isolation, default.isolation, |text| {
            scalar::word(text, &[("fresh", Isolation::Fresh), ("reuse", Isolation::Reuse)])
        }),
        on_failure: scope.value(raw.on_failure, default.on_failure, |text| {
            scalar::word(text, &[("closed", OnFailure::Closed), ("open", OnFailure::Open)])
        }),
        limits: limits(scope, raw.limits, default.limits),
        config: scope.value(raw.config, default.config, json::object),
        sha256: scope.value(raw.sha256, None, |text| hash(text).map(Some)),
    }
}

fn limits(scope: &mut Scope, raw: raw::Limits, default: Limits) -> Limits {
    Limits {
        time: scope.value(raw.time, default.time, |value| scalar::duration(value, defaults::CALL_TIME)),
        memory: scope.value(raw.memory, default.memory, |value| scalar::size(value, defaults::CALL_MEMORY)),
        instances: scope
            .value(raw.instances, default.instances, |number| scalar::count(*number, defaults::INSTANCES)),
    }
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
