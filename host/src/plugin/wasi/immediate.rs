//! `wasi:io` for plugins that are called at once. All that they can hold is always ready: output goes into the
//! log, the input is at its end, and without the monotonic clock there is nothing to wait for. So each
//! operation is polled once, where Wasmtime's own would block the worker's runtime.

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

/// The resources of one instance.
pub(in crate::plugin) struct Immediate<'a>(pub(in crate::plugin) &'a mut ResourceTable);

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
        now(Poll::poll(self.0, pollables))?
    }
}

impl poll::HostPollable for Immediate<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        now(Pollable::ready(self.0, pollable))?
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        now(Pollable::block(self.0, pollable))?
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        Pollable::drop(self.0, pollable)
    }
}

impl streams::Host for Immediate<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        Streams::convert_stream_error(self.0, error).map(streams::StreamError::from)
    }
}

impl streams::HostOutputStream for Immediate<'_> {
    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        Output::check_write(self.0, stream)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        Output::write(self.0, stream, bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        now_io(Output::blocking_write_and_flush(self.0, stream, bytes))
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        Output::flush(self.0, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        now_io(Output::blocking_flush(self.0, stream))
    }

    fn subscribe(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Output::subscribe(self.0, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, length: u64) -> StreamResult<()> {
        Output::write_zeroes(self.0, stream, length)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        length: u64,
    ) -> StreamResult<()> {
        now_io(Output::blocking_write_zeroes_and_flush(self.0, stream, length))
    }

    fn splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        source: Resource<DynInputStream>,
        length: u64,
    ) -> StreamResult<u64> {
        Output::splice(self.0, stream, source, length)
    }

    fn blocking_splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        source: Resource<DynInputStream>,
        length: u64,
    ) -> StreamResult<u64> {
        now_io(Output::blocking_splice(self.0, stream, source, length))
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        now(Output::drop(self.0, stream))?
    }
}

impl streams::HostInputStream for Immediate<'_> {
    fn read(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<Vec<u8>> {
        Input::read(self.0, stream, length)
    }

    fn blocking_read(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<Vec<u8>> {
        now_io(Input::blocking_read(self.0, stream, length))
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<u64> {
        Input::skip(self.0, stream, length)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, length: u64) -> StreamResult<u64> {
        now_io(Input::blocking_skip(self.0, stream, length))
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Input::subscribe(self.0, stream)
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        now(Input::drop(self.0, stream))?
    }
}
