//! The least that Pingora can be asked for: one listener, one upstream by its literal address, the allocator
//! and the release profile of Edgewright. What Edgewright costs on top of this is its own. Usage:
//! `bare-pingora LISTEN UPSTREAM THREADS`. Must not know anything of Edgewright.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use async_trait::async_trait;
use pingora::proxy::{ProxyHttp, Session, http_proxy_service};
use pingora::server::Server;
use pingora::server::configuration::ServerConf;
use pingora::upstreams::peer::HttpPeer;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Bare {
    upstream: SocketAddr,
}

#[async_trait]
impl ProxyHttp for Bare {
    type CTX = ();

    fn new_ctx(&self) -> Self::CTX {}

    #[allow(clippy::disallowed_methods, reason = "a literal address: there is no name to look up")]
    async fn upstream_peer(&self, _: &mut Session, _: &mut Self::CTX) -> pingora::Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream, false, String::new())))
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listen: SocketAddr = arguments.next().context("no LISTEN address")?.parse()?;
    let upstream: SocketAddr = arguments.next().context("no UPSTREAM address")?.parse()?;
    let threads = arguments.next().context("no number of THREADS")?.parse()?;

    let conf = ServerConf { threads, ..ServerConf::default() };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, Bare { upstream });
    service.add_tcp(&listen.to_string());
    server.add_service(service);
    server.run_forever()
}
