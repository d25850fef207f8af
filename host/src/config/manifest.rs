//! Manifests of plugins: `NAME.toml` beside `NAME.wasm`. Knows nothing of routes.

use std::path::Path;

use toml::Spanned;
use toml::de::DeValue;

use super::diagnostic::{Diagnostic, Place};
use super::model::{Isolation, Limits, Manifest, OnFailure};
use super::scope::Scope;
use super::{codes, defaults, json, raw, recover, scalar, source, syntax};

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
    let manifest = checked(&mut scope, raw);
    Beside { manifest, config, found: scope.into_found() }
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
