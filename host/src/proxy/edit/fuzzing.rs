//! Changes of paths for the fuzz target `edited_path`.

use regex::Regex;

use crate::config::model::{PathEdits, Piece, Rewrite, Template};

/// The path as some routes would change it, as far as they take it, each with the prefix that is put in front.
pub fn edited_paths(asked: &str) -> Vec<(String, &'static str)> {
    let rewrite = |pattern: &str, path: Vec<Piece<usize>>| {
        Regex::new(pattern).ok().map(|pattern| Rewrite {
            pattern,
            path: Template { pieces: path },
            query: None,
        })
    };
    let text = |text: &str| Piece::Text(text.to_owned());
    let prefixed = |rewrite: Option<Rewrite>, strip: Option<&str>| PathEdits {
        strip_prefix: strip.map(str::to_owned),
        rewrite,
        add_prefix: Some("/safe".to_owned()),
    };
    let all = [
        prefixed(None, None),
        prefixed(None, Some("/a")),
        prefixed(rewrite("^/([^/]*)(.*)$", vec![Piece::Variable(2), Piece::Variable(1)]), None),
        prefixed(rewrite("%2", vec![]), None),
        prefixed(
            rewrite("^/(.)(.)(.*)$", vec![Piece::Variable(3), Piece::Variable(1), text("/")]),
            Some("/a"),
        ),
        prefixed(rewrite("[^.]", vec![]), None),
    ];
    let edited =
        |edits: &PathEdits| super::path::edited(edits, asked).ok().map(|(path, _)| path.into_owned());
    all.iter().filter_map(|edits| Some((edited(edits)?, "/safe"))).collect()
}
