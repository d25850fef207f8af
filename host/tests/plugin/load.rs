//! What is refused when a plugin is loaded or configured, and what is said about it.

use edgewright::phase::Phase;
use edgewright::plugin::{Access, Kind, inspect};
use serde_json::{Map, Value};

use crate::guest::{Guest, NEXT};
use crate::request::Bench;

const SOCKETS: &str = r#"(import "wasi:sockets/instance-network@0.2.0" (instance))"#;

fn good() -> Vec<u8> {
    Guest { on_request: Some(NEXT), ..Guest::default() }.build()
}

#[test]
fn p19_p20_p21_load_errors() {
    fn check(bytes: &[u8], expected: &str, help: &str) {
        let bench = Bench::new();
        let error = bench.load(&bench.spec(bytes)).expect_err("it is refused");
        let message = error.to_string();
        assert!(message.starts_with("plugin `guest` was not loaded: `"), "{message}");
        assert!(message.ends_with(expected), "{message}\nexpected: {expected}");
        let said = error.reason.help().unwrap_or_default();
        assert!(said.contains(help), "{said}\nexpected: {help}");
    }
    check(b"", "the file is empty", "build the plugin again");
    check(b"#!/bin/sh\n", "not a WebAssembly component", "build the plugin again");
    check(b"\x7fELF\x02\x01\x01", "an ELF executable, not a WebAssembly component", "build the plugin again");
    check(b"\0asm\x01\0\0\0", "a core WebAssembly module, not a component", "wasm32-wasip2");
    let good = good();
    let half = good.get(..good.len() / 2).expect("half of it");
    let bench = Bench::new();
    let message = bench.load(&bench.spec(half)).expect_err("it is refused").to_string();
    assert!(message.contains("damaged: "), "{message}");

    let component = |text: &str| wat::parse_str(text).expect("the text of a component");
    let no_phase = "exports no phase of `edgewright:plugin@0.1.0`; it exports nothing";
    check(&component("(component)"), no_phase, "request-filter");
    let other = component(r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#);
    check(&other, "it exports `wasi:cli/run@0.2.0`", "request-filter");
    let newer =
        r#"(component (instance $i) (export "edgewright:plugin/request-filter@0.2.0" (instance $i)))"#;
    let versions = "made for `edgewright:plugin@0.2.0`; this proxy has `edgewright:plugin@0.1.0`";
    check(&component(newer), versions, "SDK of this proxy's version");
    let sockets = Guest { on_request: Some(NEXT), imports: SOCKETS, ..Guest::default() }.build();
    check(&sockets, "import `wasi:sockets/instance-network@0.2.0` isn't granted", "no sockets");
    let kv = r#"(import "edgewright:plugin/kv@0.1.0" (instance))"#;
    let kv = Guest { on_request: Some(NEXT), imports: kv, ..Guest::default() }.build();
    check(&kv, "needs what its manifest does not grant: `kv`", "grants = { kv = true }");
    let unknown = r#"(import "edgewright:plugin/kw@0.1.0" (instance))"#;
    let unknown = Guest { on_request: Some(NEXT), imports: unknown, ..Guest::default() }.build();
    check(&unknown, "import `edgewright:plugin/kw@0.1.0` isn't granted", "clocks");
    let empty =
        r#"(component (instance $i) (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#;
    check(&component(empty), "has no function `on-request`", "SDK of this proxy's version");
    let start =
        Guest { on_request: Some(NEXT), items: "(func $boom unreachable) (start $boom)", ..Guest::default() };
    check(&start.build(), "wasm `unreachable` instruction executed", "limits.memory");
    let large = Guest { on_request: Some(NEXT), pages: 17, ..Guest::default() };
    check(&large.build(), "memory minimum size of 17 pages exceeds memory limits", "limits.memory");
    check(&large.build(), "memory minimum size of 17 pages exceeds memory limits", "ulimit -v");
    let slow = "(func $again (loop $again (br $again))) (start $again)";
    let slow = Guest { on_request: Some(NEXT), items: slow, ..Guest::default() };
    check(&slow.build(), "does not start within 100 ms of CPU time", "no limit allows more");
}

#[test]
fn p07_a_component_of_too_many_parts_is_refused() {
    let bench = Bench::new();
    let parts: String =
        (0..1_000).map(|part| format!("(core instance $p{part} (instantiate $part))")).collect();
    let imports = format!("(core module $part) {parts}");
    let many = Guest { on_request: Some(NEXT), imports: &imports, ..Guest::default() }.build();
    let message = bench.load(&bench.spec(&many)).expect_err("it is refused").to_string();
    assert!(message.contains("limit"), "{message}");
}

/// Whatever a flipped bit makes of a component: an error, or another component.
#[test]
fn p21_flipped_bits_are_no_crash() {
    let bench = Bench::new();
    let good = good();
    let (mut taken, mut refused) = (0, 0);
    for place in (0..good.len() * 8).step_by(good.len() * 8 / 250) {
        let mut bytes = good.clone();
        if let Some(byte) = bytes.get_mut(place / 8) {
            *byte ^= 1 << (place % 8);
        }
        match bench.load(&bench.spec(&bytes)) {
            Ok(_) => taken += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(taken + refused >= 250 && refused > 0, "{taken} taken, {refused} refused");
}

#[test]
fn names_of_a_component_can_not_forge_lines() {
    // A name that does not validate: patched into the binary.
    let import = r#"(import "aaaa:bbbb/cccccccccccccccccccc@0.1.0" (instance))"#;
    let mut bytes = Guest { on_request: Some(NEXT), imports: import, ..Guest::default() }.build();
    let name = b"aaaa:bbbb/cccccccccccccccccccc@0.1.0";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("the name");
    let evil = b"\x1b[31m\x1b]0;a\x07\r\nloads yes\xc2\x9b0mzzzzzzzzzz";
    assert_eq!(evil.len(), name.len());
    bytes.splice(at..at + name.len(), evil.iter().copied());
    let bench = Bench::new();
    let message = bench.load(&bench.spec(&bytes)).expect_err("it is refused").to_string();
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.contains("\\u{1b}[31m"), "{message}");
    let exports: String = (0..20_000).map(|index| format!(r#"(export "e{index}" (instance $i))"#)).collect();
    let many = wat::parse_str(format!("(component (instance $i) {exports})")).expect("a component");
    let message = bench.load(&bench.spec(&many)).expect_err("it is refused").to_string();
    assert!(message.contains("it exports `e0`, `e1`, ") && message.ends_with(" more"), "{message}");
    assert!(message.len() < 1_500, "{} bytes", message.len());
}

#[test]
fn a_refusal_is_cut_and_escaped() {
    let bench = Bench::new();
    // Refuses with 64 KiB of memory: noughts, most of it.
    let configure = "(i32.store8 (i32.const 200) (i32.const 1))
        (i32.store (i32.const 204) (i32.const 8192)) (i32.store (i32.const 208) (i32.const 65536))
        (i32.const 200)";
    let guest = Guest { on_request: Some(NEXT), configure: Some(configure), ..Guest::default() };
    let plugin = bench.load(&bench.spec(&guest.build())).expect("a plugin");
    let message = plugin.configure(&Map::new()).expect_err("it is refused").to_string();
    assert!(!message.contains('\0') && message.contains("\\u{0}"), "{message:?}");
    assert!(message.len() < 8_000, "{} bytes", message.len());
}

#[test]
fn wrong_types() {
    let bench = Bench::new();
    let wrong = wat::parse_str(
        r#"(component
            (core module $m (func (export "f") (result i32) (i32.const 0)))
            (core instance $m (instantiate $m))
            (func $f (result u32) (canon lift (core func $m "f")))
            (instance $i (export "on-request" (func $f)))
            (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#,
    );
    let error = bench.load(&bench.spec(&wrong.expect("a component"))).expect_err("it is refused");
    assert!(error.to_string().contains("does not fit the contract"), "{error}");
}

#[test]
fn a_pin_is_held() {
    let bench = Bench::new();
    let mut spec = bench.spec(&good());
    spec.sha256 = Some("ab".repeat(32));
    let error = bench.load(&spec).expect_err("it is refused").to_string();
    assert!(error.contains(&format!("the manifest says `{}`", "ab".repeat(32))), "{error}");
    spec.sha256 = None;
    let plugin = bench.load(&spec).expect("a plugin");
    spec.sha256 = Some(plugin.version().to_uppercase());
    bench.load(&spec).expect("the pin is right");
}

#[test]
fn p18_files_that_are_none() {
    let bench = Bench::new();
    let mut spec = bench.spec(&good());
    spec.file = spec.file.with_file_name("missing.wasm");
    let error = bench.load(&spec).expect_err("it is refused").to_string();
    assert!(error.contains("missing.wasm`: the file can't be read: "), "{error}");
    spec.file = std::env::temp_dir();
    let error = bench.load(&spec).expect_err("it is refused").to_string();
    assert!(error.ends_with("not a file"), "{error}");
}

#[test]
fn a_plugin_says_what_it_is() {
    let bench = Bench::new();
    let spec = bench.spec(&good());
    let plugin = bench.load(&spec).expect("a plugin");
    assert_eq!(plugin.phases(), [Phase::Request]);
    assert_eq!((plugin.size(), plugin.cached(), plugin.waits()), (good().len(), false, false));
    assert!(plugin.imports().iter().all(|import| import.access == Access::Always));
    let seen = inspect(&spec.file).expect("a file");
    assert_eq!((seen.kind, seen.contract.as_deref()), (Kind::Component, Some("0.1.0")));
    assert_eq!((seen.phases, seen.takes_configuration), (vec![Phase::Request], false));
    assert_eq!((seen.size, &*seen.sha256, seen.refused.is_none()), (plugin.size(), plugin.version(), true));
    let sockets = Guest { on_request: Some(NEXT), imports: SOCKETS, ..Guest::default() }.build();
    let seen = inspect(&bench.spec(&sockets).file).expect("a file");
    let refused: Vec<&str> = seen
        .imports
        .iter()
        .filter(|import| import.access == Access::Never)
        .map(|import| &*import.name)
        .collect();
    assert_eq!(refused, ["wasi:sockets/instance-network@0.2.0"]);
    assert!(seen.refused.is_some());
    let seen = inspect(&bench.spec(b"\0asm\x01\0\0\0").file).expect("a file");
    assert_eq!((seen.kind, seen.refused.is_some()), (Kind::CoreModule, true));
}

#[test]
fn p25_configurations() {
    /// Refuses with `no`, if the text is longer than `{}`.
    const PICKY: &str = "
        (i32.store8 (i32.const 200) (i32.gt_u (local.get $length) (i32.const 2)))
        (i32.store (i32.const 204) (i32.const 1040)) (i32.store (i32.const 208) (i32.const 2))
        (i32.const 200)";
    fn check(configure: Option<&str>, json: &str, expected: Result<(), &str>) {
        let bench = Bench::new();
        let guest = Guest { on_request: Some(NEXT), configure, ..Guest::default() };
        let plugin = bench.load(&bench.spec(&guest.build())).expect("a plugin");
        let taken = plugin.configure(&object(json)).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(taken, expected.map_err(str::to_owned));
    }
    check(None, "{}", Ok(()));
    check(None, r#"{"a":1}"#, Err("plugin `guest` takes no configuration; remove `config`"));
    check(Some(PICKY), "{}", Ok(()));
    check(Some(PICKY), r#"{"a":1}"#, Err("plugin `guest` refused its configuration: no"));
    let trap = "plugin `guest` failed while it read its configuration: \
        trap: wasm trap: wasm `unreachable` instruction executed";
    check(Some("unreachable"), "{}", Err(trap));
    let time = "plugin `guest` did not finish reading its configuration within 100 ms of CPU time";
    check(Some("(loop $again (br $again)) (i32.const 0)"), "{}", Err(time));
}

#[test]
fn equal_configurations_share_an_id() {
    let bench = Bench::new();
    let guest = Guest { on_request: Some(NEXT), configure: Some("(i32.const 0)"), ..Guest::default() };
    let plugin = bench.load(&bench.spec(&guest.build())).expect("a plugin");
    let id = |json: &str| plugin.configure(&object(json)).expect("it is taken");
    let first = id(r#"{"a":1,"b":2}"#);
    assert_eq!(first, id(r#"{"b":2,"a":1}"#));
    assert_ne!(first, id(r#"{"a":1}"#));
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).expect("an object")
}
