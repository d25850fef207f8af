//! What a component exports and imports, read off the file before it is compiled, against the contract of
//! `wit/` and what the host grants. Knows names only: that their types fit is the linker's matter.

use wasmparser::{Parser, Payload};

use super::capability::Capability;
use super::error::LoadReason;
use crate::config::model::Grants;
use crate::phase::Phase;

/// The package that the host speaks.
pub const PACKAGE: &str = "edgewright:plugin@0.1.0";

const NAMESPACE: &str = "edgewright:plugin/";

/// The minor version: before 1.0, another one is another contract.
const VERSION: &str = "0.1";

/// The export that takes configurations.
const LIFECYCLE: &str = "lifecycle";

/// What the host gives to every plugin.
const ALWAYS: [&str; 4] = ["types", "request", "response", "log"];

/// What of WASI 0.2 is linked. Those that end in `/` or `-` stand for all that begin so.
const WASI: [&str; 11] = [
    "wasi:io/",
    "wasi:clocks/",
    "wasi:random/",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-",
];

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Component,
    CoreModule,
    Elf,
    Empty,
    Other,
}

impl Kind {
    /// By the first bytes alone.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            Self::Empty
        } else if Parser::is_component(bytes) {
            Self::Component
        } else if Parser::is_core_wasm(bytes) {
            Self::CoreModule
        } else if bytes.starts_with(b"\x7fELF") {
            Self::Elf
        } else {
            Self::Other
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::CoreModule => "core module",
            Self::Elf => "ELF executable",
            Self::Empty => "empty file",
            Self::Other => "not WebAssembly",
        }
    }
}

/// Who gets an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Every plugin.
    Always,
    /// Who has the grant.
    Granted(Capability),
    Never,
}

/// One import of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// As in the component: `wasi:io/streams@0.2.6`.
    pub name: String,
    /// Who gets it.
    pub access: Access,
}

/// What a component has, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Survey {
    pub(super) imports: Vec<Import>,
    pub(super) exports: Vec<String>,
}

impl Survey {
    /// Reads the outermost imports and exports of a component.
    ///
    /// # Errors
    /// It is not a component, or can't be parsed.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, LoadReason> {
        match Kind::of(bytes) {
            Kind::Component => {}
            Kind::CoreModule => return Err(LoadReason::CoreModule),
            Kind::Elf => return Err(LoadReason::Elf),
            Kind::Empty => return Err(LoadReason::Empty),
            Kind::Other => return Err(LoadReason::NotWasm),
        }
        parse(bytes).map_err(|error| LoadReason::Damaged(error.to_string()))
    }

    /// The component's name for what it exports as `interface` of the contract, with its version.
    pub(super) fn export(&self, interface: &str) -> Option<&str> {
        self.exports.iter().map(String::as_str).find(|name| ours(name) == Some((interface, true)))
    }

    /// The component's name of its configuration export.
    pub(super) fn lifecycle(&self) -> Option<&str> {
        self.export(LIFECYCLE)
    }

    /// Whether it takes configurations.
    pub(super) fn takes_configuration(&self) -> bool {
        self.lifecycle().is_some()
    }

    /// The phases it exports, in the order of the path.
    pub(super) fn phases(&self) -> Vec<Phase> {
        Phase::ALL.into_iter().filter(|phase| self.export(phase.name()).is_some()).collect()
    }

    /// The version of the contract that it was built for, as far as it names one.
    pub(super) fn contract_version(&self) -> Option<&str> {
        let imports = self.imports.iter().map(|import| import.name.as_str());
        let names = self.exports.iter().map(String::as_str).chain(imports);
        names.filter(|name| name.starts_with(NAMESPACE)).find_map(|name| Some(name.split_once('@')?.1))
    }

    /// Whether it imports an interface of the contract.
    pub(super) fn imports(&self, interface: &str) -> bool {
        self.imports.iter().any(|import| ours(&import.name) == Some((interface, true)))
    }

    /// Whether it imports something that may wait, and so must run on a fiber. Only the clock makes something
    /// that is not ready yet, and `poll` waits for it: language runtimes import the one without the other.
    pub(super) fn waits(&self) -> bool {
        let imports = |interface| self.imports.iter().any(|import| import.name.starts_with(interface));
        let sleeps = imports("wasi:io/poll@") && imports("wasi:clocks/monotonic-clock@");
        sleeps || self.capabilities().any(Capability::waits)
    }

    /// Whether the host takes it.
    ///
    /// # Errors
    /// Another version of the contract, an import that isn't granted, or no phase.
    pub(super) fn check(&self, grants: &Grants) -> Result<(), LoadReason> {
        self.check_contract()?;
        let missing: Vec<_> = self.capabilities().filter(|one| !one.is_granted(grants)).collect();
        if missing.is_empty() { Ok(()) } else { Err(LoadReason::NeedsGrants { missing }) }
    }

    /// What it imports that has to be granted.
    pub(super) fn capabilities(&self) -> impl Iterator<Item = Capability> {
        self.imports.iter().filter_map(|import| match import.access {
            Access::Granted(capability) => Some(capability),
            Access::Always | Access::Never => None,
        })
    }

    /// Whether the host takes it, once it has the grants that it needs.
    ///
    /// # Errors
    /// Another version of the contract, an import that nobody gets, or no phase.
    pub(super) fn check_contract(&self) -> Result<(), LoadReason> {
        let imports = self.imports.iter().map(|import| &import.name);
        for name in self.exports.iter().chain(imports) {
            if let Some((_, false)) = ours(name) {
                let found = name.split_once('@').map_or("", |(_, version)| version);
                return Err(LoadReason::OtherVersion { found: found.to_owned() });
            }
        }
        if let Some(import) = self.imports.iter().find(|import| import.access == Access::Never) {
            return Err(LoadReason::NotGranted { import: import.name.clone() });
        }
        if self.phases().is_empty() {
            return Err(LoadReason::NoPhase { exports: self.exports.clone() });
        }
        Ok(())
    }
}

