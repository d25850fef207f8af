//! Did you mean …? The nearest of the words that would have been right. Knows nothing of what they name.

use std::cell::Cell;

/// Words of the user's own choice (names of upstreams, of plugins), of which there may be thousands, and as
/// many slips of them.
#[derive(Debug, Default)]
pub(crate) struct Words {
    sorted: Vec<String>,
    /// ```a`, `b` and 7 more``
    told: String,
    /// Comparisons that may still be made.
    left: Cell<usize>,
}

impl Words {
    /// Comparisons of one run: some tenths of a second. What comes later is told without a suggestion.
    const MOST: usize = 1_000_000;

    pub(crate) fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut sorted: Vec<String> = words.into_iter().map(str::to_owned).collect();
        sorted.sort_unstable();
        let told = list(sorted.iter().map(String::as_str));
        Self { sorted, told, left: Cell::new(Self::MOST) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// ``did you mean `a`? there is `a` and `b` ``, where `intro` is what comes before the list.
    pub(crate) fn help(&self, word: &str, intro: &str) -> String {
        let rest = format!("{intro} {}", self.told);
        match self.left.get().checked_sub(self.sorted.len()) {
            Some(left) => {
                self.left.set(left);
                help(word, self.sorted.iter().map(String::as_str), &rest)
            }
            None => rest,
        }
    }
}

/// Letters of a word that is compared.
const LONGEST: usize = 256;

/// The nearest of `known` to `word`, if it is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong: `lisners` is a slip for `listeners`, `tls` is not one for `dns`.
    let letters = word.chars().count();
    let most = (letters.max(3) / 3).max(1);
    // Nobody mistypes a page of text, and comparing two takes long.
    let known = known.into_iter().filter(|_| letters <= LONGEST);
    known
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= most)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most && !candidate.is_empty())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(word: &str, candidate: &str) -> usize {
    // `read_timeout` for `read-timeout` and `Name` for `name` are nearer than their letters say.
    let folded = word.to_lowercase().replace('_', "-");
    strsim::osa_distance(&folded, candidate).min(strsim::osa_distance(word, candidate))
}

/// `` `a`, `b` and `c` ``; at most twelve of them are told.
pub(crate) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let words: Vec<&str> = words.into_iter().collect();
    let shown: Vec<String> = words.iter().take(MOST).map(|word| format!("`{word}`")).collect();
    if words.len() > MOST {
        return format!("{} and {} more", shown.join(", "), words.len() - MOST);
    }
    match shown.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// ``did you mean `a`? <rest>``, where `rest` tells what is known; the rest alone where nothing is near.
pub(crate) fn help<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, rest: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) if known.len() == 1 => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? {rest}"),
        None => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&str>) {
        let known = ["listeners", "name", "dns", "min-ttl", "upstream"];
        assert_eq!(nearest(word, known), expected, "{word}");
    }

    #[test]
    fn slips_are_seen_and_other_words_are_not() {
        check("listener", Some("listeners"));
        check("lisners", Some("listeners"));
        check("Name", Some("name"));
        check("min_ttl", Some("min-ttl"));
        check("upsteram", Some("upstream"));
        check("tls", None);
        check("weight", None);
        check("", None);
    }

    #[test]
    fn thousands_of_slips_cost_a_bounded_number_of_comparisons() {
        let names: Vec<String> = (0..10_000).map(|n| format!("upstream-{n}")).collect();
        let words = Words::new(names.iter().map(String::as_str));
        let helps: Vec<String> =
            (0..10_000).map(|n| words.help(&format!("upstraem-{n}"), "there is")).collect();
        let suggested = helps.iter().filter(|help| help.starts_with("did you mean")).count();
        assert_eq!(suggested, Words::MOST / names.len());
        assert!(helps.iter().all(|help| help.ends_with("and 9988 more")));
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(list([]), "");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
        let many: Vec<String> = (0..14).map(|n| n.to_string()).collect();
        assert!(list(many.iter().map(String::as_str)).ends_with("`11` and 2 more"));
    }
}
