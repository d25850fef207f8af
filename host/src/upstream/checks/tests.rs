//! What checks find of peers that are well, silent, wrong and gone.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::model::{self, Probe};
use crate::upstream::set::tests::{config, settings};

use super::*;

const DEADLINE: Duration = Duration::from_secs(10);

fn health(probe: Probe) -> Health {
    let quick = Duration::from_millis(10);
    Health {
        probe,
        host: None,
        interval: quick,
        timeout: Duration::from_millis(200),
        healthy_after: 2,
        unhealthy_after: 2,
    }
}

fn http() -> Probe {
    Probe::Http { path: "/healthz".into(), expected: vec![200..=299] }
}

/// A server that answers what it is told at the moment; nothing at all to a request while that is empty.
async fn server() -> (u16, watch::Sender<&'static str>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, telling) = watch::channel("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = *telling.borrow();
            tokio::spawn(async move {
                let mut head = [0; 1024];
                let read = stream.read(&mut head).await.unwrap_or(0);
                if head.get(..read).is_some_and(|head| head.starts_with(b"GET /healthz HTTP/1.1\r\n")) {
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
                let _ = stream.read(&mut head).await;
            });
        }
    });
    (port, told)
}

/// Checks that run while `expect` looks at what they found of a peer at that port.
async fn with_checks(port: u16, probe: Probe, expect: impl AsyncFnOnce(&Upstream)) {
    let mut config = config(&[]);
    let with = model::Upstream { health: Some(health(probe)), ..settings("main", &[("127.0.0.1", port)]) };
    config.upstreams.push(with);
    let upstreams = Upstreams::build(&config);
    let checks = Checks::new(&upstreams);
    let upstream = Arc::clone(upstreams.iter().next().unwrap());
    tokio::select! {
        () = checks.run(std::future::pending()) => {}
        () = expect(&upstream) => {}
    }
}

async fn wait_for(upstream: &Upstream, is_up: bool) {
    let found = async {
        while upstream.peers()[0].state().is_checked_up() != Some(is_up) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, found).await.expect("a finding");
}

#[tokio::test]
async fn an_http_peer_goes_down_and_comes_back() {
    let (port, told) = server().await;
    with_checks(port, http(), async |upstream| {
        wait_for(upstream, true).await;
        told.send_replace("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        wait_for(upstream, false).await;
        assert!(upstream.peers()[0].state().is_out());
        told.send_replace("HTTP/1.1 204 No Content\r\n\r\n");
        wait_for(upstream, true).await;
        told.send_replace("");
        wait_for(upstream, false).await;
    })
    .await;
}

#[tokio::test]
async fn a_port_without_a_listener_is_down_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    with_checks(port, Probe::Tcp, async |upstream| wait_for(upstream, true).await).await;
    drop(listener);
    with_checks(port, Probe::Tcp, async |upstream| wait_for(upstream, false).await).await;
    with_checks(port, http(), async |upstream| wait_for(upstream, false).await).await;
}

#[tokio::test]
async fn without_checks_it_ends_when_told() {
    let upstreams = Upstreams::build(&config(&[("a", &[("127.0.0.1", 1)])]));
    let checks = Checks::new(&upstreams);
    tokio::time::timeout(DEADLINE, checks.run(std::future::ready(()))).await.expect("an end");
}
