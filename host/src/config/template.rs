//! Text with variables, as it is written: `{host}` for a variable, `{{` and `}}` for braces; `$1` and `${name}`
//! for groups of a regular expression, `$$` for a dollar. Knows nothing of where it goes.

use regex::Regex;

use super::diagnostic::Diagnostic;
use super::model::{Piece, Template, Variable};
use super::{codes, suggest};

/// Text with what a request tells.
///
/// # Errors
/// A brace has no partner, or a name is unknown.
pub(crate) fn request(text: &str) -> Result<Template<Variable>, Diagnostic> {
    braces(text, &Variable::NAMES)
}

/// Text with variables in braces, by their names.
///
/// # Errors
/// A brace has no partner, or a name is unknown.
pub(crate) fn braces<V: Copy>(text: &str, names: &[(&str, V)]) -> Result<Template<V>, Diagnostic> {
    let refused = |message: String| Diagnostic::error(codes::BAD_TEMPLATE, message);
    let mut made = Template { pieces: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, brace) = rest.split_at(at);
        push(&mut made, literal);
        if let Some(after) = brace.strip_prefix("{{") {
            push(&mut made, "{");
            rest = after;
        } else if let Some(after) = brace.strip_prefix("}}") {
            push(&mut made, "}");
            rest = after;
        } else {
            let inside = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, after)) = inside else {
                let help = "variables are `{name}`; a brace is written twice: `{{`, `}}`";
                return Err(refused(format!("`{text}` has a brace without its partner")).with_help(help));
            };
            let Some((_, variable)) = names.iter().find(|(known, _)| *known == name) else {
                let known = || names.iter().map(|(known, _)| *known);
                let rest = format!("the variables here are {}", suggest::list(known()));
                return Err(refused(format!("unknown variable `{name}`")).with_help(suggest::help(
                    name,
                    known(),
                    &rest,
                )));
            };
            made.pieces.push(Piece::Variable(*variable));
            rest = after;
        }
    }
    push(&mut made, rest);
    Ok(made)
}

/// Text with what an expression captures.
///
/// # Errors
/// A `$` is followed by no group of the expression.
pub(crate) fn groups(text: &str, pattern: &Regex) -> Result<Template<usize>, Diagnostic> {
    let refused =
        |message: String, help: String| Err(Diagnostic::error(codes::BAD_TEMPLATE, message).with_help(help));
    let mut made = Template { pieces: Vec::new() };
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once('$') {
        push(&mut made, literal);
        if let Some(after) = behind.strip_prefix('$') {
            push(&mut made, "$");
            rest = after;
            continue;
        }
        let Some((group, after)) = group(behind) else {
            let help = "write `$1` or `${name}` for a group, and `$$` for a dollar";
            return refused(format!("`{text}` has a `$` without a group"), help.to_owned());
        };
        let Some(index) = index(pattern, group) else {
            let most = pattern.captures_len() - 1;
            let help = match most {
                0 => "groups are the parts of the pattern in parentheses".to_owned(),
                1 => "its group is `$1`; `$0` is all that matched".to_owned(),
                most => format!("its groups are `$1` to `${most}`, and `$0` is all that matched"),
            };
            return refused(format!("the pattern has no group `{group}`"), help);
        };
        made.pieces.push(Piece::Variable(index));
        rest = after;
    }
    push(&mut made, rest);
    Ok(made)
}

fn push<V>(template: &mut Template<V>, text: &str) {
    if text.is_empty() {
        return;
    }
    match template.pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ => template.pieces.push(Piece::Text(text.to_owned())),
    }
}

/// The group behind a `$`, and what is behind the group.
fn group(text: &str) -> Option<(&str, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        return braced.split_once('}');
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())
}

fn index(pattern: &Regex, group: &str) -> Option<usize> {
    match group.parse() {
        Ok(index) => Some(index).filter(|index| *index < pattern.captures_len()),
        Err(_) => pattern.capture_names().position(|name| name == Some(group)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_in_braces() {
        let check = |text: &str, expected: Result<&[Piece<Variable>], &str>| {
            let got = request(text).map(|template| template.pieces).map_err(|found| found.message);
            assert_eq!(got, expected.map(<[_]>::to_vec).map_err(str::to_owned), "{text}");
            if let Ok(template) = request(text) {
                assert_eq!(template.to_string(), text);
            }
        };
        let text = |text: &str| Piece::Text(text.to_owned());
        check("", Ok(&[]));
        check("plain", Ok(&[text("plain")]));
        check("{host}", Ok(&[Piece::Variable(Variable::Host)]));
        check("a{{b}}c{path}d", Ok(&[text("a{b}c"), Piece::Variable(Variable::Path), text("d")]));
        check("{hots}", Err("unknown variable `hots`"));
        check("{}", Err("unknown variable ``"));
        check("a{", Err("`a{` has a brace without its partner"));
        check("a}b", Err("`a}b` has a brace without its partner"));
    }

    #[test]
    fn groups_stand_behind_a_dollar() {
        let pattern = Regex::new("^/(?<shop>[^/]+)(/.*)?$").unwrap();
        let check = |text: &str, expected: Result<&[Piece<usize>], &str>| {
            let got = groups(text, &pattern).map(|template| template.pieces).map_err(|found| found.message);
            assert_eq!(got, expected.map(<[_]>::to_vec).map_err(str::to_owned), "{text}");
        };
        let text = |text: &str| Piece::Text(text.to_owned());
        check("/w$2", Ok(&[text("/w"), Piece::Variable(2)]));
        check("${shop}0$$1", Ok(&[Piece::Variable(1), text("0$1")]));
        check("$0", Ok(&[Piece::Variable(0)]));
        check("$3", Err("the pattern has no group `3`"));
        check("${host}", Err("the pattern has no group `host`"));
        check("a$", Err("`a$` has a `$` without a group"));
        check("$x", Err("`$x` has a `$` without a group"));
    }
}