/// The interface of the contract that a name stands for, and whether its version is the host's.
fn ours(name: &str) -> Option<(&str, bool)> {
    let (interface, version) = name.strip_prefix(NAMESPACE)?.split_once('@')?;
    let patch = version.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.'));
    Some((interface, patch.is_some_and(|patch| patch.bytes().all(|byte| byte.is_ascii_digit()))))
}

fn access(name: &str) -> Access {
    if let Some((interface, _)) = ours(name) {
        return match Capability::of_interface(interface) {
            Some(capability) => Access::Granted(capability),
            None if ALWAYS.contains(&interface) => Access::Always,
            None => Access::Never,
        };
    }
    if is_linked_wasi(name) { Access::Always } else { Access::Never }
}

fn is_linked_wasi(name: &str) -> bool {
    let Some((interface, version)) = name.split_once('@') else { return false };
    let linked = |entry: &&str| {
        if entry.ends_with(['/', '-']) { interface.starts_with(*entry) } else { *interface == **entry }
    };
    version.starts_with("0.2.") && WASI.iter().any(linked)
}

fn parse(bytes: &[u8]) -> wasmparser::Result<Survey> {
    let mut survey = Survey { imports: Vec::new(), exports: Vec::new() };
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    let name = import?.name.name.to_owned();
                    survey.imports.push(Import { access: access(&name), name });
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    survey.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(survey)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_what() {
        fn check(import: &str, expected: Access) {
            assert_eq!(access(import), expected, "{import}");
        }
        check("edgewright:plugin/request@0.1.0", Access::Always);
        check("edgewright:plugin/request@0.1.7", Access::Always);
        check("edgewright:plugin/kv@0.1.0", Access::Granted(Capability::Kv));
        check("edgewright:plugin/kw@0.1.0", Access::Never);
        check("wasi:io/streams@0.2.6", Access::Always);
        check("wasi:clocks/monotonic-clock@0.2.0", Access::Always);
        check("wasi:cli/terminal-stdout@0.2.3", Access::Always);
        check("wasi:filesystem/preopens@0.2.3", Access::Always);
        check("wasi:filesystem/types@0.3.0", Access::Never);
        check("wasi:sockets/tcp@0.2.6", Access::Never);
        check("wasi:http/outgoing-handler@0.2.6", Access::Never);
        check("wasi:cli/run@0.2.6", Access::Never);
        check("wasi:io/streams", Access::Never);
        check("env", Access::Never);
    }

    #[test]
    fn versions() {
        fn check(name: &str, expected: Option<(&str, bool)>) {
            assert_eq!(ours(name), expected, "{name}");
        }
        check("edgewright:plugin/request@0.1.0", Some(("request", true)));
        check("edgewright:plugin/request@0.1.12", Some(("request", true)));
        check("edgewright:plugin/request@0.2.0", Some(("request", false)));
        check("edgewright:plugin/request@0.10.0", Some(("request", false)));
        check("edgewright:plugin/request@0.1.0-rc.1", Some(("request", false)));
        check("wasi:io/streams@0.1.0", None);
    }
}
