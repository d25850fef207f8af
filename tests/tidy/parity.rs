//! The contract has a place for each of its items in the host and in the SDK, and each item is documented.

use std::path::PathBuf;

use edgewright_tests::component::repository;
use wit_parser::{Docs, Function, Interface, Resolve, WorldId, WorldItem};

use crate::source::{none, shown};

fn contract() -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(repository().join("wit")).unwrap_or_else(|error| panic!("{error:#}"));
    let world = resolve.select_world(&[package], Some("plugin")).unwrap_or_else(|error| panic!("{error:#}"));
    (resolve, world)
}

/// The named interfaces of the world `plugin`.
fn interfaces<'a>(
    resolve: &'a Resolve,
    items: impl IntoIterator<Item = &'a WorldItem>,
) -> Vec<(&'a str, &'a Interface)> {
    let items = items.into_iter().filter_map(|item| match item {
        WorldItem::Interface { id, .. } => resolve.interfaces.get(*id),
        _ => None,
    });
    items.filter_map(|interface| Some((interface.name.as_deref()?, interface))).collect()
}

fn imported(resolve: &Resolve, world: WorldId) -> Vec<(&str, &Interface)> {
    let mut found = interfaces(resolve, resolve.worlds.get(world).expect("a world").imports.values());
    // Nothing but types.
    found.retain(|(name, _)| *name != "types");
    found
}

fn exported(resolve: &Resolve, world: WorldId) -> Vec<(&str, &Interface)> {
    interfaces(resolve, resolve.worlds.get(world).expect("a world").exports.values())
}

/// A name of the contract as Rust spells it.
fn rust(name: &str) -> String {
    name.replace('-', "_")
}

/// Complains where a file has no function of that name.
fn has_functions<'a>(
    file: &PathBuf,
    functions: impl IntoIterator<Item = &'a Function>,
    mistakes: &mut Vec<String>,
) {
    let Ok(text) = std::fs::read_to_string(file) else {
        mistakes.push(format!("no `{}`", shown(file)));
        return;
    };
    for function in functions {
        let name = rust(&function.name);
        let named = ["(", "<"].iter().any(|next| text.contains(&format!("fn {name}{next}")));
        // The SDK may hand a binding on as it is.
        let passed_on = text.contains(&format!("use wit_{name}")) || text.contains(&format!("::{name};"));
        if !named && !passed_on {
            mistakes.push(format!("`{}` has no `fn {name}`", shown(file)));
        }
    }
}

#[test]
fn every_import_is_a_file_of_the_host_and_of_the_sdk() {
    let (resolve, world) = contract();
    let mut mistakes = Vec::new();
    for (name, interface) in imported(&resolve, world) {
        let file = format!("{}.rs", rust(name));
        let functions = || interface.functions.values();
        has_functions(&repository().join("host/src/plugin/imports").join(&file), functions(), &mut mistakes);
        has_functions(&repository().join("guest-sdk/src").join(&file), functions(), &mut mistakes);
    }
    none("imports without a place", &mistakes);
}

#[test]
fn every_phase_is_a_file_of_the_host_and_a_method_of_the_sdk() {
    let (resolve, world) = contract();
    let mut mistakes = Vec::new();
    let phases = std::fs::read_to_string(repository().join("host/src/phase.rs")).unwrap_or_default();
    for (name, interface) in exported(&resolve, world) {
        let functions = interface.functions.values();
        has_functions(&repository().join("guest-sdk/src/plugin.rs"), functions.clone(), &mut mistakes);
        let Some(phase) = name.strip_suffix("-filter") else { continue };
        let file = repository().join("host/src/plugin/call").join(format!("{}.rs", rust(phase)));
        if !file.is_file() {
            mistakes.push(format!("no `{}`", shown(&file)));
        }
        for said in [name].into_iter().chain(functions.map(|function| function.name.as_str())) {
            if !phases.contains(&format!("\"{said}\"")) {
                mistakes.push(format!("`host/src/phase.rs` doesn't say `{said}`"));
            }
        }
    }
    none("phases without a place", &mistakes);
}

#[test]
fn every_interface_has_its_file_and_its_line_in_the_readme() {
    let (resolve, world) = contract();
    let readme = std::fs::read_to_string(repository().join("wit/README.md")).expect("a README");
    let mut mistakes = Vec::new();
    for (name, _) in imported(&resolve, world).into_iter().chain(exported(&resolve, world)) {
        if !repository().join(format!("wit/{name}.wit")).is_file() {
            mistakes.push(format!("no `wit/{name}.wit`"));
        }
        if !readme.contains(&format!("`{name}.wit`")) {
            mistakes.push(format!("`wit/README.md` doesn't list `{name}.wit`"));
        }
    }
    none("interfaces without a place", &mistakes);
}

#[test]
fn every_item_of_the_contract_is_documented() {
    let (resolve, _) = contract();
    let bare = |docs: &Docs| docs.contents.as_deref().is_none_or(|text| text.trim().is_empty());
    let mut mistakes = Vec::new();
    for (_, interface) in &resolve.interfaces {
        let name = interface.name.as_deref().unwrap_or_default();
        if bare(&interface.docs) {
            mistakes.push(name.to_owned());
        }
        mistakes.extend(
            interface
                .functions
                .values()
                .filter(|one| bare(&one.docs))
                .map(|one| format!("{name}.{}", one.name)),
        );
        for (type_name, id) in &interface.types {
            let kind = resolve.types.get(*id).expect("a type");
            // What is taken over by `use` is documented where it is made.
            let taken_over = matches!(kind.kind, wit_parser::TypeDefKind::Type(wit_parser::Type::Id(_)));
            if !taken_over && bare(&kind.docs) {
                mistakes.push(format!("{name}.{type_name}"));
            }
        }
    }
    none("items of the contract without a word", &mistakes);
}
