//! What stands at a path where a file is wanted. Opens nothing: opening a named pipe waits for its other end.

use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What is there that is no regular file, as the end of a sentence: `is a directory`. Links are followed.
/// `None` for a regular file, and where nothing is or can be seen.
pub(crate) fn odd(path: &Path) -> Option<String> {
    match fs::metadata(path) {
        Ok(found) => kind(found.file_type()).map(|kind| format!("is {kind}")),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {
            let target = fs::read_link(path).ok()?;
            Some(format!("is a link to `{}`, which is not there", target.display()))
        }
        Err(reason) if path.symlink_metadata().is_ok() => Some(format!("can't be followed: {reason}")),
        Err(_) => None,
    }
}

/// A kind of file with its article; `None` for a regular one.
pub(crate) fn kind(file: FileType) -> Option<&'static str> {
    match file {
        file if file.is_file() => None,
        file if file.is_dir() => Some("a directory"),
        file if file.is_fifo() => Some("a named pipe"),
        file if file.is_socket() => Some("a socket"),
        file if file.is_block_device() || file.is_char_device() => Some("a device"),
        _ => Some("no regular file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("dir")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), mode).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (link, target) in
            [("to-file", "file"), ("to-pipe", "pipe"), ("to-nothing", "gone"), ("loop", "loop")]
        {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let check = |name: &str, expected: Option<&str>| {
            let got = odd(&at(name));
            let fits = match (&got, expected) {
                (Some(got), Some(start)) => got.starts_with(start),
                (got, expected) => got.is_none() && expected.is_none(),
            };
            assert!(fits, "{name}: {got:?} and not {expected:?}");
        };
        check("file", None);
        check("to-file", None);
        check("nothing", None);
        check("dir", Some("is a directory"));
        check("pipe", Some("is a named pipe"));
        check("to-pipe", Some("is a named pipe"));
        check("socket", Some("is a socket"));
        check("to-nothing", Some("is a link to `gone`, which is not there"));
        check("loop", Some("can't be followed"));
        assert_eq!(odd(Path::new("/dev/null")).as_deref(), Some("is a device"));
    }
}
