//! `edgewright plugin build`: has cargo build a plugin, and puts the component beside its manifest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use serde::Deserialize;

use super::super::{mistake, out};
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
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--target", TARGET, "--package", &name, "--manifest-path"]);
        let status = cargo.arg(&manifest).status().map_err(|error| no_cargo(&error))?;
        if !status.success() {
            let missing = if has_target() == Some(false) {
                format!("; the target is missing: `rustup target add {TARGET}`")
            } else {
                String::new()
            };
            return Err(format!("cargo did not build it{missing}"));
        }
        let built = target.join(TARGET).join("release").join(format!("{}.wasm", name.replace('-', "_")));
        if !built.is_file() {
            let help = "`[lib]` of its `Cargo.toml` needs `crate-type = [\"cdylib\"]`";
            return Err(format!("cargo made no `{}`; {help}", built.display()));
        }
        let dir = self.out.as_deref().or(manifest.parent()).unwrap_or(Path::new("."));
        let file = dir.join(format!("{name}.wasm"));
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

/// Whether the target is installed, as far as rustc says.
fn has_target() -> Option<bool> {
    let told = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output().ok()?;
    let dir = String::from_utf8(told.stdout).ok()?;
    Some(Path::new(dir.trim()).is_dir())
}
