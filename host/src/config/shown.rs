//! What a configuration says, for operators: the file and the manifests as they were read, without what may be
//! secret. Knows no key but those that hold secrets.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::diagnostic::SourceFile;
use super::model::Plugin;
use super::{json, source};

/// What stands in the place of what is not shown.
const HIDDEN: &str = "***";

/// Tables whose texts are hidden: what plugins are told, and fields that requests are known by or sent on with, which
/// often are credentials. Their keys, numbers and truth values are shown.
const SECRETIVE: &[&str] =
    &["config", "header", "headers", "query", "cookie", "request-headers", "response-headers"];

/// Parts of the names of keys that hold a secret wherever they are.
const TELLING: &[&str] = &["secret", "token", "password", "credential", "authorization"];

/// Keys whose text is a target or URL: what is behind its `?` or `#` is hidden.
const TARGETS: &[&str] = &["to"];

/// Keys whose text is hidden, where it is one: the content of a fixed answer. (A manifest's `body` is a table.)
const CONTENTS: &[&str] = &["body"];

/// Whether texts are shown.
#[derive(Clone, Copy)]
enum Texts {
    Shown,
    Hidden,
}

/// A target or URL without what may be secret in its query or fragment.
pub(crate) fn target(text: &str) -> Cow<'_, str> {
    match text.find(['?', '#']).and_then(|at| text.get(..=at)) {
        Some(start) if start.len() < text.len() => Cow::Owned(format!("{start}{HIDDEN}")),
        _ => Cow::Borrowed(text),
    }
}

/// The configuration of a file and of its plugins.
pub(crate) fn of(file: &SourceFile, plugins: &[Plugin]) -> Value {
    let manifests: Map<String, Value> = plugins
        .iter()
        .filter_map(|plugin| Some((plugin.name.to_string(), manifest(&plugin.file)?)))
        .collect();
    json!({ "file": file.path.to_string_lossy(), "config": table(&file.text), "manifests": manifests })
}

/// The configuration of flags.
pub(crate) fn of_flags(to: &str, plugins: &[Plugin]) -> Value {
    let plugins: Vec<_> = plugins.iter().map(|plugin| plugin.file.to_string_lossy()).collect();
    json!({ "to": to, "plugins": plugins })
}

fn manifest(component: &Path) -> Option<Value> {
    let file = source::read(&component.with_extension("toml")).ok()?;
    Some(table(&file.text))
}

fn table(text: &str) -> Value {
    let read = text.parse().ok().and_then(|table: toml::Table| json::object(&table).ok());
    let mut value = Value::Object(read.unwrap_or_default());
    hide(&mut value, Texts::Shown);
    value
}

fn hide(value: &mut Value, texts: Texts) {
    match (value, texts) {
        (Value::Object(table), _) => {
            for (key, value) in table {
                let hidden = SECRETIVE.contains(&key.as_str());
                if TELLING.iter().any(|part| key.contains(part)) {
                    *value = Value::String(HIDDEN.to_owned());
                } else if let (Value::String(text), true) = (&mut *value, TARGETS.contains(&key.as_str())) {
                    *text = target(text).into_owned();
                } else if let (Value::String(text), true) = (&mut *value, CONTENTS.contains(&key.as_str())) {
                    HIDDEN.clone_into(text);
                } else {
                    hide(value, if hidden { Texts::Hidden } else { texts });
                }
            }
        }
        (Value::Array(items), _) => items.iter_mut().for_each(|item| hide(item, texts)),
        (Value::String(text), Texts::Hidden) => HIDDEN.clone_into(text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_is_shown() {
        let check = |text: &str, expected: Value| assert_eq!(table(text), expected, "{text}");
        check("server.grace = '1s'", json!({ "server": { "grace": "1s" } }));
        check(
            "[[routes]]\nplugins = [{ name = 'a', config = { keys = ['k'], percent = 5, x.y = 's' } }]",
            json!({ "routes": [{ "plugins": [
                { "name": "a", "config": { "keys": ["***"], "percent": 5, "x": { "y": "***" } } },
            ] }] }),
        );
        check(
            "match = { path = '/x', header = { x-key = 's' } }\nrequest-headers.set.authorization = 's'",
            json!({
                "match": { "path": "/x", "header": { "x-key": "***" } },
                "request-headers": { "set": { "authorization": "***" } },
            }),
        );
        check(
            "redirect.to = 'https://{host}/x?key=s'\npath.rewrite.to = '/y?key={1}'\nrespond.body = 's'",
            json!({
                "redirect": { "to": "https://{host}/x?***" },
                "path": { "rewrite": { "to": "/y?***" } },
                "respond": { "body": "***" },
            }),
        );
        check(
            "redirect.to = '/x#'\nbody.request = 'none'",
            json!({ "redirect": { "to": "/x#" }, "body": { "request": "none" } }),
        );
        check(
            "admin-token = 5\ntls.key = 'a.key'",
            json!({ "admin-token": "***", "tls": { "key": "a.key" } }),
        );
    }
}
