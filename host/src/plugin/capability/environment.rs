//! Variables of the proxy's environment that a plugin may read, by name. Must not know what is in them.

use crate::plugin::error::LoadReason;

/// The variables of these names, with their values.
///
/// # Errors
/// One is not set, or is not text: a secret that is missing is told at load, not at a request.
pub(super) fn of(names: &[String]) -> Result<Vec<(String, String)>, LoadReason> {
    let value = |name: &String| match std::env::var(name) {
        Ok(value) => Ok((name.clone(), value)),
        Err(std::env::VarError::NotPresent) => Err(LoadReason::Ungrantable(format!(
            "`grants.env`: `{name}` is not set in the proxy's environment"
        ))),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(LoadReason::Ungrantable(format!("`grants.env`: the value of `{name}` is not UTF-8")))
        }
    };
    names.iter().map(value).collect()
}
