//! The rule for the path. Must not know what else the captures are used for.

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::config;
use crate::template::{Groups, Template};

/// A compiled expression is at most this large, in bytes: it is matched against up to 16 KiB within the time
/// of one call.
const REGEX_SIZE: usize = 64 * 1024;

/// Matches bytes: a path is percent-encoded, so all of it is ASCII.
pub(crate) struct PathRule {
    regex: Regex,
    to: Template,
}

impl PathRule {
    /// # Errors
    /// The expression is none, or `to` could never be a path.
    pub(crate) fn new(config: config::Path) -> Result<Self, String> {
        let regex = RegexBuilder::new(&config.regex)
            .unicode(false)
            .size_limit(REGEX_SIZE)
            .build()
            .map_err(|error| format!("`path.regex`: {error}"))?;
        let to = Template::parse(&config.to, &Groups::of(&regex))
            .map_err(|error| format!("`path.to`: {error}"))?;
        let misplaced = |c: &char| !c.is_ascii_graphic() || matches!(c, '?' | '#');
        if let Some(character) = to.literals().flat_map(str::chars).find(misplaced) {
            return Err(match character {
                '?' => "`path.to`: `?` is not part of a path: use `query.append`".to_owned(),
                other => format!("`path.to`: {other:?} has to be percent-encoded"),
            });
        }
        Ok(Self { regex, to })
    }

    /// What the query's templates may use.
    pub(crate) fn groups(&self) -> Groups {
        Groups::of(&self.regex)
    }

    /// The first match, if there is one.
    pub(crate) fn captures<'p>(&self, path: &'p str) -> Option<Captures<'p>> {
        self.regex.captures(path.as_bytes())
    }

    /// The path with the match replaced; what is around it stays.
    pub(crate) fn rewritten(&self, path: &str, captures: &Captures<'_>) -> String {
        let (start, end) = captures.get(0).map_or((0, 0), |found| (found.start(), found.end()));
        let mut out = path.get(..start).unwrap_or_default().to_owned();
        out.push_str(&self.to.expand(captures, str::to_owned, str::to_owned));
        out.push_str(path.get(end..).unwrap_or_default());
        out
    }
}
