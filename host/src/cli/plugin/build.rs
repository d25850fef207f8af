//! `edgewright plugin build`: has cargo build a plugin, and puts the component beside its manifest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use serde::Deserialize;

use super::super::{mistake, out};
use crate::config;
use crate::plugin::inspect;

/// What components are built for.
const TARGET: &str = "wasm32-wasip2";

#[derive(Debug, Args)]
pub(in crate::cli) struct Build {
    /// Directory of the plugin's `Cargo.toml`
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Where to put NAME.wasm; beside the `Cargo.toml` if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What of `cargo metadata` matters here.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

impl Build {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        match self.build() {
            Ok(text) => {
                out(&text);
                ExitCode::SUCCESS
            }
            Err(problem) => mistake(&problem),
        }
    }

    fn build(&self) -> Result<String, String> {
        let manifest = self.dir.join("Cargo.toml");
        let manifest = manifest.canonicalize().map_err(|error| {
            format!("`{}`: {error}; `edgewright plugin new NAME` makes a plugin", manifest.display())
        })?;
        let (name, target) = self.package(&manifest)?;
        let plugin = plugin_name(&name)?;
        if has_target(manifest.parent().unwrap_or(Path::new("."))) == Some(false) {
            return Err(format!("the target of plugins is not installed: `rustup target add {TARGET}`"));
        }
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--target", TARGET, "--package", &name, "--manifest-path"]);
        let status = cargo.arg(&manifest).status().map_err(|error| no_cargo(&error))?;
        if !status.success() {
            return Err("cargo did not build it".to_owned());
        }
        let built = target.join(TARGET).join("release").join(format!("{}.wasm", name.replace('-', "_")));
        if !built.is_file() {
            let help = "`[lib]` of its `Cargo.toml` needs `crate-type = [\"cdylib\"]`";
            return Err(format!("cargo made no `{}`; {help}", built.display()));
        }
        let dir = self.out.as_deref().or(manifest.parent()).unwrap_or(Path::new("."));
        let file = dir.join(format!("{plugin}.wasm"));
        put(&built, &file).map_err(|error| format!("`{}` can't be written: {error}", file.display()))?;
        let inspection = inspect(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
        if let Some(reason) = inspection.refused {
            return Err(format!("`{}` was built, but no proxy would load it: {reason}", file.display()));
        }
        let phases: Vec<&str> = inspection.phases.iter().map(|phase| phase.name()).collect();
        Ok(format!("{}: {} KiB, {}\n", file.display(), inspection.size.div_ceil(1024), phases.join(", ")))
    }

    /// Name and target directory of the package with that manifest.
    fn package(&self, manifest: &Path) -> Result<(String, PathBuf), String> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest);
        let told = cargo.stderr(Stdio::inherit()).output().map_err(|error| no_cargo(&error))?;
        if !told.status.success() {
            return Err(format!("cargo can't read `{}`", manifest.display()));
        }
        let metadata: Metadata = serde_json::from_slice(&told.stdout).map_err(|error| error.to_string())?;
        let package = metadata.packages.into_iter().find(|package| package.manifest_path == manifest);
        let package = package.ok_or_else(|| format!("`{}` is no package", manifest.display()))?;
        Ok((package.name, metadata.target_directory))
    }
}

/// Renamed into place: a proxy that reads the directory meanwhile never sees half a file.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    let half = to.with_extension("wasm.new");
    fs::copy(from, &half)?;
    fs::rename(&half, to)
}

fn no_cargo(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!(
                "there is no `cargo`: install Rust from https://rustup.rs, then `rustup target add {TARGET}`"
            )
        }
        _ => format!("`cargo` can't be run: {error}"),
    }
}

/// The name of the plugin of a package: a proxy takes no `_` in it.
fn plugin_name(package: &str) -> Result<String, String> {
    let name = package.replace('_', "-").to_ascii_lowercase();
    config::plugin_name(&name).map(|()| name).map_err(|reason| {
        let help = reason.help.map(|help| format!("; {help}")).unwrap_or_default();
        format!("the package `{package}` makes no plugin: {}{help}", reason.message)
    })
}

/// Whether the target is installed, as far as the rustc says that builds what is in a directory.
fn has_target(dir: &Path) -> Option<bool> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]).current_dir(dir);
    let told = rustc.stderr(Stdio::null()).output().ok().filter(|told| told.status.success())?;
    let dir = String::from_utf8(told.stdout).ok()?;
    Some(Path::new(dir.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_become_plugins_that_a_proxy_takes() {
        let check = |package, expected: &str| assert_eq!(plugin_name(package).as_deref(), Ok(expected));
        check("api-key", "api-key");
        check("my_plugin", "my-plugin");
        check("My_Plugin2", "my-plugin2");
        let refused = plugin_name("größe").unwrap_err();
        assert!(refused.contains("the package `größe` makes no plugin"), "{refused}");
    }
}
