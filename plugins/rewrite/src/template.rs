//! Text with captures: `$1`, `${1}`, `${name}`, and `$$` for a dollar. Must not know where it goes.

use regex::bytes::{Captures, Regex};

/// What a regular expression captures.
#[derive(Default)]
pub(crate) struct Groups {
    count: usize,
    names: Vec<Option<String>>,
}

impl Groups {
    pub(crate) fn of(regex: &Regex) -> Self {
        let names = regex.capture_names().map(|name| name.map(str::to_owned)).collect();
        Self { count: regex.captures_len(), names }
    }

    fn index(&self, group: &str) -> Option<usize> {
        match group.parse() {
            Ok(index) => Some(index).filter(|index| *index < self.count),
            Err(_) => self.names.iter().position(|name| name.as_deref() == Some(group)),
        }
    }
}

/// A parsed text.
pub(crate) struct Template(Vec<Piece>);

enum Piece {
    Literal(String),
    Capture(usize),
}

impl Template {
    /// # Errors
    /// Which `$` is no capture of the expression.
    pub(crate) fn parse(text: &str, groups: &Groups) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('$') {
            push_literal(&mut pieces, literal);
            if let Some(tail) = tail.strip_prefix('$') {
                push_literal(&mut pieces, "$");
                rest = tail;
                continue;
            }
            let (group, tail) = group(tail).ok_or("a single `$` is not followed by a group: write `$$`")?;
            let index = groups.index(group).ok_or_else(|| match groups.count {
                0 => format!("`${{{group}}}` needs a `path.regex` that captures it"),
                _ => format!("`path.regex` has no group `{group}`"),
            })?;
            pieces.push(Piece::Capture(index));
            rest = tail;
        }
        push_literal(&mut pieces, rest);
        Ok(Self(pieces))
    }

    /// Whether it needs a match.
    pub(crate) fn captures(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Capture(_)))
    }

    /// The text between the captures.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Capture(_) => None,
        })
    }

    /// The text with what was captured; a group that took no part in the match is empty.
    pub(crate) fn expand(
        &self,
        captures: &Captures<'_>,
        literal: fn(&str) -> String,
        captured: fn(&str) -> String,
    ) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => literal(text),
            Piece::Capture(index) => captures
                .get(*index)
                .map_or_else(String::new, |found| captured(&String::from_utf8_lossy(found.as_bytes()))),
        };
        self.0.iter().map(piece).collect()
    }
}

/// The group behind a `$`, and what is behind the group.
fn group(text: &str) -> Option<(&str, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        return braced.split_once('}');
    }
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Literal(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_put_in() {
        fn check(template: &str, expected: &str) {
            let regex = Regex::new("^/(?<shop>[^/]+)(/x)?/([0-9]+)$").unwrap();
            let captures = regex.captures(b"/acme/7").unwrap();
            let template = Template::parse(template, &Groups::of(&regex)).unwrap();
            assert_eq!(template.expand(&captures, str::to_owned, str::to_owned), expected);
        }
        check("", "");
        check("/w", "/w");
        check("/$1/${3}0$2", "/acme/70");
        check("${shop}$3", "acme7");
        check("$0", "/acme/7");
        check("$$1$$", "$1$");
    }

    #[test]
    fn a_dollar_without_a_group_is_refused() {
        fn check(template: &str, groups: &Groups, expected: &str) {
            let error = Template::parse(template, groups).err().unwrap_or_default();
            assert!(error.contains(expected) && !error.is_empty(), "{error}");
        }
        let groups = Groups::of(&Regex::new("(a)").unwrap());
        check("$", &groups, "write `$$`");
        check("a$b", &groups, "write `$$`");
        check("${1", &groups, "write `$$`");
        check("$2", &groups, "no group `2`");
        check("${name}", &groups, "no group `name`");
        check("$99999999999999999999", &groups, "no group");
        check("$1", &Groups::default(), "needs a `path.regex`");
    }
}
