//! Asking a running proxy, at the admin address of its configuration file or at the one that is given.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use crate::config;

use super::file::ConfigFile;
use super::{OUT_OF_REACH, err, mistake, mistakes};

/// Time to connect: the admin address is on this machine, or near.
const CONNECT: Duration = Duration::from_secs(5);

/// Time until a whole answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Where to ask. `instead` is what to do where the file names no admin address.
///
/// # Errors
/// The exit code, after it was told that the file says nothing of it.
pub(super) fn address(
    given: Option<SocketAddr>,
    file: &ConfigFile,
    instead: &str,
) -> Result<SocketAddr, ExitCode> {
    let path = file.path();
    if let Some(address) = given.or_else(|| config::admin_address(path)) {
        return Ok(reachable(address));
    }
    if file.named().is_none() && !path.exists() {
        let path = path.display();
        return Err(mistake(&format!(
            "there is no `{path}` here: name the running proxy's file, or {instead}"
        )));
    }
    Err(match config::load(path) {
        Err(diagnostics) => mistakes(&diagnostics),
        Ok(_) => mistake(&format!("`{}` has no `[admin]` to ask: {instead}", path.display())),
    })
}

/// An address to connect to: a listener on every interface is reached over the loopback one.
fn reachable(listener: SocketAddr) -> SocketAddr {
    let ip = match listener.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        other => other,
    };
    SocketAddr::new(ip, listener.port())
}

/// Status and body of the answer to a GET.
///
/// # Errors
/// There is none.
pub(super) fn get(address: SocketAddr, path: &str) -> Result<(u16, String), ureq::Error> {
    whole(agent(ANSWER).get(format!("http://{address}{path}")).call()?)
}

/// Status and body of the answer to a POST without a body, which may take as long as `within`.
///
/// # Errors
/// There is none.
pub(super) fn post(address: SocketAddr, path: &str, within: Duration) -> Result<(u16, String), ureq::Error> {
    whole(agent(within).post(format!("http://{address}{path}")).send_empty()?)
}

fn agent(answer: Duration) -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(answer))
        // Not through a proxy of the environment: it would not be this machine that asks.
        .proxy(None)
        .build()
        .into()
}

fn whole(mut response: ureq::http::Response<ureq::Body>) -> Result<(u16, String), ureq::Error> {
    Ok((response.status().as_u16(), response.body_mut().read_to_string()?))
}

/// Says that who answered with this status is not the admin end of a proxy.
pub(super) fn another(address: SocketAddr, status: u16) -> ExitCode {
    err(&format!(
        "error: `{address}` is no admin address of Edgewright (it answers {status}): `[admin]` of the proxy's file, or its \
         `--admin`, says which it is; listeners take traffic alone\n"
    ));
    ExitCode::from(OUT_OF_REACH)
}

/// Says that nobody is there.
pub(super) fn out_of_reach(address: SocketAddr, why: &dyn Display) -> ExitCode {
    err(&format!("error: no proxy answers at `{address}`: {why}\n"));
    ExitCode::from(OUT_OF_REACH)
}
