//! The bare Pingora: starts the binary of `bin/bare-pingora.rs`. Knows nothing of Edgewright.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;

use crate::process::Process;
use crate::scene::{Role, Scene, free_address};

/// Starts it in front of `origin`.
///
/// # Errors
/// Where it does not start.
pub(crate) async fn proxy(
    scene: &Scene,
    name: &str,
    program: &Path,
    origin: SocketAddr,
) -> Result<(Process, SocketAddr)> {
    let address = free_address()?;
    let command = [program.display().to_string(), address.to_string(), origin.to_string()];
    let mut process = Process::start(scene, name, Role::Proxy, &command)?;
    process.ready(address).await?;
    Ok((process, address))
}
