//! Durations, sizes, counts and words: how they are written, and within which bounds.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::codes;
use super::diagnostic::{Code, Diagnostic};
use super::raw::Scalar;
use super::suggest;

const DURATION_HELP: &str = "write a whole number and a unit: `10ms`, `5s`, `1m` or `1h`";
const SIZE_HELP: &str = "write a whole number and a unit: `64KiB`, `16MiB` or `1GiB`";

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// A duration within `range`.
///
/// # Errors
/// It is written otherwise, or out of range.
pub(crate) fn duration(value: &Scalar, range: RangeInclusive<Duration>) -> Result<Duration, Diagnostic> {
    let refused = |message| Diagnostic::error(codes::BAD_DURATION, message).with_help(DURATION_HELP);
    let text = text(value, codes::BAD_DURATION, DURATION_HELP)?;
    let (number, unit) =
        number_and_unit(text).ok_or_else(|| refused(format!("`{text}` is not a duration")))?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err(refused(format!("`{text}` has no unit"))),
        unit => return Err(refused(format!("`{unit}` is not a unit of time"))),
    };
    let duration = number.checked_mul(millis).map(Duration::from_millis);
    match duration.filter(|duration| range.contains(duration)) {
        Some(duration) => Ok(duration),
        None => Err(outside(codes::BAD_DURATION, text, told(*range.start()), told(*range.end()))),
    }
}

/// A number of bytes within `range`.
///
/// # Errors
/// It is written otherwise, or out of range.
pub(crate) fn size(value: &Scalar, range: RangeInclusive<u64>) -> Result<usize, Diagnostic> {
    let refused = |message| Diagnostic::error(codes::BAD_SIZE, message).with_help(SIZE_HELP);
    let text = text(value, codes::BAD_SIZE, SIZE_HELP)?;
    let (number, unit) = number_and_unit(text).ok_or_else(|| refused(format!("`{text}` is not a size")))?;
    let bytes = match unit {
        "KiB" => KIB,
        "MiB" => MIB,
        "GiB" => GIB,
        "" => return Err(refused(format!("`{text}` has no unit"))),
        unit => return Err(refused(format!("`{unit}` is not a unit of size"))),
    };
    let size = number.checked_mul(bytes).filter(|size| range.contains(size));
    match size.and_then(|size| usize::try_from(size).ok()) {
        Some(size) => Ok(size),
        None => Err(outside(codes::BAD_SIZE, text, told_size(*range.start()), told_size(*range.end()))),
    }
}

/// A count within `range`.
///
/// # Errors
/// It is out of range.
pub(crate) fn count(number: i64, range: RangeInclusive<usize>) -> Result<usize, Diagnostic> {
    usize::try_from(number)
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| outside(codes::OUT_OF_RANGE, number, range.start(), range.end()))
}

/// A count within `range`, or `false` for none.
///
/// # Errors
/// It is something else, or out of range.
pub(crate) fn count_or_off(
    value: &Scalar,
    range: RangeInclusive<usize>,
) -> Result<Option<usize>, Diagnostic> {
    match value {
        Scalar::Integer(number) => count(*number, range).map(Some),
        Scalar::Boolean(false) => Ok(None),
        other => Err(Diagnostic::error(
            codes::WRONG_TYPE,
            format!("expected a whole number or `false`, found `{other}`"),
        )
        .with_help(format!(
            "from `{}` to `{}` are fine, `false` switches it off",
            range.start(),
            range.end()
        ))),
    }
}

/// A share of a whole: `"20%"` as 20.
///
/// # Errors
/// It is written otherwise, or above 100 %.
pub(crate) fn percent(value: &Scalar) -> Result<u8, Diagnostic> {
    const HELP: &str = "write a whole number from 0 to 100 and `%`: `\"20%\"`";
    let percent = match value {
        Scalar::Text(text) => text.strip_suffix('%').and_then(|number| number.parse::<u8>().ok()),
        _ => None,
    };
    percent.filter(|percent| *percent <= 100).ok_or_else(|| {
        Diagnostic::error(codes::BAD_PERCENTAGE, format!("`{value}` is not a percentage")).with_help(HELP)
    })
}

/// What one of the words stands for.
///
/// # Errors
/// It is none of them.
pub(crate) fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, Diagnostic> {
    if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*meaning);
    }
    let known = || words.iter().map(|(word, _)| *word);
    let rest = match words {
        [(only, _)] => format!("the only word here is `{only}`"),
        _ => format!("the words here are {}", suggest::list(known())),
    };
    let folded = text.to_lowercase();
    Err(Diagnostic::error(codes::UNKNOWN_WORD, format!("unknown word `{text}`")).with_help(suggest::help(
        &folded,
        known(),
        &rest,
    )))
}

