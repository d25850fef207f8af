//! What became of a request beside what was to become of it. Must not know files.

use http::HeaderMap;

use crate::plugin::printable;
use crate::proxy::{Course, Verdict};

use super::cases::{Expect, Wanted};

/// Each thing that is not as expected, in a line.
pub(super) fn mismatches(expect: &Expect, course: &Course, upstreams: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut same = |what: &str, wanted: &Option<String>, got: &str| {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != got) {
            found.push(format!("{what}: expected `{}`, got `{}`", printable(wanted), printable(got)));
        }
    };
    same("verdict", &expect.verdict, word(course.verdict));
    same("request.method", &expect.request.method, course.method.as_str());
    same("request.target", &expect.request.target, &course.target);
    same("request.body", &expect.request.body, &String::from_utf8_lossy(&course.body));
    same("attempts", &expect.attempts.map(|wanted| wanted.to_string()), &course.attempts.to_string());
    same("response.status", &expect.response.status.map(|s| s.to_string()), course.reply.status.as_str());
    same("response.body", &expect.response.body, &String::from_utf8_lossy(&course.reply.body));
    let broken = expect.response.broken.map(|wanted| wanted.to_string());
    same("response.broken", &broken, &course.reply.broken.to_string());
    let chosen = course.upstream.and_then(|index| upstreams.get(index));
    same("upstream", &expect.upstream, chosen.map_or("the route's own", String::as_str));
    for (side, wanted, got) in [
        ("request", &expect.request.headers, &course.headers),
        ("response", &expect.response.headers, &course.reply.headers),
    ] {
        for (name, wanted) in wanted {
            let got = lines(got, name);
            found.extend(differs(wanted, &got).map(|how| format!("{side}.headers.{name}: {how}")));
        }
    }
    for (key, wanted) in &expect.attributes {
        let got = course.attributes.get(key).map(|value| String::from_utf8_lossy(value).into_owned());
        let got: Vec<String> = got.into_iter().collect();
        found.extend(differs(wanted, &got).map(|how| format!("attributes.`{key}`: {how}")));
    }
    found
}

/// The word for a verdict.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Next => "next",
        Verdict::Respond => "respond",
        Verdict::Failed(failure) => failure.name(),
        Verdict::Page(word) => word,
    }
}

fn lines(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

/// How they differ, where they do.
fn differs(wanted: &Wanted, got: &[String]) -> Option<String> {
    let wanted: &[String] = match wanted {
        Wanted::There(there) if *there != got.is_empty() => return None,
        Wanted::There(true) => return Some("expected to be there, but is not".to_owned()),
        Wanted::There(false) => return Some(format!("expected not to be there, got {}", shown(got))),
        Wanted::One(line) => std::slice::from_ref(line),
        Wanted::Many(lines) => lines,
    };
    (wanted != got).then(|| format!("expected {}, got {}", shown(wanted), shown(got)))
}

fn shown(lines: &[String]) -> String {
    if lines.is_empty() {
        return "nothing".to_owned();
    }
    lines.iter().map(|line| format!("`{}`", printable(line))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_absence() {
        let check = |wanted: &Wanted, got: &[&str], expected: Option<&str>| {
            let got: Vec<String> = got.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(differs(wanted, &got).as_deref(), expected);
        };
        check(&Wanted::There(true), &["a"], None);
        check(&Wanted::There(false), &[], None);
        check(&Wanted::There(true), &[], Some("expected to be there, but is not"));
        check(&Wanted::There(false), &["a"], Some("expected not to be there, got `a`"));
        check(&Wanted::One("a".into()), &["a"], None);
        check(&Wanted::One("a".into()), &[], Some("expected `a`, got nothing"));
        check(&Wanted::Many(vec!["a".into(), "b".into()]), &["a", "b"], None);
        check(&Wanted::Many(vec!["a".into()]), &["b"], Some("expected `a`, got `b`"));
    }
}
