//! From a file to compiled code: read it, hold it against its pin, then compile it or take it from the cache.
//! The one file that loads machine code, and so the one that is unsafe. Must not know what a component
//! exports.
#![allow(
    unsafe_code,
    reason = "loading machine code that this program compiled is unsafe by nature; see `load`"
)]

mod cache;
mod child;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;

pub(super) use cache::Cache;
pub use child::{COMPILE_ARGUMENT, compile_child};

use super::engine::{Compiler, Engine};
use super::error::LoadReason;

/// Larger files are refused: the largest language runtimes are half of it.
const MAX_FILE: u64 = 32 << 20;

/// A component as it was read.
pub(super) struct Source {
    pub(super) bytes: Vec<u8>,
    /// Its SHA-256, in lower-case hex.
    pub(super) hash: String,
}

/// A component that can be instantiated.
pub(super) struct Compiled {
    pub(super) component: Component,
    /// What compiling took, or loading from the cache.
    pub(super) took: Duration,
    pub(super) cached: bool,
}

/// Reads a component. `pinned` is the SHA-256 that it must have.
pub(super) fn read(file: &Path, pinned: Option<&str>) -> Result<Source, LoadReason> {
    // Before it is opened: opening a named pipe waits for a writer.
    if !fs::metadata(file).map_err(LoadReason::Unreadable)?.is_file() {
        return Err(LoadReason::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = File::open(file).map_err(LoadReason::Unreadable)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(LoadReason::Unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(LoadReason::TooLarge { limit: MAX_FILE });
    }
    let hash = hash(&bytes);
    match pinned {
        Some(pinned) if !pinned.eq_ignore_ascii_case(&hash) => {
            Err(LoadReason::HashMismatch { pinned: pinned.to_owned(), found: hash })
        }
        _ => Ok(Source { bytes, hash }),
    }
}

/// Compiles a component, or takes it from the cache.
pub(super) fn compile(engine: &Engine, source: &Source) -> Result<Compiled, LoadReason> {
    let began = Instant::now();
    if let Some(artefact) = engine.cache().and_then(|cache| cache.find(&source.hash)) {
        match load(engine, &artefact) {
            Ok(component) => return Ok(Compiled { component, took: began.elapsed(), cached: true }),
            Err(error) => {
                tracing::warn!(%error, hash = source.hash, "cached plugin is not usable, compiling it anew")
            }
        }
    }
    let artefact = match engine.compiler() {
        Compiler::Child => child::compile(&source.bytes)?,
        Compiler::InProcess => translate(engine.wasmtime(), &source.bytes)?,
    };
    if let Some(cache) = engine.cache() {
        cache.keep(&source.hash, &artefact);
    }
    let component = load(engine, &artefact).map_err(|error| LoadReason::Compile(format!("{error:#}")))?;
    Ok(Compiled { component, took: began.elapsed(), cached: false })
}

/// A component's machine code.
fn translate(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Vec<u8>, LoadReason> {
    engine.precompile_component(bytes).map_err(|error| LoadReason::Compile(format!("{error:#}")))
}

fn load(engine: &Engine, artefact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes must be what `precompile_component` returned. They are: this process, or a child that
    // runs the same executable, has just made them; or they come from the cache, whose directory and
    // file nobody but this user can write to, and whose digest covers the component, the compiler and the code.
    // Wasmtime itself refuses what another version or other settings made.
    unsafe { Component::deserialize(engine.wasmtime(), artefact) }
}

fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
