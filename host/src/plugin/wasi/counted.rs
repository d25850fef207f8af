//! Clocks, random and waiting, each call counted as a host call and then left to Wasmtime. Must not know what
//! the others of WASI do.

use wasmtime::component::Resource;
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::clocks::WasiClocksView as _;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::bindings::io::poll;
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};
use wasmtime_wasi::random::WasiRandomView as _;

use crate::plugin::store::State;

impl wall_clock::Host for State {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.charge()?;
        wall_clock::Host::now(&mut self.clocks())
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.charge()?;
        wall_clock::Host::resolution(&mut self.clocks())
    }
}

impl monotonic_clock::Host for State {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        self.charge()?;
        monotonic_clock::Host::now(&mut self.clocks())
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        self.charge()?;
        monotonic_clock::Host::resolution(&mut self.clocks())
    }

    fn subscribe_instant(
        &mut self,
        when: monotonic_clock::Instant,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.charge()?;
        self.clocks().subscribe_instant(when)
    }

    fn subscribe_duration(
        &mut self,
        when: monotonic_clock::Duration,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.charge()?;
        self.clocks().subscribe_duration(when)
    }
}

impl random::Host for State {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.charge()?;
        self.random().get_random_bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.charge()?;
        self.random().get_random_u64()
    }
}

impl insecure::Host for State {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.charge()?;
        self.random().get_insecure_random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.charge()?;
        self.random().get_insecure_random_u64()
    }
}

impl insecure_seed::Host for State {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        self.charge()?;
        self.random().insecure_seed()
    }
}

impl poll::Host for State {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        self.charge()?;
        self.ctx().table.poll(pollables).await
    }
}

impl poll::HostPollable for State {
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        self.charge()?;
        self.ctx().table.ready(pollable).await
    }

    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.charge()?;
        self.ctx().table.block(pollable).await
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::HostPollable::drop(self.ctx().table, pollable)
    }
}
