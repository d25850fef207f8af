//! The nginx set-ups: the origin, the plain proxy, and the proxy with a script in Lua. With one worker, one process each
//! (no master), so that it can be measured and killed as one. Knows nothing of Edgewright.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use crate::contender::{ANSWER_BYTES, Job, KEY, MARK, MARKS_SEEN, request_mark, response_mark};
use crate::process::Process;
use crate::scene::{Role, Scene, free_address, required};

/// What a proxy runs in its one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    None,
    Lua,
}

/// What all of them have in common. Connections are kept for as long as the run takes.
const COMMON: &str = "\
daemon off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
";

const HTTP: &str = "\
access_log off;
default_type text/plain;
client_body_temp_path client;
proxy_temp_path proxy;
fastcgi_temp_path fastcgi;
uwsgi_temp_path uwsgi;
scgi_temp_path scgi;
keepalive_requests 1000000000;
keepalive_timeout 3600s;
";

/// Starts the origin: 1,000 bytes from memory on every path, and on `/seen` the marks that a request
/// arrived with.
///
/// # Errors
/// Where nginx is missing or does not start.
pub(crate) async fn origin(scene: &Scene) -> Result<(Process, SocketAddr)> {
    let body = "x".repeat(ANSWER_BYTES);
    let marks: String = (1..=MARKS_SEEN)
        .map(|number| format!("[{number}:$http_{}]", request_mark(number).replace('-', "_")))
        .collect();
    let address = free_address()?;
    let http = format!(
        "server {{\n  listen {address};\n  location / {{ return 200 \"{body}\"; }}\n  \
         location = /seen {{ return 200 \"{marks}\"; }}\n}}\n"
    );
    let process = start(scene, "origin", Role::Around, 1, address, "", &http).await?;
    Ok((process, address))
}

/// Starts a proxy in front of `origin`, with that many workers.
///
/// # Errors
/// Where nginx or its Lua module is missing, or where it does not start.
pub(crate) async fn proxy(
    scene: &Scene,
    name: &str,
    script: Script,
    origin: SocketAddr,
    workers: u32,
) -> Result<(Process, SocketAddr)> {
    let address = free_address()?;
    let (modules, code) = match script {
        Script::None => (String::new(), String::new()),
        Script::Lua => (lua_modules()?, lua()),
    };
    let http = format!(
        "upstream origin {{\n  server {origin};\n  keepalive 128;\n  keepalive_requests 1000000000;\n  \
         keepalive_timeout 3600s;\n}}\nserver {{\n  listen {address};\n  location / {{\n    \
         proxy_pass http://origin;\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n\
         {code}  }}\n}}\n"
    );
    let process = start(scene, name, Role::Proxy, workers, address, &modules, &http).await?;
    Ok((process, address))
}

/// What [`proxy`] does to a request.
pub(crate) fn job(script: Script) -> Job {
    match script {
        Script::None => Job::Forward,
        Script::Lua => Job::CheckAndMark { request_marks: 1, response_marks: 1 },
    }
}

/// The first line of `nginx -v`, for the report.
///
/// # Errors
/// Where nginx is missing.
pub(crate) fn version() -> Result<String> {
    let output = Command::new(required("nginx")?).arg("-v").output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(text.lines().next().unwrap_or_default().trim_start_matches("nginx version: ").to_owned())
}

fn lua() -> String {
    let (request, response) = (request_mark(1), response_mark(1));
    format!(
        "    access_by_lua_block {{\n      if ngx.var.http_x_api_key ~= \"{KEY}\" then return ngx.exit(401) end\n      \
         ngx.req.set_header(\"{request}\", \"{MARK}\")\n    }}\n    \
         header_filter_by_lua_block {{ ngx.header[\"{response}\"] = \"{MARK}\" }}\n"
    )
}

/// `load_module` lines for Lua, from where this nginx was built to look for modules.
fn lua_modules() -> Result<String> {
    let output = Command::new(required("nginx")?).arg("-V").output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let directory = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix("--modules-path="))
        .context("this nginx has no directory of modules")?;
    let lua = PathBuf::from(directory).join("ngx_http_lua_module.so");
    ensure!(lua.is_file(), "nginx has no Lua module: run `tests/bench/setup.sh`");
    Ok(format!("load_module {directory}/ndk_http_module.so;\nload_module {};\n", lua.display()))
}

async fn start(
    scene: &Scene,
    name: &str,
    role: Role,
    workers: u32,
    address: SocketAddr,
    modules: &str,
    http: &str,
) -> Result<Process> {
    let prefix = scene.directory(name)?;
    let processes = match workers {
        1 => "master_process off;\nworker_processes 1;\n".to_owned(),
        workers => format!("worker_processes {workers};\n"),
    };
    let config = scene.write(
        &format!("{name}/nginx.conf"),
        &format!("{modules}{processes}{COMMON}http {{\n{HTTP}{http}}}\n"),
    )?;
    let nginx = required("nginx")?;
    let command =
        [&nginx, Path::new("-e"), Path::new("stderr"), Path::new("-p"), &prefix, Path::new("-c"), &config];
    let mut process = Process::start(scene, name, role, &command)?;
    if workers > 1 {
        // The workers outlive a master that is killed.
        process.ends_at(Signal::TERM);
    }
    process.ready(address).await?;
    Ok(process)
}
