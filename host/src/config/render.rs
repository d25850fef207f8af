//! Mistakes as text for people, in the style of rustc. Knows nothing of what the mistakes are about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};

use super::diagnostic::{Diagnostic, Place, Severity, floor_boundary};

/// Whether the text is for a terminal that shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// With ANSI escapes.
    Ansi,
    Plain,
}

/// Mistakes that are shown: more are never read from a terminal, and mending these mends others.
const MOST: usize = 100;

/// Below each other, with an empty line between; ends with a line feed unless empty. Where there are more
/// than 100, errors come before warnings, and a last line counts the rest.
pub fn render(diagnostics: &[Diagnostic], color: Color) -> String {
    let renderer = match color {
        Color::Ansi => Renderer::styled(),
        Color::Plain => Renderer::plain(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    let shown = shown(diagnostics);
    for diagnostic in &shown {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&renderer.render(&report(diagnostic)));
        text.push('\n');
    }
    let left_out = diagnostics.len() - shown.len();
    if left_out > 0 {
        text.push_str(&format!("\n… and {left_out} more (`check --json` tells all)\n"));
    }
    text
}

/// The first of them, in their order; a warning never takes the place of an error.
fn shown(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    if diagnostics.len() <= MOST {
        return diagnostics.iter().collect();
    }
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let mut room_for_errors = errors.min(MOST);
    let mut room_for_warnings = MOST - room_for_errors;
    let fits = |diagnostic: &&Diagnostic| {
        let room = if diagnostic.is_error() { &mut room_for_errors } else { &mut room_for_warnings };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    diagnostics.iter().filter(fits).collect()
}

fn report(diagnostic: &Diagnostic) -> Vec<Group<'_>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&*diagnostic.message).id(diagnostic.id());
    let mut main = Group::with_title(title);
    if let Some(place) = &diagnostic.place {
        main = if place.is_whole_file() {
            main.element(Origin::path(place.file.path.to_string_lossy()))
        } else {
            main.element(snippet(place, |span| AnnotationKind::Primary.span(span)))
        };
    }
    if let Some(related) = &diagnostic.related {
        let label = normalize_untrusted_str(&related.label);
        main = main.element(snippet(&related.place, |span| AnnotationKind::Context.span(span).label(label)));
    }
    let mut groups = vec![main];
    if let Some(help) = &diagnostic.help {
        groups.push(Group::with_title(Level::HELP.secondary_title(normalize_untrusted_str(help))));
    }
    groups
}

/// The first line of the place alone: the renderer walks over all that it is given.
fn snippet<'a>(
    place: &'a Place,
    annotation: impl FnOnce(std::ops::Range<usize>) -> Annotation<'a>,
) -> Snippet<'a, Annotation<'a>> {
    let text = &place.file.text;
    let start = floor_boundary(text, place.start);
    let end = floor_boundary(text, place.end).max(start);
    let (_, after) = text.split_at(start);
    let (line_number, line_start) = place.file.line_of(start);
    let line_end = after.find('\n').map_or(text.len(), |newline| start + newline);
    let line = text.get(line_start..line_end).unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let span = (start - line_start).min(line.len())..(end.min(line_end) - line_start).min(line.len());
    Snippet::source(line)
        .path(place.file.path.to_string_lossy())
        .line_start(line_number)
        .annotation(annotation(span))
}

#[cfg(test)]
mod tests {
    use super::super::diagnostic::Code;
    use super::*;

    /// Renders so many warnings, and errors behind them, and counts what is shown of each.
    fn check(warnings: usize, errors: usize, expected: (usize, usize), rest: Option<&str>) {
        let warning = (0..warnings).map(|_| Diagnostic::warning(Code(1), "w"));
        let error = (0..errors).map(|_| Diagnostic::error(Code(1), "e"));
        let text = render(&warning.chain(error).collect::<Vec<_>>(), Color::Plain);
        let shown = (text.matches("warning[").count(), text.matches("error[").count());
        assert_eq!(shown, expected, "{text}");
        let last = text.lines().last().filter(|line| line.starts_with('…'));
        assert_eq!(last, rest, "{text}");
    }

    #[test]
    fn a_hundred_are_shown_and_the_rest_is_counted() {
        check(0, 0, (0, 0), None);
        check(50, 50, (50, 50), None);
        check(50, 51, (49, 51), Some("… and 1 more (`check --json` tells all)"));
        check(300, 1, (99, 1), Some("… and 201 more (`check --json` tells all)"));
        check(1, 300, (0, 100), Some("… and 201 more (`check --json` tells all)"));
    }
}
