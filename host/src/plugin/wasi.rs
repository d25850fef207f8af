//! The little of WASI that a plugin gets: clocks, random, and standard output into the log. No
//! sockets, of files and of the environment what is granted, no arguments, and an input that is at its end. What a
//! guest may repeat without end counts as a host call, and what one call does is bounded: a time limit can't
//! interrupt it.

mod counted;
mod files;
mod immediate;
mod program;

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tracing::Level;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView, async_trait};

pub(super) use files::{Granted, HasGranted};
pub(super) use immediate::{HasImmediate, Immediate};

use super::printable::MESSAGE;
use super::store::State;
use super::voice::Voice;

/// What a guest may hold open at once: streams and pollables.
const HANDLES: usize = 1_000;

/// Bytes that one write takes.
const WRITE: usize = 8 * 1024;

/// Random bytes of one call.
const RANDOM: u64 = 64 * 1024;

/// The WASI state of one instance.
pub(super) struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl Wasi {
    pub(super) fn new(voice: &Arc<Voice>, environment: &[(String, String)]) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        let context = WasiCtx::builder()
            .stdout(Output { voice: Arc::clone(voice), level: Level::INFO })
            .stderr(Output { voice: Arc::clone(voice), level: Level::WARN })
            .max_random_size(RANDOM)
            .envs(environment)
            .build();
        Self { context, table }
    }

    pub(super) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Wasi { context, table } = self.wasi();
        WasiCtxView { ctx: context, table }
    }
}

/// Standard output or error of a guest.
struct Output {
    voice: Arc<Voice>,
    level: Level,
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Only WASI 0.3 asks for it, which is not linked.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Lines { voice: Arc::clone(&self.voice), level: self.level, line: Vec::new() })
    }
}

/// A stream that becomes lines of the log.
struct Lines {
    voice: Arc<Voice>,
    level: Level,
    /// What came since the last line feed, at most [`MESSAGE`] bytes of it.
    line: Vec<u8>,
}

impl Lines {
    fn write_line(&mut self) {
        if !self.line.is_empty() {
            self.voice.say(self.level, None, &String::from_utf8_lossy(&self.line));
            self.line.clear();
        }
    }
}

impl OutputStream for Lines {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > WRITE {
            return Err(StreamError::trap("a write of more than `check-write` allows"));
        }
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = MESSAGE.saturating_sub(self.line.len()).min(text.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            if text.len() < part.len() {
                self.write_line();
            }
        }
        Ok(())
    }

    /// Ends no line: Rust's standard error flushes after each piece of one.
    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE)
    }
}

#[async_trait]
impl Pollable for Lines {
    async fn ready(&mut self) {}
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.write_line();
    }
}
