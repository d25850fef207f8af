//! An upstream for the examples: answers every request with what it received, as text. Takes the addresses
//! to listen on as its arguments.

use std::process::ExitCode;

use async_trait::async_trait;
use http::{Response, header};
use pingora::apps::http_app::{HttpServer, ServeHttp};
use pingora::prelude::Server;
use pingora::protocols::http::ServerSession;
use pingora::server::configuration::ServerConf;
use pingora::services::listening::Service;

struct Echo {
    address: String,
}

#[async_trait]
impl ServeHttp for Echo {
    async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
        let head = session.req_header();
        let mut text = format!("upstream {} received\n\n", self.address).into_bytes();
        text.extend_from_slice(format!("{} ", head.method).as_bytes());
        text.extend_from_slice(head.raw_path());
        text.push(b'\n');
        for (name, value) in &head.headers {
            text.extend_from_slice(name.as_str().as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value.as_bytes());
            text.push(b'\n');
        }
        let head_only = head.method == http::Method::HEAD;
        while let Ok(Some(chunk)) = session.read_request_body().await {
            text.push(b'\n');
            text.extend_from_slice(&chunk);
        }
        let length = text.len();
        let mut response = Response::new(if head_only { Vec::new() } else { text });
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CONTENT_LENGTH, length.into());
        response
    }
}

fn main() -> ExitCode {
    let addresses: Vec<String> = std::env::args().skip(1).collect();
    if addresses.is_empty()
        || addresses.iter().any(|address| address.parse::<std::net::SocketAddr>().is_err())
    {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"usage: edgewright-echo IP:PORT ...\n");
        return ExitCode::from(2);
    }
    let conf = ServerConf {
        grace_period_seconds: Some(0),
        graceful_shutdown_timeout_seconds: Some(0),
        ..ServerConf::default()
    };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    for address in addresses {
        let mut service =
            Service::new(format!("echo {address}"), HttpServer::new_app(Echo { address: address.clone() }));
        service.add_tcp(&address);
        server.add_service(service);
    }
    server.run_forever()
}
