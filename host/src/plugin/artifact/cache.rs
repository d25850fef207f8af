//! Compiled plugins on disk, so that a start does not compile them again. A file's name says what it was made
//! from and by which compiler; its head says what is in it. Trusts nothing that another user could have
//! written. Must not load code.

use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// First bytes of a file, with the version of its layout: magic, digest, the artefact.
const MAGIC: &[u8] = b"edgewright-plugin-2\n";

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
        let unusable = |reason: &str| {
            tracing::warn!(dir = %self.dir.display(), hash, reason, "cached plugin is not used, compiling it anew");
        };
        let mut file = match read(&self.path(hash)) {
            Ok(file) => file,
            Err(Unusable::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(reason) => {
                unusable(&reason.to_string());
                return None;
            }
        };
        let parts = file.split_at_checked(MAGIC.len() + DIGEST);
        let whole = parts.is_some_and(|(head, artefact)| {
            head.strip_prefix(MAGIC).is_some_and(|digest| *digest == self.digest(hash, artefact))
        });
        if !whole {
            unusable("it is damaged, was made for another component, or by another version");
            return None;
        }
        file.drain(..MAGIC.len() + DIGEST);
        Some(file)
    }

    /// Of an artefact and of what it was made from and by: one that is put in the place of another is noticed.
    fn digest(&self, hash: &str, artefact: &[u8]) -> [u8; DIGEST] {
        let mut digest = Sha256::new();
        digest.update(hash);
        digest.update(self.compiler.to_be_bytes());
        digest.update(artefact);
        digest.finalize().into()
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
    fn write(&self, hash: &str, artefact: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.dir)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.digest(hash, artefact))?;
        file.write_all(artefact)?;
        file.persist(self.path(hash))?;
        Ok(())
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.dir.join(format!("{hash}-{:016x}.cwasm", self.compiler))
    }
}

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it can't be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error("{0}")]
    NotOurs(&'static str),
}

/// Reads a file that nobody but this user can have written: the directory may have been open to others before.
/// Judged by what was opened, not by its name; neither a link nor a pipe without a writer is followed or waited
/// for.
fn read(path: &Path) -> Result<Vec<u8>, Unusable> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Unusable::NotAFile);
    }
    ours_alone(&found).map_err(Unusable::NotOurs)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether this user, and nobody else, can have put in it what is there.
fn ours_alone(found: &Metadata) -> Result<(), &'static str> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user");
    }
    if found.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err("others can write to it");
    }
    Ok(())
}

/// What is in the directory is run as machine code: it must be ours alone.
fn prepare(dir: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| format!("it can't be made: {error}"))?;
    let found = fs::metadata(dir).map_err(|error| format!("it can't be looked at: {error}"))?;
    if !found.is_dir() {
        return Err("it is not a directory".into());
    }
    ours_alone(&found).map_err(|reason| format!("{reason}; `chmod 700` makes one that is yours usable"))
}
