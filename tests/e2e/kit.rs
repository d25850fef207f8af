//! The kit tests itself: a client that misreads would make every other test lie.

use std::time::Duration;

use edgewright_tests::message::Framing;
use edgewright_tests::{Answer, Connection, Dns, Metrics, Origin, ask, get};

#[test]
fn a_client_reads_back_to_back_responses_of_every_framing() {
    let origin = Origin::answer(|request| {
        let reply = match request.target().as_str() {
            "/length" => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "/chunked" => {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-End: 1\r\n\r\n"
            }
            "/interim" => "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        };
        reply.as_bytes().to_vec()
    });
    let mut client = Connection::open(origin.address());
    let check = |client: &mut Connection, method: &str, target: &str, status: u16, body: &str| {
        let response = client.ask(&ask(method, target));
        assert_eq!((response.status, response.text().as_str()), (status, body), "{method} {target}");
    };
    check(&mut client, "GET", "/length", 200, "hello");
    check(&mut client, "GET", "/chunked", 200, "hello");
    check(&mut client, "GET", "/interim", 204, "");
    check(&mut client, "HEAD", "/head", 200, "");
    assert_eq!(origin.connections(), 1);
    assert!(!client.closes_within(Duration::from_millis(20)));
}

#[test]
fn an_origin_keeps_heads_as_bytes_and_bodies_decoded() {
    let origin = Origin::ok();
    let mut client = Connection::open(origin.address());
    client.send(b"POST /x HTTP/1.1\r\nHost: a\r\nX-B: \xa1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    assert_eq!(client.response_to("POST").status, 200);
    let request = origin.last();
    assert_eq!(request.head.all("x-b"), [b"\xa1"]);
    assert_eq!((request.body.as_slice(), request.framing), (b"abc".as_slice(), Framing::Chunked));
    assert_eq!(get("/y").send(origin.address()).status, 200);
    assert_eq!(origin.requests().len(), 2);
    assert_eq!(origin.last().connection, 2);
}

#[test]
fn a_name_server_answers_from_its_zone() {
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.2", "::1"]).ttl(7))]);
    // A query for `name` with this type, as RFC 1035 writes it.
    let check = |name: &str, kind: u8, code: u8, end: &[u8]| {
        let mut query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0".to_vec();
        for label in name.split('.') {
            query.push(u8::try_from(label.len()).unwrap());
            query.extend(label.as_bytes());
        }
        query.extend([0, 0, kind, 0, 1]);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(edgewright_tests::DEADLINE)).unwrap();
        socket.send_to(&query, dns.address()).unwrap();
        let mut answer = [0; 512];
        let read = socket.recv(&mut answer).unwrap();
        assert_eq!(answer[3] & 15, code, "{name}");
        assert!(answer[..read].ends_with(end), "{name}: {:?}", &answer[..read]);
    };
    check("svc.test", 1, 0, &[0, 0, 0, 7, 0, 4, 127, 0, 0, 2]);
    check("svc.test", 28, 0, &[0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    check("gone.test", 1, 3, &[]);
    dns.set("svc.test", Answer::failure());
    check("svc.test", 1, 2, &[]);
    assert_eq!(dns.asked("svc.test"), 3);
}

#[test]
fn metrics_are_summed_by_the_labels_that_are_asked_for() {
    let metrics = Metrics::parse(
        "# TYPE a counter\na_total{p=\"x\",r=\"1\"} 2\na_total{p=\"x\",r=\"2\"} 3\na_total{p=\"y\",r=\"1\"} 4\nb 1.5\n# EOF\n",
    );
    let check = |name: &str, labels: &[(&str, &str)], expected: f64| {
        assert!((metrics.sum(name, labels) - expected).abs() < f64::EPSILON, "{name} {labels:?}");
    };
    check("a_total", &[("p", "x")], 5.0);
    check("a_total", &[("r", "1")], 6.0);
    check("a_total", &[], 9.0);
    check("b", &[], 1.5);
    check("c", &[], 0.0);
}
