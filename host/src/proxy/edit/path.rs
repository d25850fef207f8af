//! The path of an attempt. What comes out is normal as it stands: where the pieces, put together, spell an escape
//! or a dot segment that none of them has, the request is refused, since it would lead to another path than the
//! configuration says. Pure.

use std::borrow::Cow;

use regex::Captures;

use crate::config::model::{PathEdits, Piece, Rewrite, Template};
use crate::target;

use super::BadEdit;

/// The changed path, and what the rewrite adds to the query.
///
/// # Errors
/// What comes out is not in its normal form.
pub(super) fn edited<'p>(
    edits: &PathEdits,
    asked: &'p str,
) -> Result<(Cow<'p, str>, Option<String>), BadEdit> {
    let mut path = Cow::Borrowed(asked);
    let mut added = None;
    if let Some(prefix) = &edits.strip_prefix
        && let Some(rest) = stripped(asked, prefix)
    {
        path = Cow::Borrowed(rest);
    }
    if let Some(rewrite) = &edits.rewrite
        && let Some((replaced, query)) = rewritten(rewrite, &path)
    {
        path = Cow::Owned(replaced);
        added = query;
    }
    if let Some(prefix) = &edits.add_prefix {
        path = Cow::Owned(format!("{prefix}{path}"));
    }
    if let Cow::Owned(made) = &path {
        let normal = target::normalize(made.as_bytes()).map_err(|_| BadEdit::NotNormal)?;
        if normal != *made {
            return Err(BadEdit::NotNormal);
        }
    }
    Ok((path, added))
}

/// What follows the prefix, if that is there as whole segments.
fn stripped<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    match path.strip_prefix(prefix)? {
        "" => Some("/"),
        rest => rest.starts_with('/').then_some(rest),
    }
}

/// Path and added query, where the pattern matches. Slashes that meet become one, and the first is there.
fn rewritten(rewrite: &Rewrite, path: &str) -> Option<(String, Option<String>)> {
    let captures = rewrite.pattern.captures(path)?;
    let whole = captures.get(0)?;
    let mut made = String::with_capacity(path.len() + 16);
    made.push('/');
    let before = path.get(..whole.start()).unwrap_or_default();
    let after = path.get(whole.end()..).unwrap_or_default();
    let replacement = expanded(&rewrite.path, &captures, |group, text| text.push_str(group));
    for part in [before, &replacement, after] {
        for letter in part.chars() {
            if !(letter == '/' && made.ends_with('/')) {
                made.push(letter);
            }
        }
    }
    let query = rewrite.query.as_ref().map(|query| expanded(query, &captures, push_as_parameter));
    Some((made, query))
}

fn expanded(template: &Template<usize>, captures: &Captures<'_>, put: impl Fn(&str, &mut String)) -> String {
    let mut text = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            // A group that took no part in the match is empty.
            Piece::Variable(group) => {
                put(captures.get(*group).map_or("", |group| group.as_str()), &mut text);
            }
        }
    }
    text
}

/// A piece of a path inside of a parameter: its escapes mean the same there, but some letters don't.
fn push_as_parameter(piece: &str, text: &mut String) {
    for letter in piece.chars() {
        match letter {
            '&' => text.push_str("%26"),
            '+' => text.push_str("%2B"),
            ';' => text.push_str("%3B"),
            '=' => text.push_str("%3D"),
            letter => text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn text(text: &str) -> Piece<usize> {
        Piece::Text(text.to_owned())
    }

    fn check(edits: &PathEdits, asked: &str, expected: Result<(&str, Option<&str>), BadEdit>) {
        let got = edited(edits, asked);
        let got = got.as_ref().map(|(path, query)| (&**path, query.as_deref())).map_err(|bad| *bad);
        assert_eq!(got, expected, "{asked}");
    }

    #[test]
    fn prefixes_are_whole_segments() {
        let edits = PathEdits {
            strip_prefix: Some("/api".into()),
            add_prefix: Some("/v2".into()),
            ..PathEdits::default()
        };
        check(&edits, "/api/x", Ok(("/v2/x", None)));
        check(&edits, "/api", Ok(("/v2/", None)));
        check(&edits, "/api/", Ok(("/v2/", None)));
        check(&edits, "/apis", Ok(("/v2/apis", None)));
        check(&edits, "/api../x", Ok(("/v2/api../x", None)));
        check(&edits, "/x/api", Ok(("/v2/x/api", None)));
        check(&PathEdits::default(), "/x", Ok(("/x", None)));
    }

    fn rewrite(pattern: &str, path: Vec<Piece<usize>>, query: Option<Vec<Piece<usize>>>) -> PathEdits {
        let rewrite = Rewrite {
            pattern: Regex::new(pattern).unwrap(),
            path: Template { pieces: path },
            query: query.map(|pieces| Template { pieces }),
        };
        PathEdits { rewrite: Some(rewrite), ..PathEdits::default() }
    }

    #[test]
    fn case_03_a_rewrite_moves_a_segment_into_the_query() {
        let edits = rewrite(
            "^/([^/]+)/widgets(/.*)?$",
            vec![text("/w"), Piece::Variable(2)],
            Some(vec![text("brand="), Piece::Variable(1)]),
        );
        check(&edits, "/acme/widgets/7", Ok(("/w/7", Some("brand=acme"))));
        check(&edits, "/acme/widgets", Ok(("/w", Some("brand=acme"))));
        check(&edits, "/a&b=1+c;d%20e/widgets", Ok(("/w", Some("brand=a%26b%3D1%2Bc%3Bd%20e"))));
        check(&edits, "/other", Ok(("/other", None)));
    }

    #[test]
    fn only_what_matched_is_replaced() {
        check(&rewrite("b+", vec![text("x")], None), "/abba/bb", Ok(("/axa/bb", None)));
        check(&rewrite("^/", vec![], None), "/a", Ok(("/a", None)));
        check(&rewrite("^/a$", vec![], None), "/a", Ok(("/", None)));
        check(&rewrite("^/a(.*)$", vec![text("/b/"), Piece::Variable(1)], None), "/a/c", Ok(("/b/c", None)));
    }

    #[test]
    fn c25_nothing_that_is_put_together_climbs_out_of_its_prefix() {
        let below = |pattern: &str| rewrite(pattern, vec![text("/safe/"), Piece::Variable(1)], None);
        check(&below("^/x(.*)$"), "/x../secret", Err(BadEdit::NotNormal));
        check(&below("^/x(.*)$"), "/x./secret", Err(BadEdit::NotNormal));
        check(&below("^/x(.*)$"), "/x..%2Fsecret", Err(BadEdit::NotNormal));
        check(&below("^/x(.*)$"), "/x..;/secret", Err(BadEdit::NotNormal));
        check(&below("^/x(.*)$"), "/x..secret", Ok(("/safe/..secret", None)));
        // An escape is taken apart, and another one comes of it.
        let joined = rewrite("^/(.*)25(.*)$", vec![text("/"), Piece::Variable(1), Piece::Variable(2)], None);
        check(&joined, "/%252e%2F", Err(BadEdit::NotNormal));
        check(&joined, "/%2541", Err(BadEdit::NotNormal));
        check(&rewrite("41", vec![], None), "/%41x", Err(BadEdit::NotNormal));
    }
}
