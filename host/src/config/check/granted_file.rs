//! `grants.files` of a manifest: read whole when the manifest is, so that a call reads no file and what a plugin
//! sees changes with a reload alone. Must not know what is in them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::GrantedFile;
use crate::config::scope::Scope;
use crate::config::{codes, defaults, file_kind};

/// The files that can be granted. `base` is the directory of the manifest.
pub(super) fn files(scope: &mut Scope, names: Vec<Spanned<String>>, base: &Path) -> Vec<GrantedFile> {
    let (mut files, mut taken, mut room) = (Vec::new(), BTreeSet::new(), defaults::GRANTED_FILES);
    for name in names {
        let span = name.span();
        let name = name.into_inner();
        if !taken.insert(name.clone()) {
            let found =
                refused(format!("`{}` is granted twice", name.escape_debug()), "leave one of them out");
            scope.report(span, found);
            continue;
        }
        if let Some(file) = scope.keep(span, file(name, base, room)) {
            room = room.saturating_sub(file.content.len() as u64);
            files.push(file);
        }
    }
    files
}

fn refused(message: String, help: &str) -> Diagnostic {
    Diagnostic::error(codes::BAD_GRANTED_FILE, message).with_help(help)
}

fn file(name: String, base: &Path, room: u64) -> Result<GrantedFile, Diagnostic> {
    if !is_inside(&name) {
        let message = format!("`{}` is no path below the directory of the manifest", name.escape_debug());
        return Err(refused(
            message,
            "for example `files = [\"lists/blocked.txt\"]`, without `.`, `..` and a `/` in front",
        ));
    }
    let path = base.join(&name);
    let shown = path.display();
    // A pipe would be waited for.
    if let Some(odd) = file_kind::odd(&path) {
        return Err(refused(format!("`{shown}` {odd}"), "name a regular file"));
    }
    let content = target(&path, base).and_then(|target| {
        let mut bytes = Vec::new();
        File::open(target)?.take(room + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match content {
        Ok(bytes) if bytes.len() as u64 > room => {
            let most = defaults::GRANTED_FILES >> 20;
            Err(refused(
                format!("with `{shown}`, the files have more than {most} MiB"),
                "they are kept in memory: ask a service for what is larger",
            ))
        }
        Ok(bytes) => Ok(GrantedFile { name, path, content: Bytes::from(bytes) }),
        Err(reason) => Err(refused(
            format!("`{shown}` can't be read: {reason}"),
            "files are named relative to the manifest, and lie in its directory or below",
        )),
    }
}

/// Whether it is the normal form of a path that leads down.
fn is_inside(name: &str) -> bool {
    let down = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\0', '\\']);
    name.split('/').all(down)
}

/// Where the path leads in the end. A manifest may come with a plugin from elsewhere: a link in it must not lead
/// to what lies outside.
fn target(path: &Path, base: &Path) -> std::io::Result<PathBuf> {
    let base = if base == Path::new("") { Path::new(".") } else { base };
    let (target, base) = (fs::canonicalize(path)?, fs::canonicalize(base)?);
    if target.starts_with(base) {
        return Ok(target);
    }
    Err(std::io::Error::other("a link leads out of the directory of the manifest"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_lead_down() {
        fn check(name: &str, expected: bool) {
            assert_eq!(is_inside(name), expected, "{name:?}");
        }
        check("a.txt", true);
        check("lists/.hidden/a", true);
        check("", false);
        check("/etc/passwd", false);
        check("../a", false);
        check("a/../b", false);
        check("./a", false);
        check("a//b", false);
        check("a/", false);
        check("a\\..\\b", false);
        check("a\0", false);
    }

    #[test]
    fn links_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let (base, outside) = (dir.path().join("plugins"), dir.path().join("secret"));
        fs::create_dir_all(base.join("data")).unwrap();
        fs::write(base.join("data/a"), "inside").unwrap();
        fs::write(&outside, "outside").unwrap();
        symlink("data/a", base.join("link")).unwrap();
        symlink(&outside, base.join("absolute")).unwrap();
        symlink("../secret", base.join("relative")).unwrap();
        symlink("..", base.join("up")).unwrap();
        let read = |name: &str| file(name.to_owned(), &base, 100).map(|file| file.content);
        assert_eq!(read("data/a").unwrap(), "inside");
        assert_eq!(read("link").unwrap(), "inside");
        for escape in ["absolute", "relative", "up/secret"] {
            let refused = read(escape).unwrap_err();
            assert!(refused.message.contains("a link leads out"), "{escape}: {}", refused.message);
        }
        assert!(read("data").unwrap_err().message.contains("is a directory"));
        assert!(read("gone").unwrap_err().message.contains("can't be read"));
    }

    #[test]
    fn all_of_them_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "12345").unwrap();
        let read = |room| file("a".to_owned(), dir.path(), room);
        assert!(read(5).is_ok());
        assert!(read(4).unwrap_err().message.contains("more than 64 MiB"));
    }
}
