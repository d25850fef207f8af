//! WIT `kv`. Must not know how it is kept: [`Store`] does.

use std::sync::Arc;

use crate::plugin::bindings::kv::{self, KvError};
use crate::plugin::capability::kv::{Refused, Store};
use crate::plugin::imports::not_granted;
use crate::plugin::store::State;

impl kv::Host for State {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<Vec<u8>>> {
        Ok(store(self)?.get(&key))
    }

    fn set(
        &mut self,
        key: String,
        value: Vec<u8>,
        ttl: Option<u64>,
    ) -> wasmtime::Result<Result<(), KvError>> {
        Ok(store(self)?.set(&key, value, ttl).map_err(KvError::from))
    }

    fn delete(&mut self, key: String) -> wasmtime::Result<bool> {
        Ok(store(self)?.delete(&key))
    }

    fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<Vec<u8>>,
        value: Vec<u8>,
        ttl: Option<u64>,
    ) -> wasmtime::Result<Result<bool, KvError>> {
        let done = store(self)?.compare_and_set(&key, expected.as_deref(), value, ttl);
        Ok(done.map_err(KvError::from))
    }

    fn increment(
        &mut self,
        key: String,
        by: i64,
        ttl: Option<u64>,
    ) -> wasmtime::Result<Result<i64, KvError>> {
        Ok(store(self)?.increment(&key, by, ttl).map_err(KvError::from))
    }
}

fn store(state: &mut State) -> wasmtime::Result<&Arc<Store>> {
    state.charge()?;
    state.capabilities.kv.as_ref().ok_or_else(not_granted)
}

impl From<Refused> for KvError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::InvalidKey => Self::InvalidKey,
            Refused::TooLarge => Self::TooLarge,
            Refused::InvalidTtl => Self::InvalidTtl,
            Refused::Full => Self::Full,
            Refused::NotANumber => Self::NotANumber,
        }
    }
}
