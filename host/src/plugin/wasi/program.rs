//! What a program finds at its start: variables, arguments, streams, terminals and directories. Each call is
//! counted as a host call and then left to Wasmtime. Must not know what is in them.

use wasmtime::component::Resource;
use wasmtime_wasi::cli::WasiCliView as _;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::cli::{
    environment, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
    terminal_stdout,
};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use crate::plugin::store::State;

type Input = terminal_input::TerminalInput;
type Output = terminal_output::TerminalOutput;

impl environment::Host for State {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        self.charge()?;
        environment::Host::get_environment(&mut self.cli())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        self.charge()?;
        environment::Host::get_arguments(&mut self.cli())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        self.charge()?;
        environment::Host::initial_cwd(&mut self.cli())
    }
}

impl stdin::Host for State {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        self.charge()?;
        stdin::Host::get_stdin(&mut self.cli())
    }
}

impl stdout::Host for State {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.charge()?;
        stdout::Host::get_stdout(&mut self.cli())
    }
}

impl stderr::Host for State {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.charge()?;
        stderr::Host::get_stderr(&mut self.cli())
    }
}

impl terminal_stdin::Host for State {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<Input>>> {
        self.charge()?;
        terminal_stdin::Host::get_terminal_stdin(&mut self.cli())
    }
}

impl terminal_stdout::Host for State {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<Output>>> {
        self.charge()?;
        terminal_stdout::Host::get_terminal_stdout(&mut self.cli())
    }
}

impl terminal_stderr::Host for State {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<Output>>> {
        self.charge()?;
        terminal_stderr::Host::get_terminal_stderr(&mut self.cli())
    }
}

impl preopens::Host for State {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let root = self.granted_files().root()?;
        Ok(root.map(|root| (root, "/".to_owned())).into_iter().collect())
    }
}
