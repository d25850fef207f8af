//! The bare Pingora: starts the binary of `bin/bare-pingora.rs`. Knows nothing of Edgewright.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;

use crate::process::Process;
use crate::scene::{Role, Scene, free_address};

/// Starts it in front of `origin`, with that many threads.
///
/// # Errors
/// Where it does not start.
pub(crate) async fn proxy(
    scene: &Scene,
    name: &str,
    program: &Path,
    origin: SocketAddr,
    workers: u32,
) -> Result<(Process, SocketAddr)> {
    let address = free_address()?;
    let words = [address.to_string(), origin.to_string(), workers.to_string()];
    let command = std::iter::once(program.display().to_string()).chain(words).collect::<Vec<_>>();
    let mut process = Process::start(scene, name, Role::Proxy, &command)?;
    process.ready(address).await?;
    Ok((process, address))
}
