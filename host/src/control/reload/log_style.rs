//! From the configuration of the access log to what its writer needs: the two know nothing of each other.

use crate::config::model::{AccessLog, LogFormat, Piece};
use crate::observe::access_log::{Format, Style, TextPiece};

/// Which lines are written, and how.
pub(super) fn style(log: &AccessLog) -> Style {
    let format = match &log.format {
        LogFormat::Json => Format::Json,
        LogFormat::JsonFields(fields) => Format::JsonFields(fields.as_slice().into()),
        LogFormat::Text(template) => {
            let piece = |piece: &Piece<_>| match piece {
                Piece::Text(text) => TextPiece::Literal(text.clone()),
                Piece::Variable(field) => TextPiece::Field(*field),
            };
            Format::Text(template.pieces.iter().map(piece).collect())
        }
    };
    Style { format, sample: log.sample }
}
