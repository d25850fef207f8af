//! The request of the call that is running. Holds nothing: each method asks the proxy, so that a plugin pays
//! for what it reads. Must not know whether the proxy is real or a double.

use crate::host::request as host;
use crate::query::{self, Query};
use crate::{AttributeError, Bytes, HashKeyError, Header, HeaderError, TargetError, TlsInfo, UpstreamError};

/// The request as the router matched it: WIT `request`.
///
/// The path is the normalised one, cookie lines of HTTP/2 are joined, and hop-by-hop fields are gone. It can
/// be read in every phase and changed in `on_request`. Each method is one call to the proxy unless it says
/// otherwise; a call of a phase has 10,000.
#[derive(Debug)]
pub struct Request(());

impl Request {
    pub(crate) const fn current() -> Self {
        Self(())
    }

    /// The value of the first line of that name, in any case of letters.
    pub fn header(&self, name: &str) -> Option<Bytes> {
        host::header(name)
    }

    /// The values of all lines of that name, in the order of arrival.
    pub fn header_all(&self, name: &str) -> Vec<Bytes> {
        host::header_all(name)
    }

    /// Every line, lines of one name next to each other. Copies the whole head: prefer [`Request::header`].
    pub fn headers(&self) -> Vec<Header> {
        host::headers()
    }

    /// Replaces every line of that name by one.
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn set_header(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        host::set_header(name, value.as_ref())
    }

    /// Adds one line behind those of that name.
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn append_header(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        host::append_header(name, value.as_ref())
    }

    /// Removes every line of that name. Fine where there is none.
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn remove_header(&mut self, name: &str) -> Result<(), HeaderError> {
        host::remove_header(name)
    }

    /// `GET`, `POST` and so on, as sent.
    pub fn method(&self) -> String {
        host::method()
    }

    /// Replaces the method.
    ///
    /// # Errors
    /// It is not a token, or it is `CONNECT`.
    pub fn set_method(&mut self, method: &str) -> Result<(), TargetError> {
        host::set_method(method)
    }

    /// `http` or `https`, as the client connected to the proxy.
    pub fn scheme(&self) -> String {
        host::scheme()
    }

    /// The client's TLS; `None` where it connected in the clear.
    pub fn tls(&self) -> Option<TlsInfo> {
        host::tls()
    }

    /// The host the client asked for, with its port if it gave one, in lower case; empty for an HTTP/1.0
    /// request without `Host`.
    pub fn authority(&self) -> String {
        host::authority()
    }

    /// Replaces the `Host` or `:authority` that the upstream is sent. The route stays.
    ///
    /// # Errors
    /// It is not a host with an optional port.
    pub fn set_authority(&mut self, authority: &str) -> Result<(), TargetError> {
        host::set_authority(authority)
    }

    /// The path without its query: normalised, percent-encoded, starting with `/`; `*` for `OPTIONS *`.
    pub fn path(&self) -> String {
        host::path()
    }

    /// Replaces the path, which is percent-encoded already. The proxy normalises it; query and route stay.
    ///
    /// # Errors
    /// It is not a path that starts with `/`, or it is too long.
    pub fn set_path(&mut self, path: &str) -> Result<(), TargetError> {
        host::set_path(path)
    }

    /// What follows the first `?`, byte for byte; `None` where there is no `?`.
    pub fn query(&self) -> Option<String> {
        host::query()
    }

    /// Replaces the query, or removes it with its `?`. The path stays.
    ///
    /// # Errors
    /// It is not a query, or it is too long.
    pub fn set_query(&mut self, query: Option<&str>) -> Result<(), TargetError> {
        host::set_query(query)
    }

    /// The parameters of the query, decoded, in order.
    ///
    /// ```
    /// # use edgewright_sdk::{prelude::*, testing};
    /// # struct Demo;
    /// # #[plugin]
    /// # impl Plugin for Demo {
    /// #     type Config = ();
    /// #     fn configure(_: ()) -> Result<Self, String> { Ok(Self) }
    /// fn on_request(&self, request: &mut Request) -> Verdict {
    ///     let debug = request.query_pairs().iter().any(|(name, value)| name == "debug" && value == "1");
    ///     if debug { Verdict::Next } else { Response::new(404).into() }
    /// }
    /// # }
    /// # let outcome = testing::Exchange::get("/?a=b&de%62ug=1").on_request(&Demo);
    /// # assert_eq!(outcome.verdict, Verdict::Next);
    /// ```
    pub fn query_pairs(&self) -> Vec<(String, String)> {
        self.query().map(|query| query::pairs(&query).collect()).unwrap_or_default()
    }

    /// Adds one parameter, percent-encoded, behind the client's, which stay as they are. Two calls to the
    /// proxy.
    ///
    /// # Errors
    /// The query would be too long.
    pub fn append_query(&mut self, name: &str, value: &str) -> Result<(), TargetError> {
        let mut query = Query::from(self.query());
        query.append(name, value);
        self.set_query(query.as_deref())
    }

    /// The target of the request line (or `:path`) as the client sent it: what a signature covers.
    pub fn raw_target(&self) -> Bytes {
        host::raw_target()
    }

    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`, between the client and the proxy.
    pub fn protocol(&self) -> String {
        host::protocol()
    }

    /// The value of the first cookie of that name. Names are case-sensitive; quotes are part of the value.
    pub fn cookie(&self, name: &str) -> Option<Bytes> {
        host::cookie(name)
    }

    /// The client's IP address without port: the peer of the connection, or what a trusted proxy said.
    pub fn client_address(&self) -> String {
        host::client_address()
    }

    /// Name of the route that was matched.
    pub fn route(&self) -> String {
        host::route()
    }

    /// The request's id: in the log, in error pages and sent upstream as `x-request-id`.
    pub fn request_id(&self) -> String {
        host::request_id()
    }

    /// The whole body, where a plugin of the chain buffers it; `None` otherwise. Copies the body.
    pub fn body(&self) -> Option<Bytes> {
        host::body()
    }

    /// Bytes that this or an earlier plugin kept with the request.
    pub fn attribute(&self, key: &str) -> Option<Bytes> {
        host::attribute(key)
    }

    /// Keeps bytes with the request, for later plugins, later phases and the access log. Keys are shared by
    /// the chain: start yours with the plugin's name (`api-key.owner`). Works in every phase.
    ///
    /// # Errors
    /// The key is not one, or a limit is reached: see [`AttributeError`].
    pub fn set_attribute(&self, key: &str, value: impl AsRef<[u8]>) -> Result<(), AttributeError> {
        host::set_attribute(key, value.as_ref())
    }

    /// Sends the request to this upstream in place of the route's.
    ///
    /// # Errors
    /// The configuration has no upstream of that name.
    pub fn set_upstream(&mut self, name: &str) -> Result<(), UpstreamError> {
        host::set_upstream(name)
    }

    /// Sets the key by which an upstream with `balance = { hash = "plugin" }` chooses the peer: requests with
    /// one key go to one peer, for as long as that is there and healthy. Other upstreams don't look at it.
    ///
    /// # Errors
    /// The key is over 8 KiB.
    pub fn set_hash_key(&mut self, key: impl AsRef<[u8]>) -> Result<(), HashKeyError> {
        host::set_hash_key(key.as_ref())
    }
}
