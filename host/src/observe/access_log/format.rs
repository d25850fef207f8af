//! What a line of the access log looks like: JSON with all fields or some, or text.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::log_field::LogField;

use super::Record;
use super::cell::Cell;

/// The form of all lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Format {
    /// JSON objects with everything that is known.
    #[default]
    Json,
    /// JSON objects with these fields, as far as they are known.
    JsonFields(Box<[LogField]>),
    /// Text; what is not known is `-`.
    Text(Box<[TextPiece]>),
}

/// A piece of a text line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPiece {
    Literal(String),
    Field(LogField),
}

impl Format {
    /// A line, with its line feed.
    ///
    /// # Errors
    /// The record can't be made JSON; never for the ones of this crate.
    pub fn line(&self, record: &Record<'_>) -> io::Result<Vec<u8>> {
        let mut line = Vec::with_capacity(512);
        self.write(record, &mut line)?;
        Ok(line)
    }

    fn write(&self, record: &Record<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Format::Json => serde_json::to_writer(&mut *line, record)?,
            Format::JsonFields(fields) => serde_json::to_writer(&mut *line, &Chosen { fields, record })?,
            Format::Text(pieces) => {
                for piece in pieces {
                    match piece {
                        TextPiece::Literal(text) => line.write_all(text.as_bytes())?,
                        TextPiece::Field(field) => match Cell::of(record, *field) {
                            Some(cell) => cell.write_text(line)?,
                            None => line.push(b'-'),
                        },
                    }
                }
            }
        }
        line.push(b'\n');
        Ok(())
    }
}

/// Some fields of a record.
struct Chosen<'a> {
    fields: &'a [LogField],
    record: &'a Record<'a>,
}

impl Serialize for Chosen<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.fields {
            if let Some(cell) = Cell::of(self.record, *field) {
                map.serialize_entry(field.name(), &cell)?;
            }
        }
        map.end()
    }
}
