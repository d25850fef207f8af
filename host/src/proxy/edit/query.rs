//! The query of an attempt: the client's parameters byte for byte, without those that are removed or set, then
//! what a rewrite adds, then those that are set, then those that are appended. Pure.

use crate::config::model::{QueryEdits, Template, Variable};
use crate::route;

/// The changed query; `None` where nothing is left of it.
pub(super) fn edited(
    edits: &QueryEdits,
    asked: Option<&str>,
    added: Option<&str>,
    render: impl Fn(&Template<Variable>) -> String,
) -> Option<String> {
    let mut query = String::new();
    if edits.remove.is_empty() && edits.set.is_empty() {
        push(&mut query, asked.unwrap_or_default());
    } else {
        for pair in asked.unwrap_or_default().split('&') {
            let name = pair.split('=').next().unwrap_or_default();
            let name = route::decoded_parameter(name);
            let gone = edits.remove.iter().chain(edits.set.iter().map(|(name, _)| name));
            if !gone.into_iter().any(|gone| gone.as_bytes() == &*name) {
                push(&mut query, pair);
            }
        }
    }
    push(&mut query, added.unwrap_or_default());
    for (name, value) in edits.set.iter().chain(&edits.append) {
        let mut pair = encoded(name);
        pair.push('=');
        pair.push_str(&encoded(&render(value)));
        push(&mut query, &pair);
    }
    // A lone `?` of the client's stays where nothing was to be changed.
    let untouched = edits.is_empty() && added.is_none() && asked.is_some();
    (untouched || !query.is_empty()).then_some(query)
}

fn push(query: &mut String, pairs: &str) {
    if pairs.is_empty() {
        return;
    }
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(pairs);
}

/// As a form would write it, but with `%20` for a space.
fn encoded(text: &str) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::config::model::Piece;

    use super::*;

    fn check(edits: &QueryEdits, asked: Option<&str>, added: Option<&str>, expected: Option<&str>) {
        let render = |template: &Template<Variable>| template.fixed().unwrap_or_default().to_owned();
        assert_eq!(edited(edits, asked, added, render).as_deref(), expected, "{asked:?} and {added:?}");
    }

    fn pair(name: &str, value: &str) -> (String, Template<Variable>) {
        (name.to_owned(), Template { pieces: vec![Piece::Text(value.to_owned())] })
    }

    #[test]
    fn case_03_what_is_added_is_merged_with_what_the_client_sent() {
        let none = QueryEdits::default();
        check(&none, Some("color=red&x=%26"), Some("brand=acme"), Some("color=red&x=%26&brand=acme"));
        check(&none, None, Some("brand=acme"), Some("brand=acme"));
        check(&none, Some(""), Some("brand=acme"), Some("brand=acme"));
        check(&none, Some(""), None, Some(""));
        check(&none, None, None, None);
        check(&none, Some("a&&b"), None, Some("a&&b"));
    }

    #[test]
    fn parameters_are_removed_set_and_appended() {
        let edits = QueryEdits {
            remove: vec!["utm source".into()],
            set: vec![pair("a", "1 & 2")],
            append: vec![pair("b", "ü")],
        };
        check(
            &edits,
            Some("a=0&utm+source=x&b=%zz&%61=3&utm%20source&c"),
            Some("d=1"),
            Some("b=%zz&c&d=1&a=1%20%26%202&b=%C3%BC"),
        );
        check(&QueryEdits { remove: vec!["a".into()], ..QueryEdits::default() }, Some("a=1"), None, None);
    }
}
