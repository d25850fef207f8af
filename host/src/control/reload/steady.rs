//! Whether files are at rest: a file that is being copied or edited is read once that is over. Knows nothing of
//! what is in them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How long a file must not have changed: far longer than the time between two writes of a copy.
pub(super) const QUIET: Duration = Duration::from_millis(100);

/// Files as they were at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Files(Vec<(PathBuf, Option<Mark>)>);

/// What differs as soon as a file was written to or replaced.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    inode: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
    /// Of the inode, in seconds and nanoseconds: a copy that keeps the time of its origin has one of its own here.
    changed: (i64, i64),
}

impl Files {
    /// Looks at them. One that is not there is part of the picture.
    pub(super) fn look(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mark = |path: &PathBuf| {
            let found = fs::metadata(path).ok()?;
            Some(Mark {
                inode: (found.dev(), found.ino()),
                length: found.len(),
                modified: found.modified().ok(),
                changed: (found.ctime(), found.ctime_nsec()),
            })
        };
        Self(paths.into_iter().map(|path| (mark(&path), path)).map(|(mark, path)| (path, mark)).collect())
    }

    /// Whether they still are as they were.
    pub(super) fn are_the_same(&self) -> bool {
        *self == Self::look(self.0.iter().map(|(path, _)| path.clone()))
    }

    /// How long to wait until whatever changed shortly before `now` can be taken as done; zero if nothing did.
    pub(super) fn unrest(&self, now: SystemTime) -> Duration {
        let times = self.0.iter().filter_map(|(_, mark)| mark.as_ref()?.modified);
        // A time in the future says nothing: clocks differ.
        let ages = times.filter_map(|time| now.duration_since(time).ok());
        ages.min().map_or(Duration::ZERO, |age| QUIET.saturating_sub(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_just_written_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "1").unwrap();
        let files = Files::look([path.clone(), dir.path().join("absent")]);
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let check = |after: Duration, expected: Duration| {
            assert_eq!(files.unrest(written + after), expected, "{after:?}");
        };
        check(Duration::ZERO, QUIET);
        check(QUIET / 4, QUIET * 3 / 4);
        check(QUIET, Duration::ZERO);
        assert_eq!(files.unrest(written - Duration::from_secs(1)), Duration::ZERO, "a clock that is ahead");
    }

    #[test]
    fn a_change_is_seen_whatever_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a"), dir.path().join("b"));
        let check = |change: &dyn Fn(), differs: bool| {
            let before = Files::look([path.clone()]);
            change();
            assert_eq!(!before.are_the_same(), differs);
        };
        check(&|| {}, false);
        check(&|| fs::write(&path, "1").unwrap(), true);
        check(&|| fs::write(&path, "12").unwrap(), true);
        check(&|| fs::write(&other, "12").unwrap(), false);
        check(&|| fs::rename(&other, &path).unwrap(), true);
        check(&|| fs::remove_file(&path).unwrap(), true);
    }
}
