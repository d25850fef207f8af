//! `edgewright plugin new`: a plugin to start from, with the SDK of this very proxy beside it, so that it needs
//! neither a checkout nor a registry that has the SDK.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use include_dir::{Dir, include_dir};

use crate::config;

use super::super::{mistake, out};

/// The SDK and the contract that it is made from.
static SDK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../guest-sdk");
static WIT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../wit");

/// What the packages of the SDK inherit from.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// The first plugin of the examples, which tests hold.
const SOURCE: &str = include_str!("../../../../examples/03-first-plugin/hello/src/lib.rs");
const MANIFEST: &str = include_str!("../../../../examples/03-first-plugin/hello/hello.toml");
const CASES: &str = include_str!("../../../../examples/03-first-plugin/hello/CASES.toml");

#[derive(Debug, Args)]
pub(in crate::cli) struct New {
    /// Name of the plugin: lower-case letters, digits and `-`
    name: String,
    /// Language
    #[arg(long, value_enum, default_value_t = Lang::Rust)]
    lang: Lang,
    /// Directory to make; NAME if not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lang {
    Rust,
}

impl New {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        let Lang::Rust = self.lang;
        if let Err(reason) = config::plugin_name(&self.name) {
            let help = reason.help.map(|help| format!("; {help}")).unwrap_or_default();
            return mistake(&format!("{}{help}", reason.message));
        }
        if self.name.starts_with(|first: char| first.is_ascii_digit()) {
            return mistake(&format!(
                "`{}` can't be the name of a Rust package: start with a letter",
                self.name
            ));
        }
        if let Some(whose) = taken(&self.name) {
            let name = &self.name;
            return mistake(&format!("`{name}` can't be the name of a Rust package here: it is {whose}"));
        }
        let dir = self.dir.clone().unwrap_or_else(|| PathBuf::from(&self.name));
        let shown = dir.display();
        if fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) || dir.is_file() {
            return mistake(&format!("`{shown}` is there already: name another directory with `--dir`"));
        }
        let workspace = match sdk_workspace(WORKSPACE) {
            Ok(workspace) => workspace,
            Err(error) => return mistake(&error),
        };
        if let Err(error) = self.write(&dir, &workspace) {
            return mistake(&format!("`{shown}` can't be written: {error}"));
        }
        let name = &self.name;
        out(&format!(
            "{shown}/src/lib.rs is a whole plugin. Next:\n\
             \x20 cargo test --manifest-path {shown}/Cargo.toml\n\
             \x20 edgewright plugin build {shown}\n\
             \x20 edgewright plugin test {shown}/{name}.wasm {shown}/CASES.toml\n\
             \x20 edgewright proxy --to HOST:PORT --plugin {shown}/{name}.wasm\n"
        ));
        ExitCode::SUCCESS
    }

    fn write(&self, dir: &Path, workspace: &str) -> io::Result<()> {
        let sdk = dir.join("sdk");
        fs::create_dir_all(dir.join("src"))?;
        extract(&SDK, &sdk.join("guest-sdk"))?;
        extract(&WIT, &sdk.join("wit"))?;
        fs::write(sdk.join("Cargo.toml"), workspace)?;
        fs::write(dir.join("Cargo.toml"), package(&self.name))?;
        fs::write(dir.join("src/lib.rs"), SOURCE)?;
        fs::write(dir.join(format!("{}.toml", self.name)), MANIFEST)?;
        fs::write(dir.join("CASES.toml"), CASES)?;
        fs::write(dir.join(".gitignore"), "/target\n/*.wasm\n")
    }
}

/// Whose name it is already, for Rust or in the package that is made.
fn taken(name: &str) -> Option<&'static str> {
    const OF_RUST: &[&str] = &["alloc", "core", "proc-macro", "std", "test"];
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
        "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
        "where", "while", "yield",
    ];
    let sdk = ["Cargo.toml", "macros/Cargo.toml"].map(|file| SDK.get_file(file)?.contents_utf8());
    let own = package("plugin");
    let mut manifests = sdk.into_iter().flatten().chain([own.as_str()]);
    if OF_RUST.contains(&name) {
        Some("a library of Rust's own")
    } else if KEYWORDS.contains(&name) {
        Some("a keyword")
    } else if manifests.any(|manifest| depends(manifest, name)) {
        Some("a library that plugins stand on")
    } else {
        None
    }
}

/// Whether a `Cargo.toml` names it as a dependency, on whatever platform.
fn depends(manifest: &str, name: &str) -> bool {
    let Ok(manifest) = toml::from_str::<toml::Table>(manifest) else { return false };
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables =
        platforms.into_iter().flat_map(|platforms| platforms.values().map(|it| it.get("dependencies")));
    tables.chain([manifest.get("dependencies")]).flatten().any(|table| table.get(name).is_some())
}

fn extract(from: &Dir<'_>, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    from.extract(to)
}

/// A workspace of the SDK's packages alone, with what they inherit.
fn sdk_workspace(whole: &str) -> Result<String, String> {
    let mut root: toml::Table = toml::from_str(whole).map_err(|error| error.to_string())?;
    let Some(toml::Value::Table(mut workspace)) = root.remove("workspace") else {
        return Err("the SDK has no workspace".to_owned());
    };
    workspace.insert("members".to_owned(), vec!["guest-sdk", "guest-sdk/macros"].into());
    if let Some(toml::Value::Table(dependencies)) = workspace.get_mut("dependencies") {
        // The proxy's own are not here.
        dependencies.retain(|_, entry| {
            entry.get("path").and_then(toml::Value::as_str).is_none_or(|path| path.starts_with("guest-sdk"))
        });
    }
    let table = toml::Table::from_iter([("workspace".to_owned(), toml::Value::Table(workspace))]);
    toml::to_string(&table).map_err(|error| error.to_string())
}

fn package(name: &str) -> String {
    format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
crate-type = ["cdylib"]

[dependencies]
edgewright-sdk = {{ path = "sdk/guest-sdk" }}
serde = {{ version = "1", features = ["derive"] }}

# Small, and quick to compile when the proxy loads it. The names of functions stay: a backtrace in the
# proxy's log shows them.
[profile.release]
lto = true
codegen-units = 1
panic = "abort"
strip = "debuginfo"

[workspace]
exclude = ["sdk"]
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dependencies_and_of_rust_are_taken() {
        for name in ["serde", "edgewright-sdk", "wit-bindgen", "serde_json", "core", "test", "match", "type"]
        {
            assert!(taken(name).is_some(), "{name}");
        }
        for name in ["api-key", "hello", "http", "matches", "my-serde"] {
            assert_eq!(taken(name), None, "{name}");
        }
    }

    #[test]
    fn the_workspace_of_the_sdk_stands_alone() {
        let text = sdk_workspace(WORKSPACE).unwrap();
        let workspace: toml::Table = toml::from_str(&text).unwrap();
        let dependencies = workspace["workspace"]["dependencies"].as_table().unwrap();
        assert!(dependencies.contains_key("wit-bindgen") && dependencies.contains_key("edgewright-sdk"));
        assert!(!dependencies.contains_key("edgewright"));
        assert!(SDK.get_file("src/lib.rs").is_some() && SDK.get_file("macros/src/lib.rs").is_some());
        assert!(WIT.get_file("worlds.wit").is_some());
    }
}
