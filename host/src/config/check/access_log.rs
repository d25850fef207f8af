//! `[access-log]` and `[admin]`.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{EndKind, Taken, log_format, names};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{AccessLog, Admin, LogSink};
use crate::config::recover::Section;
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, file_kind, raw, scalar, suggest};

/// Nothing where it is turned off.
pub(crate) fn access_log(scope: &mut Scope, raw: raw::AccessLog, base: &Path) -> Option<AccessLog> {
    let default = defaults::access_log();
    let format = log_format::log_format(scope, raw.format, raw.fields);
    let sample = scope.value(raw.sample, default.sample, scalar::percent);
    let enabled = raw.enabled.unwrap_or(true);
    let sink = scope.value(raw.path, default.sink, |text| match text.as_str() {
        "" => Err(Diagnostic::error(codes::EMPTY_VALUE, "`path` is empty")
            .with_help("write `\"stdout\"`, `\"stderr\"` or a file")),
        "stdout" => Ok(LogSink::Stdout),
        "stderr" => Ok(LogSink::Stderr),
        text => {
            not_a_slip(text)?;
            let file = base.join(text);
            // What is turned off needs no directory.
            if enabled {
                writable(text, &file)?;
            }
            Ok(LogSink::File(file))
        }
    });
    let attributes = scope.entries(raw.attributes.unwrap_or_default(), |text| names::attribute(text));
    enabled.then_some(AccessLog { sink, format, sample, attributes })
}

/// `Stdout` would be a file of that name.
fn not_a_slip(text: &str) -> Result<(), Diagnostic> {
    let words = ["stdout", "stderr"];
    let folded = text.to_ascii_lowercase();
    if !words.contains(&folded.as_str()) {
        return Ok(());
    }
    let rest = format!("a file of that name is `./{text}`");
    Err(Diagnostic::error(codes::UNKNOWN_WORD, format!("unknown word `{text}`"))
        .with_help(suggest::help(&folded, words, &rest)))
}

/// Refuses what can't be opened to append to, or is no file. Creates nothing.
fn writable(text: &str, file: &Path) -> Result<(), Diagnostic> {
    let refused = |message: String, help: &str| {
        Err(Diagnostic::error(codes::BAD_LOG_FILE, message).with_help(help.to_owned()))
    };
    if text.ends_with('/') {
        return refused(format!("`{text}` is a directory"), "name a file in it");
    }
    match fs::metadata(file) {
        Ok(found) => match file_kind::kind(found.file_type()) {
            Some(kind) if found.is_dir() => refused(format!("`{text}` is {kind}"), "name a file in it"),
            Some(kind) if !may_be_written(file, &found) => {
                let help =
                    "name a regular file, or write `\"stdout\"` and start the proxy with a pipe behind it";
                refused(format!("`{text}` is {kind}"), help)
            }
            _ => Ok(()),
        },
        Err(_) => {
            let file = behind_link(file);
            let parent = match file.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            // Where the parent can't be seen, the one who checks may not be the one who runs.
            match fs::metadata(parent) {
                Err(reason) if reason.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
                Ok(found) if found.is_dir() => Ok(()),
                _ => refused(
                    format!("there is no directory `{}`", parent.display()),
                    "make the directory: the proxy makes only the file",
                ),
            }
        }
    }
}

/// Devices (`/dev/null`), and the process's own standard output as a path (`/dev/stdout`): what that leads to
/// has no path of its own, which a pipe with a name has.
fn may_be_written(file: &Path, found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    kind.is_char_device() || (kind.is_fifo() && fs::canonicalize(file).is_err())
}

/// Where the file would be made that a link leads to.
fn behind_link(file: &Path) -> PathBuf {
    match fs::read_link(file) {
        Ok(target) => file.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => file.to_owned(),
    }
}

pub(crate) fn admin(
    scope: &mut Scope,
    taken: &mut Taken,
    span: Range<usize>,
    section: Section<raw::Admin>,
) -> Option<Admin> {
    let Some(field) = section.value.address else {
        scope.missing(span, &section.lost, ("admin", "address"), "`[admin]` has no `address`");
        return None;
    };
    let address = scope.keep(field.span(), address::listen(field.get_ref(), 9901))?;
    taken.take(scope, EndKind::Admin, address, scope.place(field.span()));
    Some(Admin { address })
}
