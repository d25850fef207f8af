//! The imports, in the SDK's types. Names and values go to the proxy as they are borrowed; what comes back
//! is the one allocation that the boundary makes. Must not hold logic.

/// A refusal of the contract is the refusal of the same name in the SDK.
macro_rules! same_errors {
    ($wit:path => $sdk:ident { $($name:ident),+ }) => {
        impl From<$wit> for $sdk {
            fn from(error: $wit) -> Self {
                use $wit as Wit;
                match error { $(Wit::$name => Self::$name),+ }
            }
        }
    };
}
use same_errors;

pub(crate) mod counter;
pub(crate) mod http_client;
pub(crate) mod kv;
pub(crate) mod metrics;

use crate::bindings::imports::edgewright::plugin::response as wit_response;
use crate::bindings::imports::edgewright::plugin::{log as wit_log, request as wit_request, types};
use crate::{
    AttributeError, Bytes, HashKeyError, Header, HeaderError, StatusError, TargetError, TlsInfo,
    UpstreamError,
};

pub(crate) mod log {
    use super::wit_log;
    use crate::log::Level;

    pub(crate) fn write(level: Level, message: &str) {
        let level = match level {
            Level::Trace => wit_log::Level::Trace,
            Level::Debug => wit_log::Level::Debug,
            Level::Info => wit_log::Level::Info,
            Level::Warn => wit_log::Level::Warn,
            Level::Error => wit_log::Level::Error,
        };
        wit_log::write(level, message);
    }
}

/// The header functions, which `request` and `response` have alike.
macro_rules! headers {
    ($wit:ident) => {
        pub(crate) fn header(name: &str) -> Option<Bytes> {
            $wit::header(name).map(Bytes::from)
        }

        pub(crate) fn header_all(name: &str) -> Vec<Bytes> {
            $wit::header_all(name).into_iter().map(Bytes::from).collect()
        }

        pub(crate) fn headers() -> Vec<Header> {
            let line = |line: types::Header| Header { name: line.name, value: line.value.into() };
            $wit::headers().into_iter().map(line).collect()
        }

        pub(crate) fn set_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
            Ok($wit::set_header(name, value)?)
        }

        pub(crate) fn append_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
            Ok($wit::append_header(name, value)?)
        }

        pub(crate) fn remove_header(name: &str) -> Result<(), HeaderError> {
            Ok($wit::remove_header(name)?)
        }
    };
}

pub(crate) mod request {
    use super::*;

    headers!(wit_request);

    pub(crate) use wit_request::{
        authority, client_address, method, path, protocol, query, request_id, route, scheme,
    };

    pub(crate) fn set_method(method: &str) -> Result<(), TargetError> {
        Ok(wit_request::set_method(method)?)
    }

    pub(crate) fn set_authority(authority: &str) -> Result<(), TargetError> {
        Ok(wit_request::set_authority(authority)?)
    }

    pub(crate) fn set_path(path: &str) -> Result<(), TargetError> {
        Ok(wit_request::set_path(path)?)
    }

    pub(crate) fn set_query(query: Option<&str>) -> Result<(), TargetError> {
        Ok(wit_request::set_query(query)?)
    }

    pub(crate) fn tls() -> Option<TlsInfo> {
        let tls = wit_request::tls()?;
        Some(TlsInfo {
            version: tls.version,
            server_name: tls.server_name,
            client_certificate: tls.client_certificate,
            client_subject: tls.client_subject,
        })
    }

    pub(crate) fn raw_target() -> Bytes {
        wit_request::raw_target().into()
    }

    pub(crate) fn cookie(name: &str) -> Option<Bytes> {
        wit_request::cookie(name).map(Bytes::from)
    }

    pub(crate) fn body() -> Option<Bytes> {
        wit_request::body().map(Bytes::from)
    }

    pub(crate) fn attribute(key: &str) -> Option<Bytes> {
        wit_request::attribute(key).map(Bytes::from)
    }

    pub(crate) fn set_attribute(key: &str, value: &[u8]) -> Result<(), AttributeError> {
        Ok(wit_request::set_attribute(key, value)?)
    }

    pub(crate) fn set_upstream(name: &str) -> Result<(), UpstreamError> {
        Ok(wit_request::set_upstream(name)?)
    }

    pub(crate) fn set_hash_key(key: &[u8]) -> Result<(), HashKeyError> {
        Ok(wit_request::set_hash_key(key)?)
    }
}

pub(crate) mod response {
    use super::*;

    headers!(wit_response);

    pub(crate) use wit_response::status;

    pub(crate) fn set_status(status: u16) -> Result<(), StatusError> {
        Ok(wit_response::set_status(status)?)
    }
}

same_errors!(types::HeaderError => HeaderError { InvalidName, InvalidValue, HostOwned, TooLarge, WrongPhase });
same_errors!(types::TargetError => TargetError { Invalid, WrongPhase });
same_errors!(types::AttributeError => AttributeError { InvalidKey, TooLarge });
same_errors!(wit_request::UpstreamError => UpstreamError { Unknown, WrongPhase });
same_errors!(wit_request::HashKeyError => HashKeyError { TooLarge, WrongPhase });
same_errors!(wit_response::StatusError => StatusError { Invalid, WrongPhase });
