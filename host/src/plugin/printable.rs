//! Text of guests and files, fit for a terminal and a line of a log: nothing in it can move a cursor, start a
//! line of its own or turn the direction of what follows. Must not know where it is printed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text, or a list of names, is cut at this, in bytes.
pub(super) const MESSAGE: usize = 1024;

/// Whether a character is printed as it is: no control character, no line separator, no change of direction.
pub fn is_printable(char: char) -> bool {
    !(char.is_control()
        || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// At most 1 KiB of a text, with what is not printable escaped (`\u{1b}`).
pub fn printable(text: &str) -> Cow<'_, str> {
    let text = text.get(..text.floor_char_boundary(MESSAGE)).unwrap_or(text);
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_printable(char) {
            printable.push(char);
        } else {
            // Writing to a string does not fail.
            let _ = write!(printable, "{}", char.escape_default());
        }
    }
    Cow::Owned(printable)
}

/// Names as a list in one line: those that fit, and how many do not.
pub(super) fn list(names: &[String]) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let before = if index == 0 { "" } else { ", " };
        let next = format!("{before}`{}`", printable(name));
        if index > 0 && text.len() + next.len() > MESSAGE {
            let _ = write!(text, " and {} more", names.len() - index);
            break;
        }
        text += &next;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_cut() {
        fn check(text: &str, expected: &str) {
            assert_eq!(printable(text), expected);
        }
        check("plain", "plain");
        check("two\nlines\u{1b}[31m", "two\\nlines\\u{1b}[31m");
        check("\u{9b}2J\u{202e}gnp\u{2028}", "\\u{9b}2J\\u{202e}gnp\\u{2028}");
        check(&"é".repeat(600), &"é".repeat(512));
        check(&format!("a{}", "é".repeat(600)), &format!("a{}", "é".repeat(511)));
    }

    #[test]
    fn lists_are_cut() {
        fn check(names: &[&str], expected: &str) {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(list(&names), expected);
        }
        check(&["a"], "`a`");
        check(&["a", "b\r"], "`a`, `b\\r`");
        let long = "n".repeat(600);
        check(&[&long, &long, "c"], &format!("`{long}` and 2 more"));
    }
}
