//! Did you mean …? The nearest of the words that would have been right. Knows nothing of what they name.

/// The nearest of `known` to `word`, if it is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong: `lisners` is a slip for `listeners`, `tls` is not one for `dns`.
    let most = (word.chars().count().max(3) / 3).max(1);
    known
        .into_iter()
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
    fn lists_read_as_prose() {
        assert_eq!(list([]), "");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
        let many: Vec<String> = (0..14).map(|n| n.to_string()).collect();
        assert!(list(many.iter().map(String::as_str)).ends_with("`11` and 2 more"));
    }
}
