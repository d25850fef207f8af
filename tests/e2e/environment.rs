//! What of the process around it a plugin sees.

use edgewright_tests::{Origin, Setup, guest};

fn setup(manifest: &str, origin: &Origin) -> Setup {
    Setup::new()
        .plugin("curious", &guest("environment"), manifest)
        .upstream("main", origin)
        .route_all("[\"curious\"]", "main")
}

#[test]
fn p28_a_plugin_sees_nothing_of_the_process() {
    let origin = Origin::ok();
    let proxy = setup("", &origin).start();
    let seen = proxy.get("/").text();
    assert_eq!(seen, "[] [] true \"\" false");
}

#[test]
fn p28_variables_are_seen_by_name() {
    let origin = Origin::ok();
    let path = std::env::var("PATH").expect("a variable that is always there");
    let proxy = setup("grants = { env = [\"PATH\"] }", &origin).start();
    assert_eq!(proxy.get("/").text(), format!("[(\"PATH\", {path:?})] [] true \"\" false"));

    let finished =
        setup("grants = { env = [\"EDGEWRIGHT_IS_NOT_SET\"] }", &origin).run_to_end().expect_code(1);
    let expected = "`grants.env`: `EDGEWRIGHT_IS_NOT_SET` is not set in the proxy's environment";
    assert!(finished.said().contains(expected), "{}", finished.said());
}
