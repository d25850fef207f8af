//! The plugin `jwt` in the real proxy.

use edgewright_tests::{Origin, component, get};

use crate::shipped::shipped;

fn testdata(name: &str) -> String {
    let file = component::repository().join("plugins/jwt/testdata").join(name);
    std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("`{}`: {error}", file.display()))
        .trim()
        .to_owned()
}

#[test]
fn jwt_lets_in_who_has_a_token_of_each_algorithm() {
    let origin = Origin::ok();
    let pem = |name: &str| format!("{:?}", testdata(name));
    let config = format!(
        r#"{{ issuers = ["https://login.test"], audiences = ["api"], headers = {{ x-user = "sub", x-roles = "roles" }}, keys = [
            {{ algorithm = "HS256", secret = "correct-horse-battery-staple-0123" }},
            {{ algorithm = "RS256", public-key = {} }},
            {{ algorithm = "ES256", public-key = {} }},
        ] }}"#,
        pem("rsa-public.pem"),
        pem("ec-public.pem")
    )
    .replace('\n', " ");
    let proxy =
        shipped("jwt", &config, &origin).access_log("path = \"stdout\"\nattributes = [\"jwt.sub\"]").start();
    for token in ["hs256.jwt", "rs256.jwt", "es256.jwt"] {
        let token = testdata(token);
        let good = get("/x").header("Authorization", format!("Bearer {token}")).header("X-User", "root");
        assert_eq!(proxy.ask(&good).status, 200, "{token}");
        let seen = origin.last();
        assert_eq!(seen.head.all("x-user"), [b"alice"]);
        assert_eq!(seen.field("x-roles").as_deref(), Some("admin,editor"));
        let (head, signature) = token.rsplit_once('.').expect("three parts");
        let bad = format!("Bearer {head}.{}", signature.chars().rev().collect::<String>());
        let refused = proxy.ask(&get("/x").header("Authorization", bad)).expect_status(401);
        let challenge = refused.field("www-authenticate").expect("a challenge");
        assert_eq!(challenge, r#"Bearer realm="api", error="invalid_token""#);
    }
    assert_eq!(proxy.get("/x").status, 401);
    assert_eq!(origin.requests().len(), 3);
}
