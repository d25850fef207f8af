//! Reading a file of the configuration: bounded, and only as text. Knows nothing of TOML.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Place, SourceFile};
use super::{codes, file_kind};

/// The most that a file may have, in bytes: far more than a file that people keep, far less than what
/// would fill the memory when a wrong path is given.
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a file whole.
///
/// # Errors
/// It can't be read, is no regular file (which is never opened: a pipe would wait for its other end), is too
/// large or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
    let unreadable = |reason: &std::io::Error| {
        Diagnostic::error(codes::UNREADABLE, format!("`{}` can't be read: {reason}", path.display()))
    };
    if let Some(odd) = file_kind::odd(path) {
        let message = format!("`{}` {odd}", path.display());
        return Err(Diagnostic::error(codes::UNREADABLE, message).with_help("name a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|reason| unreadable(&reason))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{}` has more than 16 MiB", path.display());
        return Err(Diagnostic::error(codes::TOO_LARGE, message).with_help("is it the right file?"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::new(SourceFile::new(path, text))),
        Err(error) => Err(not_utf8(path, error.utf8_error().valid_up_to(), error.as_bytes())),
    }
}

/// Shows the line up to the byte that is not text.
fn not_utf8(path: &Path, offset: usize, bytes: &[u8]) -> Diagnostic {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let end = offset + char::REPLACEMENT_CHARACTER.len_utf8();
    let file = Arc::new(SourceFile::new(path, text));
    Diagnostic::error(codes::NOT_UTF8, "this is not UTF-8")
        .at(Place { file, start: offset, end })
        .with_help("save the file as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_most_bytes_is_read_and_one_more_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edgewright.toml");
        let file = File::create(&path).unwrap();
        file.set_len(MAX_BYTES).unwrap();
        assert!(read(&path).is_ok());
        file.set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read(&path).unwrap_err().code, codes::TOO_LARGE);
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edgewright.toml");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        let found = read(&path).unwrap_err();
        assert_eq!(found.code, codes::UNREADABLE);
        assert!(found.message.ends_with("is a named pipe"), "{}", found.message);
    }
}
