//! The host functions, once for plugins that are called at once and once for those that may wait. What is not
//! linked here can't be imported; [`super::contract`] says so before it comes to that.

use wasmtime::component::{HasData, HasSelf, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::{self, cli, clocks, filesystem, io, random};

use super::bindings::{counter, http_client, kv, log, metrics, request, response, types};
use super::store::State;
use super::wasi::{HasGranted, HasImmediate, Immediate};

/// For plugins that import nothing that waits.
pub(super) fn at_once(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    plugin(&mut linker)?;
    wasi(&mut linker)?;
    io::error::add_to_linker::<_, WasiIo>(&mut linker, |state| state.wasi().table())?;
    bindings::sync::io::poll::add_to_linker::<_, HasImmediate>(&mut linker, immediate)?;
    bindings::sync::io::streams::add_to_linker::<_, HasImmediate>(&mut linker, immediate)?;
    Ok(linker)
}

/// For plugins that run on a fiber.
pub(super) fn waiting(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    plugin(&mut linker)?;
    wasi(&mut linker)?;
    io::error::add_to_linker::<_, WasiIo>(&mut linker, |state| state.wasi().table())?;
    io::poll::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    http_client::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    // Here, too, streams are always ready.
    bindings::sync::io::streams::add_to_linker::<_, HasImmediate>(&mut linker, immediate)?;
    Ok(linker)
}

/// The interfaces of `wit/`. Capabilities, too: who may have them was checked when the plugin was loaded.
fn plugin(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    request::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    response::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    log::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    kv::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    counter::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    metrics::add_to_linker::<_, HasSelf<State>>(linker, |state| state)
}

/// What of WASI never waits.
fn wasi(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    clocks::wall_clock::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    clocks::monotonic_clock::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    random::random::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    random::insecure::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    random::insecure_seed::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    bindings::sync::filesystem::types::add_to_linker::<_, HasGranted>(linker, State::granted_files)?;
    filesystem::preopens::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::environment::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::exit::add_to_linker::<_, WasiCli>(linker, State::cli)?;
    cli::stdin::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::stdout::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::stderr::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(linker, State::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(linker, State::cli)?;
    cli::terminal_stdin::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::terminal_stdout::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    cli::terminal_stderr::add_to_linker::<_, HasSelf<State>>(linker, |state| state)
}

fn immediate(state: &mut State) -> Immediate<'_> {
    let (wasi, limits) = state.wasi_and_limits();
    Immediate { table: wasi.table(), limits }
}

struct WasiIo;

impl HasData for WasiIo {
    type Data<'a> = &'a mut ResourceTable;
}
