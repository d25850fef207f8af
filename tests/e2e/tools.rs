//! The tools for those who write plugins and those who start: what they print, and what they end with.

use edgewright_tests::component::{binary, cache_directory, repository};
use edgewright_tests::process::Process;
use edgewright_tests::{DEADLINE, Finished, Setup, edgewright, guest, plugin};

/// Runs `plugin test` on a shipped plugin, with its manifest and these cases.
fn cases(name: &str, manifest: &str, text: &str) -> Finished {
    let setup = Setup::new().plugin(name, &plugin(name), manifest);
    std::fs::write(setup.directory().join("CASES.toml"), text).expect("a file");
    edgewright(&["plugin", "test", &format!("plugins/{name}.wasm"), "CASES.toml"], setup.directory())
}

fn shipped(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_cases_of_every_shipped_plugin_pass() {
    for (name, dir) in [
        ("api-key", "plugins/api-key"),
        ("canary", "plugins/canary"),
        ("cors", "plugins/cors"),
        ("jwt", "plugins/jwt"),
        ("rate-limit", "plugins/rate-limit"),
        ("rewrite", "plugins/rewrite"),
        ("hello", "examples/03-first-plugin/hello"),
    ] {
        let manifest = shipped(&format!("{dir}/{name}.toml"));
        let finished = cases(name, &manifest, &shipped(&format!("{dir}/CASES.toml"))).expect_code(0);
        assert!(finished.stdout.contains(", 0 failed\n"), "{}", finished.said());
        assert!(finished.stdout.contains("request-filter") && finished.stdout.contains("µs"));
    }
}

#[test]
fn a_case_that_fails_says_how_and_ends_with_1() {
    let text = r#"
        config = { greeting = "hi" }
        [[cases]]
        name = "wrong on purpose"
        request = { target = "/hello" }
        expect = { verdict = "next", response = { status = 201, headers = { x-hello = false } } }
        [[cases]]
        name = "a configuration that is refused"
        config = { greeting = "" }"#;
    let finished = cases("hello", "", text).expect_code(1);
    for part in [
        "FAIL  wrong on purpose: respond, 200",
        "verdict: expected `next`, got `respond`",
        "response.status: expected `201`, got `200`",
        "response.headers.x-hello: expected not to be there, got `hi`",
        "`greeting` is empty",
        "2 cases, 2 failed",
    ] {
        assert!(finished.stdout.contains(part), "`{part}` is not in\n{}", finished.said());
    }
    let finished = cases("hello", "", "[[cases]]\nname = \"a\"\nexpekt = {}").expect_code(1);
    assert!(finished.said().contains("expekt"), "{}", finished.said());
}

#[test]
fn a_plugin_that_traps_in_a_case_is_a_verdict() {
    let setup = Setup::new().plugin("trap", &guest("trap"), "");
    let text = "[[cases]]\nname = \"boom\"\nrequest = { headers = { x-boom = \"1\" } }\n\
        expect = { verdict = \"trap\", response = { status = 503 } }";
    std::fs::write(setup.directory().join("CASES.toml"), text).expect("a file");
    let arguments = ["plugin", "test", "plugins/trap.wasm", "CASES.toml", "--json"];
    let finished = edgewright(&arguments, setup.directory()).expect_code(0);
    let outcomes: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!((&outcomes[0]["passed"], &outcomes[0]["status"]), (&true.into(), &503.into()), "{outcomes}");
}

/// Runs `plugin test` on a guest.
fn guest_cases(name: &str, manifest: &str, text: &str) -> Finished {
    let setup = Setup::new().plugin(name, &guest(name), manifest);
    std::fs::write(setup.directory().join("CASES.toml"), text).expect("a file");
    edgewright(&["plugin", "test", &format!("plugins/{name}.wasm"), "CASES.toml"], setup.directory())
}

#[test]
fn cases_of_request_bodies() {
    let streamed = r#"
        [[cases]]
        name = "in pieces"
        request = { method = "POST", body = ["one ", "two"] }
        expect = { verdict = "next", request = { body = "ONE TWO!" }, attributes = { "shout.calls" = "ii" } }
        [[cases]]
        name = "none"
        expect = { request = { body = "" }, attributes = { "shout.calls" = false } }
        [[cases]]
        name = "refused"
        request = { method = "POST", headers = { x-body = "refuse" }, body = "a" }
        expect = { verdict = "respond", response = { status = 422, body = "not this body" } }
        [[cases]]
        name = "a trap"
        request = { method = "POST", headers = { x-body = "late" }, body = ["a", "b"] }
        expect = { verdict = "trap", response = { status = 503 } }"#;
    let finished = guest_cases("shout", "body = { request = \"stream\" }", streamed).expect_code(0);
    assert!(finished.stdout.contains("request-body-filter"), "{}", finished.said());
    let whole = r#"
        [[cases]]
        name = "as one"
        request = { method = "POST", body = ["one ", "two"] }
        expect = { request = { body = "ONE TWO!" }, attributes = { "shout.calls" = "i", "shout.body" = "7" } }
        [[cases]]
        name = "too large"
        request = { method = "POST", body = "LARGE" }
        expect = { verdict = "body-too-large", response = { status = 413 }, attributes = { "shout.calls" = false } }"#;
    let whole = whole.replace("LARGE", &"x".repeat(1025));
    let _ = guest_cases("shout", "body = { request = { buffer = \"1KiB\" } }", &whole).expect_code(0);
}

#[test]
fn cases_of_response_bodies() {
    let text = r#"
        config = { word = "dog" }
        [[cases]]
        name = "in pieces"
        response = { body = ["a cat, ", "no ca", "t"] }
        expect = { response = { body = "a dog, no cat", broken = false }, attributes = { "elephant.calls" = "iii" } }
        [[cases]]
        name = "not for this request"
        request = { method = "HEAD" }
        response = { body = "cat" }
        expect = { attributes = { "elephant.calls" = false } }
        [[cases]]
        name = "it breaks off"
        request = { headers = { x-body = "late" } }
        response = { body = ["cat", "cat"] }
        expect = { response = { status = 200, body = "dog", broken = true } }
        [[cases]]
        name = "coded"
        response = { headers = { content-encoding = "gzip" }, body = "cat" }
        expect = { response = { status = 502 }, attributes = { "elephant.calls" = "i" } }"#;
    let _ = guest_cases("elephant", "body = { response = \"stream\" }", text).expect_code(0);
    let text = r#"
        config = { word = "dog" }
        [[cases]]
        name = "as one"
        request = { headers = { x-body = "head" } }
        response = { body = ["no ca", "t"] }
        expect = { response = { status = 203, headers = { x-length = "6" }, body = "no dog" } }
        [[cases]]
        name = "another response"
        request = { headers = { x-body = "page" } }
        response = { body = "cat" }
        expect = { response = { status = 418, headers = { x-page = "1" }, body = "another" } }
        [[cases]]
        name = "a trap behind a head that waits"
        request = { headers = { x-body = "boom" } }
        response = { body = "cat" }
        expect = { response = { status = 503, broken = false } }"#;
    let _ = guest_cases("elephant", "body = { response = { buffer = \"1KiB\" } }", text).expect_code(0);
}

#[test]
fn cases_of_upstreams_that_fail() {
    let text = r#"
        [[cases]]
        name = "the host's page"
        fails = "upstream-timeout"
        expect = { verdict = "upstream-timeout", attempts = 1, response = { status = 504 } }
        [[cases]]
        name = "another peer is asked"
        request = { headers = { x-rescue = "retry" } }
        fails = "upstream-broken"
        [cases.expect]
        attempts = 2
        response = { status = 502 }
        attributes = { "rescue.told" = "upstream-broken 502 attempts=1 upstream=test peer=127.0.0.1:1 retry=true; upstream-broken 502 attempts=2 upstream=test peer=127.0.0.1:2 retry=false" }
        [[cases]]
        name = "not what must not be sent twice"
        request = { method = "POST", headers = { x-rescue = "retry" } }
        fails = "upstream-broken"
        expect = { attempts = 1, response = { status = 502 } }
        [[cases]]
        name = "nothing was sent to who takes no connection"
        request = { method = "POST" }
        fails = "connect-failed"
        expect = { attempts = 2, response = { status = 502 } }
        [[cases]]
        name = "the plugin's page"
        request = { headers = { x-rescue = "page" } }
        fails = "no-peer"
        expect = { verdict = "no-peer", attempts = 0, response = { status = 503, headers = { content-type = "text/plain" } } }"#;
    let finished = guest_cases("rescue", "", text).expect_code(0);
    assert!(finished.stdout.contains("error-filter"), "{}", finished.said());
    let wrong = "[[cases]]\nname = \"a\"\nfails = \"rain\"";
    let finished = guest_cases("rescue", "", wrong).expect_code(1);
    assert!(finished.stdout.contains("there is `no-peer`, `overloaded`"), "{}", finished.said());
}

/// Slots for instances need addresses; a machine that grants few has each instance made for itself.
#[test]
fn few_addresses_are_enough() {
    let setup =
        Setup::new().plugin("mark", &guest("mark"), "isolation = \"reuse\"\nconfig = { name = \"m\" }");
    let text = "[[cases]]\nname = \"marked\"\nexpect = { request = { headers = { x-mark = \"m\" } } }";
    std::fs::write(setup.directory().join("CASES.toml"), text).expect("a file");
    let ended = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 33554432; exec \"$0\" plugin test plugins/mark.wasm CASES.toml"])
        .arg(binary())
        .current_dir(setup.directory())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.contains("1 cases, 0 failed"), "{said}");
    assert!(said.contains("too few addresses for slots of instances"), "{said}");
}

