//! Compiled plugins on disk, so that a start does not compile them again. A file's name says what it was made
//! from and by which compiler; its head says what is in it. Trusts nothing that another user could have
//! written. Must not load code.

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// First bytes of a file, with the version of its layout: magic, SHA-256 of the rest, the artefact.
const MAGIC: &[u8] = b"edgewright-plugin-1\n";

const DIGEST: usize = 32;

/// Write permission of group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A directory of compiled plugins. Processes may share one.
#[derive(Debug)]
pub(in crate::plugin) struct Cache {
    dir: PathBuf,
    compiler: u64,
    warned: AtomicBool,
}

impl Cache {
    /// Makes the directory if it is not there. `None`, and a warning, where it can't be trusted or made: the
    /// proxy then compiles at each start.
    pub(in crate::plugin) fn open(dir: &Path, engine: &wasmtime::Engine) -> Option<Self> {
        if let Err(reason) = prepare(dir) {
            tracing::warn!(dir = %dir.display(), reason, "plugin cache is not used");
            return None;
        }
        // The hash covers Wasmtime's version, the settings and the CPU's features.
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Some(Self { dir: dir.to_owned(), compiler: hasher.finish(), warned: AtomicBool::new(false) })
    }

    /// The artefact of the component with this hash, if there is one and it is whole.
    pub(super) fn find(&self, hash: &str) -> Option<Vec<u8>> {
        let mut file = fs::read(self.path(hash)).ok()?;
        let (head, artefact) = file.split_at_checked(MAGIC.len() + DIGEST)?;
        let digest = head.strip_prefix(MAGIC)?;
        if *digest != *Sha256::digest(artefact) {
            tracing::warn!(dir = %self.dir.display(), hash, "cached plugin is damaged, compiling it anew");
            return None;
        }
        file.drain(..MAGIC.len() + DIGEST);
        Some(file)
    }

    /// Keeps an artefact. Where that fails, the next start compiles again.
    pub(super) fn keep(&self, hash: &str, artefact: &[u8]) {
        if let Err(error) = self.write(hash, artefact)
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(%error, dir = %self.dir.display(), "plugin cache can't be written");
        }
    }

    /// Under another name first: a reader, or another process that writes, never sees half a file.
    fn write(&self, hash: &str, artefact: &[u8]) -> std::io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.dir)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(artefact))?;
        file.write_all(artefact)?;
        file.persist(self.path(hash))?;
        Ok(())
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.dir.join(format!("{hash}-{:016x}.cwasm", self.compiler))
    }
}

/// What is in the directory is run as machine code: it must be ours alone.
fn prepare(dir: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| format!("it can't be made: {error}"))?;
    let found = fs::metadata(dir).map_err(|error| format!("it can't be looked at: {error}"))?;
    if !found.is_dir() {
        return Err("it is not a directory".into());
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".into());
    }
    if found.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err("others can write to it; `chmod 700` makes it usable".into());
    }
    Ok(())
}
