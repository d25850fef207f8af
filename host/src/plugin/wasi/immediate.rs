//! `wasi:io/streams`, and `wasi:io/poll` for plugins that are called at once. All that they can hold is always
//! ready: output goes into the log, the input is at its end, and without the monotonic clock there is nothing to
//! wait for. So each operation is polled once, where Wasmtime's own would block the worker's runtime. All but
//! dropping counts as a host call.

use std::future::Future;
use std::pin::pin;

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::io::poll::{Host as Poll, HostPollable as Pollable};
use wasmtime_wasi::p2::bindings::io::streams::{
    Host as Streams, HostInputStream as Input, HostOutputStream as Output,
};
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};
use wasmtime_wasi::runtime::poll_noop;

use crate::plugin::limits::Limits;

/// The resources of one instance, and what its calls are counted by.
pub(in crate::plugin) struct Immediate<'a> {
    pub(in crate::plugin) table: &'a mut ResourceTable,
    pub(in crate::plugin) limits: &'a mut Limits,
}

impl Immediate<'_> {
    /// The table, for one more call.
    fn counted(&mut self) -> wasmtime::Result<&mut ResourceTable> {
        self.limits.charge()?;
        Ok(self.table)
    }

    /// The same, for the operations of a stream.
    fn counted_io(&mut self) -> StreamResult<&mut ResourceTable> {
        self.counted().map_err(StreamError::Trap)
    }
}

/// For `add_to_linker`.
pub(in crate::plugin) struct HasImmediate;

impl HasData for HasImmediate {
    type Data<'a> = Immediate<'a>;
}

/// The outcome of what is always ready.
fn now<T>(operation: impl Future<Output = T>) -> wasmtime::Result<T> {
    let outcome = poll_noop(pin!(operation));
    outcome.ok_or_else(|| wasmtime::Error::msg("the plugin waits for what never becomes ready"))
}

/// The same, for the operations of a stream.
fn now_io<T>(operation: impl Future<Output = StreamResult<T>>) -> StreamResult<T> {
    now(operation).map_err(StreamError::Trap)?
}

impl poll::Host for Immediate<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        now(Poll::poll(self.counted()?, pollables))?
    }
}

impl poll::HostPollable for Immediate<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        now(Pollable::ready(self.counted()?, pollable))?
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        now(Pollable::block(self.counted()?, pollable))?
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        Pollable::drop(self.table, pollable)
    }
}

impl streams::Host for Immediate<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        Streams::convert_stream_error(self.table, error).map(streams::StreamError::from)
    }
}

impl streams::HostOutputStream for Immediate<'_> {
    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        Output::check_write(self.counted_io()?, stream)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        Output::write(self.counted_io()?, stream, bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        now_io(Output::blocking_write_and_flush(self.counted_io()?, stream, bytes))
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        Output::flush(self.counted_io()?, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        now_io(Output::blocking_flush(self.counted_io()?, stream))
    }

    fn subscribe(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Output::subscribe(self.counted()?, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, length: u64) -> StreamResult<()> {
        Output::write_zeroes(self.counted_io()?, stream, length)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        length: u64,
    ) -> StreamResult<()> {
        now_io(Output::blocking_write_zeroes_and_flush(self.counted_io()?, stream, length))
    }

    fn splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        source: Resource<DynInputStream>,
        length: u64,
    ) -> StreamResult<u64> {
        Output::splice(self.counted_io()?, stream, source, length)
    }

    fn blocking_splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        source: Resource<DynInputStream>,
        length: u64,
    ) -> StreamResult<u64> {
        now_io(Output::blocking_splice(self.counted_io()?, stream, source, length))
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        now(Output::drop(self.table, stream))?
    }
}

impl streams::HostInputStream for Immediate<'_> {
    fn read(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<Vec<u8>> {
        Input::read(self.counted_io()?, stream, length)
    }

    fn blocking_read(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<Vec<u8>> {
        now_io(Input::blocking_read(self.counted_io()?, stream, length))
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<u64> {
        Input::skip(self.counted_io()?, stream, length)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<u64> {
        now_io(Input::blocking_skip(self.counted_io()?, stream, length))
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Input::subscribe(self.counted()?, stream)
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        now(Input::drop(self.table, stream))?
    }
}
