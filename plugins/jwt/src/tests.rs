//! Tokens of each algorithm, and everything that must not pass for one.

use std::time::{SystemTime, UNIX_EPOCH};

use edgewright_sdk::testing::{self, Exchange};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;

const SECRET: &str = "correct-horse-battery-staple-0123";
const RSA: &str = include_str!("../testdata/rsa-public.pem");
const EC: &str = include_str!("../testdata/ec-public.pem");

/// Signed by the key of that name; good until the year 2100.
const TOKENS: [(&str, &str); 3] = [
    ("HS256", include_str!("../testdata/hs256.jwt")),
    ("RS256", include_str!("../testdata/rs256.jwt")),
    ("ES256", include_str!("../testdata/es256.jwt")),
];

fn key(algorithm: &str) -> Value {
    match algorithm {
        "HS256" => json!({ "algorithm": "HS256", "secret": SECRET }),
        "RS256" => json!({ "algorithm": "RS256", "public-key": RSA, "id": "rsa" }),
        _ => json!({ "algorithm": "ES256", "public-key": EC }),
    }
}

fn plugin(keys: &[Value], extra: Value) -> Jwt {
    let mut config = json!({ "keys": keys, "headers": { "x-user": "sub", "x-roles": "roles" } });
    let (Value::Object(config), Value::Object(extra)) = (&mut config, extra) else {
        panic!("objects were written")
    };
    config.extend(extra);
    testing::configure(&serde_json::to_string(config).unwrap()).unwrap()
}

fn asked(plugin: &Jwt, authorization: &str) -> Exchange {
    let mut exchange = Exchange::get("/").header("authorization", authorization).header("X-User", "root");
    exchange.on_request(plugin);
    exchange
}

fn signed(claims: Value, secret: &str) -> String {
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap() + seconds
}

#[test]
fn a_signed_token_says_who_it_is() {
    let keys = ["HS256", "RS256", "ES256"].map(key);
    for (algorithm, token) in TOKENS {
        let rules = json!({ "issuers": ["https://login.test"], "audiences": ["api", "other"] });
        let exchange = asked(&plugin(&keys, rules), &format!("Bearer {}", token.trim()));
        assert_eq!(exchange.status(), 0, "{algorithm}");
        assert_eq!(exchange.request_header_all("x-user"), ["alice"]);
        assert_eq!(exchange.request_header("x-roles").unwrap(), "admin,editor");
        assert_eq!(exchange.attribute("jwt.sub").unwrap(), "alice");
    }
}

