//! The layers of the host: a module knows those below it and no others, and some crates stay in one place.

use std::collections::BTreeSet;

use regex::Regex;

use crate::source::{Source, none, rust_files};

/// A module of the host and the modules of the host that it may know.
const LAYERS: [(&str, &[&str]); 17] = [
    // L0: pure, and blind to everything.
    ("ids", &[]),
    ("phase", &[]),
    ("budget", &[]),
    ("target", &[]),
    ("cookie", &[]),
    ("log_field", &[]),
    // L1
    ("config", L0),
    // L2
    ("observe", L0),
    // L3: blind to each other.
    ("listener", BELOW_3),
    ("route", BELOW_3),
    ("plugin", BELOW_3),
    ("upstream", BELOW_3),
    // L4
    ("snapshot", BELOW_4),
    // L5
    ("proxy", BELOW_5),
    // L6
    ("control", BELOW_5),
    // L7
    ("server", BELOW_7),
    ("cli", TOP),
];

const L0: &[&str] = &["ids", "phase", "budget", "target", "cookie", "log_field"];
const BELOW_3: &[&str] = &["ids", "phase", "budget", "target", "cookie", "log_field", "config", "observe"];
const BELOW_4: &[&str] = &[
    "ids",
    "phase",
    "budget",
    "target",
    "cookie",
    "log_field",
    "config",
    "observe",
    "listener",
    "route",
    "plugin",
    "upstream",
];
const BELOW_5: &[&str] = &[
    "ids",
    "phase",
    "budget",
    "target",
    "cookie",
    "log_field",
    "config",
    "observe",
    "listener",
    "route",
    "plugin",
    "upstream",
    "snapshot",
];
const BELOW_7: &[&str] = &[
    "ids",
    "phase",
    "budget",
    "target",
    "cookie",
    "log_field",
    "config",
    "observe",
    "listener",
    "route",
    "plugin",
    "upstream",
    "snapshot",
    "proxy",
    "control",
];
const TOP: &[&str] = &[
    "ids",
    "phase",
    "budget",
    "target",
    "cookie",
    "log_field",
    "config",
    "observe",
    "listener",
    "route",
    "plugin",
    "upstream",
    "snapshot",
    "proxy",
    "control",
    "server",
];

/// A crate, and the modules that must not know it.
const CRATES: [(&str, &[&str]); 4] = [
    (
        "wasmtime",
        &[
            "ids",
            "phase",
            "budget",
            "target",
            "cookie",
            "log_field",
            "config",
            "observe",
            "listener",
            "route",
            "upstream",
            "snapshot",
            "proxy",
            "control",
            "server",
            "cli",
            "main",
            "lib",
        ],
    ),
    (
        "wasmtime_wasi",
        &[
            "ids",
            "phase",
            "budget",
            "target",
            "cookie",
            "log_field",
            "config",
            "observe",
            "listener",
            "route",
            "upstream",
            "snapshot",
            "proxy",
            "control",
            "server",
            "cli",
            "main",
            "lib",
        ],
    ),
    (
        "pingora",
        &[
            "ids",
            "phase",
            "budget",
            "target",
            "cookie",
            "log_field",
            "config",
            "observe",
            "route",
            "plugin",
            "snapshot",
            "main",
        ],
    ),
    ("tokio", &["ids", "phase", "budget", "target", "cookie", "log_field", "config", "route", "main"]),
];