#[test]
fn bench_tells_what_calls_cost() {
    let setup = Setup::new().plugin("mark", &guest("mark"), "config = { name = \"m\" }");
    let arguments = ["plugin", "bench", "plugins/mark.wasm", "--requests", "200", "--json"];
    let finished = edgewright(&arguments, setup.directory()).expect_code(0);
    let rows: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let rows = rows.as_array().expect("rows");
    for isolation in ["reuse", "fresh"] {
        let row = rows.iter().find(|row| row["isolation"] == isolation && row["phase"] == "request-filter");
        let row = row.unwrap_or_else(|| panic!("{isolation} in {rows:?}"));
        assert_eq!((&row["calls"], &row["failed"]), (&200.into(), &false.into()), "{row}");
        assert!(row["p50-us"].as_f64().is_some_and(|us| us > 0.0), "{row}");
    }
}

#[test]
fn a_new_plugin_is_built_and_passes_its_cases() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &[&str]| edgewright(arguments, directory.path());
    let made = run(&["plugin", "new", "my-plugin"]).expect_code(0);
    assert!(made.stdout.contains("edgewright plugin build my-plugin"), "{}", made.said());
    assert!(directory.path().join("my-plugin/sdk/wit/types.wit").is_file());
    let again = run(&["plugin", "new", "my-plugin"]).expect_code(1);
    assert!(again.said().contains("is there already"), "{}", again.said());
    let taken = run(&["plugin", "new", "serde"]).expect_code(1);
    assert!(taken.said().contains("`serde` can't be the name"), "{}", taken.said());
    let wrong = run(&["plugin", "new", "My_Plugin"]).expect_code(1);
    assert!(wrong.said().contains("can't be the name"), "{}", wrong.said());

    // What was built is kept between runs, like everything else.
    let cargo = directory.path().join("my-plugin/.cargo");
    std::fs::create_dir_all(&cargo).expect("a directory");
    let kept = cache_directory().with_file_name("scaffold");
    let config = format!("[build]\ntarget-dir = {kept:?}\n");
    std::fs::write(cargo.join("config.toml"), config).expect("a file");
    std::fs::copy(repository().join("Cargo.lock"), directory.path().join("my-plugin/Cargo.lock"))
        .expect("a file");
    let mut building = Process::start(&["plugin", "build", "."], &directory.path().join("my-plugin"));
    // Cargo has the SDK and what it stands on to build.
    let built = building.finish(DEADLINE * 60).expect("it ends").expect_code(0);
    assert!(
        built.stdout.contains("my-plugin.wasm") && built.stdout.contains("request-filter"),
        "{}",
        built.said()
    );
    let tested = run(&["plugin", "test", "my-plugin/my-plugin.wasm", "my-plugin/CASES.toml"]).expect_code(0);
    assert!(tested.stdout.contains("3 cases, 0 failed"), "{}", tested.said());
    let absent = run(&["plugin", "build", "absent"]).expect_code(1);
    assert!(absent.said().contains("edgewright plugin new"), "{}", absent.said());
}

