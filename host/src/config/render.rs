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

/// All of them below each other, with an empty line between; ends with a line feed unless empty.
pub fn render(diagnostics: &[Diagnostic], color: Color) -> String {
    let renderer = match color {
        Color::Ansi => Renderer::styled(),
        Color::Plain => Renderer::plain(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&renderer.render(&report(diagnostic)));
        text.push('\n');
    }
    text
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
    let (before, after) = text.split_at(start);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = after.find('\n').map_or(text.len(), |newline| start + newline);
    let line = text.get(line_start..line_end).unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let span = (start - line_start).min(line.len())..(end.min(line_end) - line_start).min(line.len());
    Snippet::source(line)
        .path(place.file.path.to_string_lossy())
        .line_start(place.line_column().0)
        .annotation(annotation(span))
}
