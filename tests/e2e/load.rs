//! Plugins at load: a bare file works, and what can't work is refused before any request is taken.

use edgewright_tests::{Component, Origin, Setup, guest};

/// A component whose one export and import have these names, and types that are of no matter.
fn component(import: &str, export: &str) -> Component {
    let import = if import.is_empty() {
        String::new()
    } else {
        format!("(import \"{import}\" (instance (export \"read\" (func (result u32)))))")
    };
    let text = format!(
        r#"(component
            {import}
            (core module $code (func (export "run") (param i32) (result i32) (i32.const 0)))
            (core instance $code (instantiate $code))
            (func $run (param "config" u32) (result u32) (canon lift (core func $code "run")))
            (instance $phase (export "on-request" (func $run)))
            (export "{export}" (instance $phase)))"#
    );
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).into()
}

#[test]
fn a_bare_component_without_a_manifest_works() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("trap", &guest("trap"), "")
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start();
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(origin.last().field("x-seen").as_deref(), Some("1"));
    // Nobody promised that its instances may be shared.
    assert_eq!(proxy.status()["plugins"][0]["isolation"], "fresh");
}

#[test]
fn check_finds_what_a_start_would() {
    let origin = Origin::ok();
    let check = |component: Component, config: &str, code: i32, expected: &str| {
        let finished = Setup::new()
            .plugin("suspect", &component, "")
            .upstream("main", &origin)
            .route_all(&format!("[{{ name = \"suspect\"{config} }}]"), "main")
            .command(&["check", "edgewright.toml"])
            .expect_code(code);
        assert!(finished.said().contains(expected), "`{expected}` in\n{}", finished.said());
    };
    check(guest("trap"), "", 0, "1 plugin");
    check(b"text".as_slice().into(), "", 1, "suspect");
    check(guest("refuse"), ", config = { how = \"error\" }", 1, "edgewright.toml:");
    check(guest("refuse"), ", config = { how = \"error\" }", 1, "`how` must be `accept`");
}

#[test]
fn p19_p20_p21_p25_a_plugin_that_cannot_work_is_refused_by_name_at_the_start() {
    let check = |what: &str, component: Component, config: &str, expected: &[&str]| {
        let origin = Origin::ok();
        let finished = Setup::new()
            .plugin("suspect", &component, "")
            .upstream("main", &origin)
            .route_all(&format!("[{{ name = \"suspect\"{config} }}]"), "main")
            .run_to_end()
            .expect_code(1);
        for text in ["suspect"].iter().chain(expected) {
            assert!(finished.said().contains(text), "{what}: `{text}` in\n{}", finished.said());
        }
        assert!(!finished.said().contains("panicked at host/"), "{what}: {}", finished.said());
    };
    check("empty", vec![].into(), "", &["empty"]);
    check("text", b"#!/bin/sh\necho".as_slice().into(), "", &["WebAssembly"]);
    check("ELF", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".as_slice().into(), "", &["WebAssembly"]);
    check("core module", b"\0asm\x01\0\0\0".as_slice().into(), "", &["wasm32-wasip2"]);
    check("cut short", b"\0asm\x0d\0\x01\0\xff".as_slice().into(), "", &[]);
    check(
        "another version",
        component("", "edgewright:plugin/request-filter@0.2.0"),
        "",
        &["0.2.0", "0.1.0"],
    );
    check("another world", component("", "acme:other/handler@1.0.0"), "", &["phase"]);
    check(
        "unknown import",
        component("acme:vault/secrets@1.0.0", "edgewright:plugin/request-filter@0.1.0"),
        "",
        &["acme:vault/secrets@1.0.0"],
    );
    let refuse = |how: &str| format!(", config = {{ how = \"{how}\" }}");
    check("refuses", guest("refuse"), &refuse("error"), &["`how` must be `accept`"]);
    check("panics", guest("refuse"), &refuse("panic"), &["no configuration is good enough"]);
    check("loops", guest("refuse"), &refuse("loop"), &["within 100 ms"]);
    check("no configuration given", guest("refuse"), "", &["how"]);
    check("a word it does not know", guest("refuse"), &refuse("perhaps"), &["perhaps"]);
    check("takes none", guest("trap"), ", config = { key = 1 }", &[]);
}

#[test]
fn a_configuration_that_is_accepted_is_served() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("refuse", &guest("refuse"), "")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "refuse", config = { how = "accept" } }]"#, "main")
        .start();
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn p23_a_pinned_hash_must_be_the_files() {
    let origin = Origin::ok();
    let finished = Setup::new()
        .plugin("trap", &guest("trap"), &format!("sha256 = \"{}\"", "0".repeat(64)))
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .run_to_end()
        .expect_code(1);
    assert!(
        finished.said().contains(&"0".repeat(64)) && finished.said().contains("`trap`"),
        "{}",
        finished.said()
    );
}

#[test]
fn a_plugin_that_no_route_names_is_not_even_read() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("broken", &b"not a component".as_slice().into(), "")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.get("/x").status, 200);
}