fn text<'a>(value: &'a Scalar, code: Code, help: &str) -> Result<&'a str, Diagnostic> {
    match value {
        Scalar::Text(text) => Ok(text),
        Scalar::Integer(number) => {
            Err(Diagnostic::error(code, format!("`{number}` has no unit")).with_help(help))
        }
        Scalar::Boolean(word) => {
            Err(Diagnostic::error(codes::WRONG_TYPE, format!("expected a string, found `{word}`"))
                .with_help(help))
        }
    }
}

/// `10ms` as `(10, "ms")`; nothing where there is no whole number in front.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if !unit.bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    // More digits than fit are out of any range.
    (digits > 0).then(|| (number.parse().unwrap_or(u64::MAX), unit))
}

fn outside(code: Code, value: impl Display, least: impl Display, most: impl Display) -> Diagnostic {
    Diagnostic::error(code, format!("`{value}` is out of range"))
        .with_help(format!("from `{least}` to `{most}` are fine"))
}

/// In the largest unit that needs no fraction.
pub(crate) fn told(duration: Duration) -> String {
    let millis = duration.as_millis();
    let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    match units.into_iter().find(|(unit, _)| millis != 0 && millis.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", millis / unit),
        None => format!("{millis}ms"),
    }
}

fn told_size(bytes: u64) -> String {
    match bytes {
        bytes if bytes % GIB == 0 => format!("{}GiB", bytes / GIB),
        bytes if bytes % MIB == 0 => format!("{}MiB", bytes / MIB),
        bytes => format!("{}KiB", bytes / KIB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_duration(text: &str, expected: Result<u64, &str>) {
        let range = Duration::from_millis(1)..=Duration::from_secs(24 * 3600);
        let got = duration(&Scalar::Text(text.into()), range).map(|d| d.as_millis() as u64);
        assert_eq!(got.map_err(|d| d.message), expected.map_err(str::to_owned), "{text}");
    }

    fn check_size(text: &str, expected: Result<usize, &str>) {
        let got = size(&Scalar::Text(text.into()), 64 * KIB..=4 * GIB);
        assert_eq!(got.map_err(|d| d.message), expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn durations() {
        check_duration("10ms", Ok(10));
        check_duration("5s", Ok(5_000));
        check_duration("1m", Ok(60_000));
        check_duration("24h", Ok(86_400_000));
        check_duration("10", Err("`10` has no unit"));
        check_duration("", Err("`` is not a duration"));
        check_duration("1.5s", Err("`1.5s` is not a duration"));
        check_duration("-1s", Err("`-1s` is not a duration"));
        check_duration("1 s", Err("`1 s` is not a duration"));
        check_duration("1S", Err("`S` is not a unit of time"));
        check_duration("1d", Err("`d` is not a unit of time"));
        check_duration("0s", Err("`0s` is out of range"));
        check_duration("25h", Err("`25h` is out of range"));
        check_duration("99999999999999999999h", Err("`99999999999999999999h` is out of range"));
    }

    #[test]
    fn sizes() {
        check_size("64KiB", Ok(64 * 1024));
        check_size("16MiB", Ok(16 * 1024 * 1024));
        check_size("4GiB", Ok(4 * 1024 * 1024 * 1024));
        check_size("63KiB", Err("`63KiB` is out of range"));
        check_size("5GiB", Err("`5GiB` is out of range"));
        check_size("16MB", Err("`MB` is not a unit of size"));
        check_size("16", Err("`16` has no unit"));
        check_size("MiB", Err("`MiB` is not a size"));
    }

    #[test]
    fn percentages() {
        let check = |text: &str, expected: Option<u8>| {
            assert_eq!(percent(&Scalar::Text(text.into())).ok(), expected, "{text}");
        };
        check("0%", Some(0));
        check("100%", Some(100));
        check("101%", None);
        check("20", None);
        check("-1%", None);
        check("1.5%", None);
        check("%", None);
        assert!(percent(&Scalar::Integer(20)).is_err());
    }

    #[test]
    fn bounds_are_told_in_the_unit_that_fits() {
        assert_eq!(told(Duration::ZERO), "0ms");
        assert_eq!(told(Duration::from_millis(1_500)), "1500ms");
        assert_eq!(told(Duration::from_secs(60)), "1m");
        assert_eq!(told_size(64 * KIB), "64KiB");
        assert_eq!(told_size(4 * GIB), "4GiB");
    }
}