/// The top module that a file of the host belongs to.
fn module(path: &str) -> &str {
    let inside = path.strip_prefix("host/src/").unwrap_or(path);
    let first = inside.split('/').next().unwrap_or(inside);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The modules of its own crate that code names, in paths and in groups of `use`.
fn known(code: &str) -> BTreeSet<String> {
    let path = Regex::new(r"\bcrate::(\w+|\{)").expect("a pattern");
    let mut names = BTreeSet::new();
    for found in path.captures_iter(code) {
        let name = found.get(1).expect("a group");
        if name.as_str() == "{" {
            names.extend(group(code.get(name.end()..).unwrap_or_default()));
        } else {
            names.insert(name.as_str().to_owned());
        }
    }
    names
}

/// The first names of a `use` group, from behind its brace.
fn group(code: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut names = vec![String::new()];
    let mut taking = true;
    for letter in code.chars() {
        match letter {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(String::new());
                taking = true;
            }
            ':' => taking = false,
            letter if taking && (letter.is_alphanumeric() || letter == '_') => {
                if let Some(name) = names.last_mut() {
                    name.push(letter);
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// What a file of the host knows and should not.
fn mistakes(file: &Source) -> Vec<String> {
    let module = module(&file.path);
    let code = file.code();
    let mut found = Vec::new();
    if let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) {
        for name in known(&code) {
            let is_module = LAYERS.iter().any(|(layer, _)| *layer == name);
            if is_module && name != module && !allowed.contains(&name.as_str()) {
                found.push(format!("{} knows `crate::{name}`", file.path));
            }
        }
    }
    for (name, forbidden) in CRATES {
        let used =
            Regex::new(&format!(r"\b{name}::|\buse {name}\b|\bextern crate {name}\b")).expect("a pattern");
        if forbidden.contains(&module) && used.is_match(&code) {
            found.push(format!("{} knows the crate `{name}`", file.path));
        }
    }
    found
}

#[test]
fn modules_know_only_what_is_below_them() {
    let found: Vec<String> = rust_files("host/src").iter().flat_map(mistakes).collect();
    none("layers that are broken", &found);
}

#[test]
fn every_module_has_its_layer() {
    let homeless: BTreeSet<String> = rust_files("host/src")
        .iter()
        .map(|file| module(&file.path).to_owned())
        .filter(|name| {
            !["main", "lib"].contains(&name.as_str()) && LAYERS.iter().all(|(layer, _)| layer != name)
        })
        .collect();
    none("modules that are in no layer", &Vec::from_iter(homeless));
}

#[test]
fn wasmtime_stays_behind_the_plugin_module() {
    // A public item that has one of its types would let it out.
    let public =
        Regex::new(r"(?m)^\s*pub (fn|struct|type|enum|use)[^;{]*\bwasmtime(_wasi)?::").expect("a pattern");
    let leaks: Vec<String> = rust_files("host/src")
        .iter()
        .filter(|file| file.path == "host/src/plugin.rs" && public.is_match(&file.code()))
        .map(|file| file.path.clone())
        .collect();
    none("Wasmtime's types in the facade of `plugin`", &leaks);
}

#[test]
fn the_reader_of_paths_reads_paths() {
    let check = |code: &str, expected: &[&str]| {
        assert_eq!(Vec::from_iter(known(code)), expected, "{code}");
    };
    check("use crate::ids::RouteId;", &["ids"]);
    check("use crate::{ids, phase::Phase, config::{model::Config, raw}};", &["config", "ids", "phase"]);
    check("use crate::{\n    a::{b, c},\n    d,\n};", &["a", "d"]);
    check("let x = crate::target::normalize(y);", &["target"]);
    check("pub(crate) fn x() { super::y() }", &[]);
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let count = |path: &str, text: &str| mistakes(&source(path, text)).len();
    assert_eq!(count("host/src/route/a.rs", "use crate::plugin::Chain;"), 1);
    assert_eq!(
        count("host/src/route/a.rs", "// crate::plugin\n#[cfg(test)]\nmod tests { use crate::plugin; }"),
        0
    );
    assert_eq!(count("host/src/proxy.rs", "use crate::plugin::Chain;\nfn a(s: wasmtime::Store) {}"), 1);
    assert_eq!(count("host/src/plugin/call.rs", "use pingora::Error;"), 1);
    assert_eq!(count("host/src/ids.rs", "use crate::phase::Phase;"), 1);
}