/// Before cargo has built for a minute.
#[test]
fn a_missing_target_is_told_with_the_command() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("a directory");
    let _ = edgewright(&["plugin", "new", "a"], directory.path()).expect_code(0);
    let rustc = directory.path().join("bin/rustc");
    std::fs::create_dir_all(directory.path().join("bin")).expect("a directory");
    // It says where the libraries of a target would be, which are not there.
    std::fs::write(&rustc, "#!/bin/sh\necho /nowhere\n").expect("a file");
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = std::env::var("PATH").expect("a path");
    let ended = std::process::Command::new(binary())
        .args(["plugin", "build", "a"])
        .env("PATH", format!("{}:{path}", directory.path().join("bin").display()))
        .current_dir(directory.path())
        .output()
        .expect("the proxy");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("`rustup target add wasm32-wasip2`"), "{said}");
    assert!(!said.contains("Compiling"), "{said}");
}

#[test]
fn inspect_shows_what_holds_for_a_plugin() {
    let manifest = "isolation = \"reuse\"\ngrants = { metrics = true, env = [\"HOME\"] }\n\
        limits = { time = \"7ms\", series = 5 }";
    let setup = Setup::new().plugin("mark", &guest("mark"), manifest);
    let finished = edgewright(&["plugin", "inspect", "plugins/mark.wasm"], setup.directory()).expect_code(0);
    for part in ["isolation     reuse", "time 7 ms, memory 16384 KiB", "metrics (5 series), env `HOME`"] {
        assert!(finished.stdout.contains(part), "`{part}` is not in\n{}", finished.said());
    }
    let told =
        edgewright(&["plugin", "inspect", "plugins/mark.wasm", "--json"], setup.directory()).expect_code(0);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(told["manifest"]["limits"]["time-ms"], 7, "{told}");
    assert_eq!(told["manifest"]["on-failure"], "closed", "{told}");
}

#[test]
fn init_writes_what_check_accepts_and_never_overwrites() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &[&str]| edgewright(arguments, directory.path());
    let made = run(&["init"]).expect_code(0);
    assert!(made.stdout.contains("edgewright check"), "{}", made.said());
    assert!(directory.path().join("plugins").is_dir());
    let checked = run(&["check"]).expect_code(0);
    assert!(checked.stdout.contains("ok: "), "{}", checked.said());
    let file = directory.path().join("edgewright.toml");
    std::fs::write(&file, "mine").expect("a file");
    let again = run(&["init"]).expect_code(1);
    assert!(again.said().contains("is there already"), "{}", again.said());
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
}

#[test]
fn completions_know_the_commands() {
    let directory = tempfile::tempdir().expect("a directory");
    for shell in ["bash", "zsh", "fish"] {
        let finished = edgewright(&["completions", shell], directory.path()).expect_code(0);
        assert!(finished.stdout.contains("explain"), "{shell}");
    }
    let wrong = edgewright(&["completions", "dos"], directory.path()).expect_code(2);
    assert!(wrong.said().contains("zsh"), "{}", wrong.said());
}
