//! The file of a fixed response: read whole when the configuration is, so that a request reads no file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;

use crate::config::diagnostic::Diagnostic;
use crate::config::{codes, file_kind};

/// It is kept in memory: a page or an image, not a download.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a body without a `content-type` of its own is.
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// By the end of the file's name.
const TYPES: [(&str, &str); 12] = [
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", TEXT),
    ("xml", "application/xml"),
];

/// The file's bytes.
pub(super) fn read(base: &Path, text: &str) -> Result<Bytes, Diagnostic> {
    let path = base.join(text);
    let refused =
        |message: String, help: &str| Err(Diagnostic::error(codes::BAD_BODY_FILE, message).with_help(help));
    let shown = path.display();
    // A pipe would be waited for.
    if let Some(odd) = file_kind::odd(&path) {
        return refused(format!("`{shown}` {odd}"), "name a regular file");
    }
    let mut bytes = Vec::new();
    match File::open(&path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() as u64 > MAX_BYTES => {
            refused(format!("`{shown}` has more than 1 MiB"), "serve large files from an upstream")
        }
        Ok(_) => Ok(bytes.into()),
        Err(reason) => refused(
            format!("`{shown}` can't be read: {reason}"),
            "`file` is relative to the configuration file",
        ),
    }
}

/// What a file of that name holds.
pub(super) fn content_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == extension).map_or("application/octet-stream", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_type() {
        let check = |name: &str, expected: &str| assert_eq!(content_type(name), expected, "{name}");
        check("pages/down.HTML", "text/html; charset=utf-8");
        check("a.tar.gz", "application/octet-stream");
        check("robots.txt", "text/plain; charset=utf-8");
        check("LICENSE", "application/octet-stream");
    }

    #[test]
    fn large_files_and_pipes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("page")).unwrap();
        file.set_len(MAX_BYTES).unwrap();
        assert_eq!(read(dir.path(), "page").map(|bytes| bytes.len() as u64), Ok(MAX_BYTES));
        file.set_len(MAX_BYTES + 1).unwrap();
        assert!(read(dir.path(), "page").unwrap_err().message.contains("1 MiB"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), mode).unwrap();
        assert!(read(dir.path(), "pipe").unwrap_err().message.contains("a named pipe"));
        assert!(read(dir.path(), "gone").is_err());
    }
}
