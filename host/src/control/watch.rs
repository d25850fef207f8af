//! Hears that something happens in directories. Directories, not files: editors and deployments put a new file in the
//! place of the old one, or swap a link above it. Knows nothing of what the files mean, and whether they changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// What counts: a file was written and closed, made, renamed or removed. Reading is no change, and a log that is
/// written to without being closed says nothing.
const CHANGES: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Directories that are listened to: none until it is told some.
#[derive(Debug)]
pub(super) struct Watch {
    heard: OwnedFd,
    followed: BTreeMap<PathBuf, i32>,
}

impl Watch {
    /// # Errors
    /// The system has no more of what it takes.
    pub(super) fn new() -> io::Result<Self> {
        let heard = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self { heard, followed: BTreeMap::new() })
    }

    /// Listens to these directories and the directories of these files from now on, and to no others.
    pub(super) fn follow<'a>(&mut self, paths: impl IntoIterator<Item = &'a Path>) {
        let earlier = std::mem::take(&mut self.followed);
        for directory in paths.into_iter().flat_map(directories) {
            // Asked for again where it was: the directory of that name may be a new one.
            match inotify::add_watch(&self.heard, &directory, CHANGES) {
                Ok(id) => drop(self.followed.insert(directory, id)),
                Err(error) => {
                    tracing::debug!(directory = %directory.display(), %error, "directory can't be watched");
                }
            }
        }
        for id in earlier.values().filter(|id| self.followed.values().all(|kept| kept != *id)) {
            // One that was removed is listened to no more anyway.
            let _ = inotify::remove_watch(&self.heard, *id);
        }
    }

    /// Takes all that was heard so far; whether that was anything. Never waits.
    pub(super) fn listen(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.heard, &mut buffer);
        let mut heard = false;
        loop {
            match reader.next() {
                Ok(_) => heard = true,
                Err(Errno::INTR) => {}
                Err(_) => return heard,
            }
        }
    }
}

/// The directory of a file, also where a link to it leads; a directory itself, too.
fn directories(path: &Path) -> Vec<PathBuf> {
    let parent = |path: &Path| match path.parent() {
        Some(parent) if parent == Path::new("") => Some(PathBuf::from(".")),
        parent => parent.map(Path::to_owned),
    };
    let itself = fs::metadata(path).is_ok_and(|found| found.is_dir()).then(|| path.to_owned());
    let target = fs::canonicalize(path).ok().and_then(|target| parent(&target));
    parent(path).into_iter().chain(target).chain(itself).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_heard_and_reading_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("real/a"), dir.path().join("link"));
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::write(&file, "1").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut watch = Watch::new().unwrap();
        watch.follow([link.as_path()]);
        let check = |watch: &Watch, what: &str, change: &dyn Fn(), expected: bool| {
            change();
            assert_eq!(watch.listen(), expected, "{what}");
        };
        check(&watch, "nothing", &|| {}, false);
        check(&watch, "reading", &|| drop(fs::read(&file).unwrap()), false);
        check(&watch, "writing behind the link", &|| fs::write(&file, "2").unwrap(), true);
        check(&watch, "replacing the link", &|| fs::rename(&link, dir.path().join("other")).unwrap(), true);
        watch.follow([]);
        // What the end of the watches themselves says.
        let _ = watch.listen();
        check(&watch, "nobody listens", &|| fs::write(&file, "3").unwrap(), false);
    }
}
