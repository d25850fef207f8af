//! The import `kv`, in the SDK's types. Must not hold logic.

use crate::bindings::imports::edgewright::plugin::kv as wit_kv;
use crate::{Bytes, KvError};

pub(crate) use wit_kv::delete;

pub(crate) fn get(key: &str) -> Option<Bytes> {
    wit_kv::get(key).map(Bytes::from)
}

pub(crate) fn set(key: &str, value: &[u8], ttl: Option<u64>) -> Result<(), KvError> {
    Ok(wit_kv::set(key, value, ttl)?)
}

pub(crate) fn compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: &[u8],
    ttl: Option<u64>,
) -> Result<bool, KvError> {
    Ok(wit_kv::compare_and_set(key, expected, value, ttl)?)
}

pub(crate) fn increment(key: &str, by: i64, ttl: Option<u64>) -> Result<i64, KvError> {
    Ok(wit_kv::increment(key, by, ttl)?)
}

super::same_errors!(wit_kv::KvError => KvError { InvalidKey, TooLarge, InvalidTtl, Full, NotANumber });
