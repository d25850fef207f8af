//! The report: Markdown, for the terminal and a file alike. Knows nothing of what is in it.

use std::path::Path;

use anyhow::{Context, Result};

#[derive(Debug, Default)]
pub(crate) struct Report {
    text: String,
}

#[derive(Debug)]
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Report {
    /// Adds a paragraph or a heading, and prints it.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.add(text);
    }

    /// Adds a table, and prints it.
    pub(crate) fn grid(&mut self, grid: &Grid) {
        self.add(&grid.render());
    }

    /// Writes all of it to `file`.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        std::fs::write(file, &self.text).with_context(|| format!("can't write `{}`", file.display()))
    }

    fn add(&mut self, block: &str) {
        println!("{block}\n");
        self.text.push_str(block);
        self.text.push_str("\n\n");
    }
}

impl Grid {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Text to the left in the first column, numbers to the right in the others; padded, so that it reads
    /// in a terminal too.
    fn render(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).chain(self.head.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |cells: &[String]| {
            let mut line = String::from("|");
            for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                line.push_str(&match column {
                    0 => format!(" {cell:<width$} |"),
                    _ => format!(" {cell:>width$} |"),
                });
            }
            line
        };
        let rule = widths.iter().enumerate().map(|(column, &width)| match column {
            0 => "-".repeat(width),
            _ => format!("{}:", "-".repeat(width - 1)),
        });
        let mut lines = vec![line(&self.head), line(&rule.collect::<Vec<_>>())];
        lines.extend(self.rows.iter().map(|row| line(row)));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let mut grid = Grid::new(&["set-up", "µs"]);
        grid.row(["nginx".to_owned(), "20.71".to_owned()]);
        grid.row(["bare".to_owned(), "4".to_owned()]);
        let expected = "| set-up |    µs |\n| ------ | ----: |\n| nginx  | 20.71 |\n| bare   |     4 |";
        assert_eq!(grid.render(), expected);
    }
}