#[test]
fn anything_else_is_refused() {
    let keys = ["HS256", "RS256", "ES256"].map(key);
    let plugin = plugin(&keys, json!({}));
    let [(_, hs), (_, rs), (_, es)] = TOKENS.map(|(name, token)| (name, token.trim()));
    let changed = |token: &str, at: usize| {
        let mut bytes = token.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let head = |token: &str| token.rsplit_once('.').unwrap().0.to_owned();
    // `{"alg":"none"}`, with the claims of a good token.
    let none = format!("eyJhbGciOiJub25lIn0.{}.", hs.split('.').nth(1).unwrap());
    // RS256's public key as the secret of HS256.
    let confused = signed(json!({ "sub": "alice", "exp": 4_102_444_800_u64 }), RSA);
    for token in [
        "",
        "x",
        "a.b.c",
        &none,
        &confused,
        &head(hs),
        &format!("{}.", head(rs)),
        &changed(hs, hs.len() - 10),
        &changed(rs, rs.len() - 10),
        &changed(es, es.len() - 10),
        &changed(hs, hs.len() / 2),
        &"a".repeat(9_000),
        &format!("{hs} {hs}"),
    ] {
        let exchange = asked(&plugin, &format!("Bearer {token}"));
        assert_eq!(exchange.status(), 401, "{token}");
        assert_eq!(exchange.request_header("x-user"), None, "{token}");
    }
    for line in ["Basic YTpi", "Bearer", hs] {
        assert_eq!(asked(&plugin, line).status(), 401, "{line}");
    }
    let good = format!("Bearer {hs}");
    let mut twice =
        Exchange::get("/").header("authorization", good.as_str()).header("authorization", good.as_str());
    twice.on_request(&plugin);
    assert_eq!(twice.status(), 401);
    assert_eq!(asked(&plugin, &format!("bearer  {hs}")).status(), 0, "schemes have no case");
}

#[test]
fn claims_are_held_to_the_rules() {
    fn check(claims: Value, rules: Value, expected: u16) {
        let token = signed(claims.clone(), SECRET);
        let status = asked(&plugin(&[key("HS256")], rules), &format!("Bearer {token}")).status();
        assert_eq!(status, expected, "{claims}");
    }
    let none = || json!({});
    check(json!({ "exp": in_seconds(60) }), none(), 0);
    check(json!({ "exp": in_seconds(-10) }), none(), 0);
    check(json!({ "exp": in_seconds(-10) }), json!({ "leeway": 0 }), 401);
    check(json!({ "exp": in_seconds(-60) }), none(), 401);
    check(json!({ "exp": "soon" }), none(), 401);
    check(json!({}), none(), 401);
    check(json!({}), json!({ "expires": false }), 0);
    check(json!({ "exp": in_seconds(60), "nbf": in_seconds(50) }), none(), 401);
    let rules = || json!({ "issuers": ["a"], "audiences": ["b"] });
    check(json!({ "exp": in_seconds(60), "iss": "a", "aud": ["x", "b"] }), rules(), 0);
    check(json!({ "exp": in_seconds(60), "iss": "x", "aud": "b" }), rules(), 401);
    check(json!({ "exp": in_seconds(60), "iss": "a", "aud": "x" }), rules(), 401);
    check(json!({ "exp": in_seconds(60), "aud": "b" }), rules(), 401);
    check(json!({ "exp": in_seconds(60), "iss": "a" }), rules(), 401);
}

#[test]
fn a_key_is_for_the_tokens_that_name_it() {
    let other = json!({ "algorithm": "HS256", "secret": SECRET, "id": "other" });
    let [(_, hs), ..] = TOKENS;
    assert_eq!(asked(&plugin(&[other], json!({})), &format!("Bearer {}", hs.trim())).status(), 401);
}

#[test]
fn a_token_may_be_optional_or_in_a_cookie() {
    let [(_, hs), ..] = TOKENS.map(|(name, token)| (name, token.trim()));
    let optional = plugin(&[key("HS256")], json!({ "required": false, "cookie": "session", "strip": true }));
    let mut without = Exchange::get("/").header("x-user", "root");
    assert_eq!(without.on_request(&optional).verdict, Verdict::Next);
    assert_eq!(without.request_header("x-user"), None);
    let mut cookie = Exchange::get("/").cookie("session", hs);
    cookie.on_request(&optional);
    assert_eq!(cookie.request_header("x-user").unwrap(), "alice");
    assert_eq!(asked(&optional, "Bearer x").status(), 401, "a bad token is no missing one");
    assert_eq!(asked(&optional, &format!("Bearer {hs}")).request_header("authorization"), None);
    let mut missing = Exchange::get("/");
    missing.on_request(&plugin(&[key("HS256")], json!({ "realm": "door" })));
    assert_eq!(missing.response_header("www-authenticate").unwrap(), r#"Bearer realm="door""#);
    let bad = asked(&plugin(&[key("HS256")], json!({})), "Bearer x");
    assert_eq!(
        bad.response_header("www-authenticate").unwrap(),
        r#"Bearer realm="api", error="invalid_token""#
    );
}

#[test]
fn mistakes_are_load_errors() {
    fn check(config: Value, expected: &str) {
        let error = testing::configure::<Jwt>(&config.to_string()).err().unwrap_or_default();
        assert!(error.contains(expected) && !error.contains("hush"), "{error}");
    }
    let keys = |key: Value| json!({ "keys": [key] });
    check(json!({ "keys": [] }), "`keys` is empty");
    check(keys(json!({ "algorithm": "none" })), "`keys[0]`: `algorithm`: `none` is none of");
    check(
        keys(json!({ "algorithm": "HS256", "secret": "hush" })),
        "`keys[0]`: `secret` is shorter than 32 bytes",
    );
    check(keys(json!({ "algorithm": "HS256", "public-key": RSA })), "`HS256` takes a `secret`");
    check(keys(json!({ "algorithm": "RS256", "secret": SECRET })), "`RS256` takes a `public-key`");
    check(
        keys(json!({ "algorithm": "RS256", "public-key": "hush" })),
        "`public-key` is no public key for `RS256`",
    );
    check(
        keys(json!({ "algorithm": "ES256", "public-key": RSA })),
        "`public-key` is no public key for `ES256`",
    );
    check(json!({ "keys": [key("HS256")], "headers": { "Host": "sub" } }), "`headers`: `Host`");
    check(json!({ "keys": [key("HS256")], "realm": "a\"" }), "`realm`");
}
