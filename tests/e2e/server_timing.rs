//! `Server-Timing`: who gets to see what plugins took, and what it says.

use edgewright_tests::{Origin, Proxy, Response, Setup, get, guest};

fn origin() -> Origin {
    Origin::answer(|_| b"HTTP/1.1 200 OK\r\nServer-Timing: db;dur=7\r\nContent-Length: 2\r\n\r\nok".to_vec())
}

fn proxy(origin: &Origin, server: &str) -> Proxy {
    let reuse = "isolation = \"reuse\"";
    Setup::new()
        .server(server)
        .plugin("mark", &guest("mark"), &format!("{reuse}\nconfig = {{ name = \"m\" }}"))
        .plugin("elephant", &guest("elephant"), &format!("{reuse}\nconfig = {{ word = \"dog\" }}"))
        .upstream("main", origin)
        .route("plugins", "match = { path = \"/plugins\" }\nplugins = [\"mark\", \"elephant\"]", "main")
        .route("plain", "match = { path = \"/plain\" }", "main")
        .start()
}

/// The entries of all lines, each without what it took.
fn entries(response: &Response) -> Vec<String> {
    let lines = response.head.all("server-timing");
    let lines = lines.iter().map(|line| String::from_utf8_lossy(line).into_owned());
    let entries = lines.flat_map(|line| line.split(", ").map(str::to_owned).collect::<Vec<_>>());
    entries.map(|entry| entry.split(";dur=").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn it_says_what_each_call_took_until_the_head_was_sent() {
    let origin = origin();
    let proxy = proxy(&origin, "server-timing = \"on\"");
    let response = proxy.get("/plugins").expect_status(200);
    let own = String::from_utf8_lossy(response.head.all("server-timing")[1]).into_owned();
    // The upstream's line stays, in front. The body's phase runs behind the head.
    assert_eq!(entries(&response)[0], "db");
    let told = &entries(&response)[1..];
    assert_eq!(told.first().map(String::as_str), Some("mark;desc=request-filter"), "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some("total"), "{told:?}");
    let millis = |entry: &str| entry.rsplit_once("dur=").and_then(|(_, dur)| dur.parse::<f64>().ok());
    let took: Vec<f64> = own.split(", ").map(|entry| millis(entry).expect("a duration")).collect();
    let (total, calls) = took.split_last().expect("some");
    assert!(calls.iter().all(|took| *took > 0.0) && calls.iter().sum::<f64>() <= *total + 0.001, "{own}");
    // Without plugins there is the total; so there is on what the proxy answers itself.
    assert_eq!(entries(&proxy.get("/plain")), ["db", "total"]);
    assert_eq!(entries(&proxy.get("/nowhere").expect_status(404)), ["total"]);
}

#[test]
fn it_is_told_to_those_who_ask_in_the_way_that_was_agreed() {
    let origin = origin();
    let proxy = proxy(&origin, "server-timing = \"header:x-show-times\"");
    assert_eq!(entries(&proxy.get("/plugins")), ["db"]);
    assert_eq!(entries(&proxy.ask(&get("/plugins").header("x-show-time", "1"))), ["db"]);
    assert!(entries(&proxy.get("/nowhere")).is_empty());
    let asked = proxy.ask(&get("/plugins").header("X-Show-Times", ""));
    assert!(entries(&asked).contains(&"mark;desc=request-filter".to_owned()), "{:?}", entries(&asked));
    assert_eq!(entries(&proxy.ask(&get("/nowhere").header("x-show-times", "1"))), ["total"]);
}

#[test]
fn it_is_off_where_nobody_wants_it() {
    let origin = origin();
    let proxy = proxy(&origin, "server-timing = \"off\"");
    assert_eq!(entries(&proxy.ask(&get("/plugins").header("x-show-times", "1"))), ["db"]);
}
