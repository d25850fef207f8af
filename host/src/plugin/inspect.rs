//! What a component file is and has, for people: read off the file, without compiling it. Must not know the
//! engine.

use std::path::Path;

use super::artifact;
use super::capability::Capability;
use super::contract::{Import, Kind, Survey};
use super::error::LoadReason;
use crate::phase::Phase;

/// What a file is.
#[derive(Debug)]
pub struct Inspection {
    pub kind: Kind,
    /// Version of the contract it was built for: `0.1.0`.
    pub contract: Option<String>,
    pub phases: Vec<Phase>,
    pub takes_configuration: bool,
    pub imports: Vec<Import>,
    /// What its manifest has to grant.
    pub needs: Vec<Capability>,
    /// In bytes.
    pub size: usize,
    /// In lower-case hex.
    pub sha256: String,
    /// Why the proxy would not load it, as far as that shows without compiling.
    pub refused: Option<LoadReason>,
}

/// Looks at a file.
///
/// # Errors
/// It can't be read, or is too large.
pub fn inspect(file: &Path) -> Result<Inspection, LoadReason> {
    let source = artifact::read(file, None)?;
    let mut inspection = Inspection {
        kind: Kind::of(&source.bytes),
        contract: None,
        phases: Vec::new(),
        takes_configuration: false,
        imports: Vec::new(),
        needs: Vec::new(),
        size: source.bytes.len(),
        sha256: source.hash,
        refused: None,
    };
    match Survey::of(&source.bytes) {
        Ok(survey) => {
            inspection.contract = survey.contract_version().map(str::to_owned);
            inspection.phases = survey.phases();
            inspection.takes_configuration = survey.takes_configuration();
            inspection.refused = survey.check_contract().err();
            inspection.needs = survey.capabilities().collect();
            inspection.imports = survey.imports;
        }
        Err(reason) => inspection.refused = Some(reason),
    }
    Ok(inspection)
}
