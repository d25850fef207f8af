//! Values that have more than one form: one text or several; a text, a number or a word of TOML.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use toml::Spanned;

/// `"a"` or `["a", "b"]`.
#[derive(Debug)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl OneOrMany {
    /// Each text with its place.
    pub(crate) fn items(field: Spanned<Self>) -> Vec<Spanned<String>> {
        let span = field.span();
        match field.into_inner() {
            Self::One(text) => vec![Spanned::new(span, text)],
            Self::Many(texts) => texts,
        }
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany::One(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMany, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
            }
        }
        deserializer.deserialize_any(Texts)
    }
}

/// `"10s"`, `4` or `false`: which of them a key takes is checked later, with a better message.
#[derive(Debug, Clone)]
pub(crate) enum Scalar {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Integer(number))
            }

            fn visit_bool<E: Error>(self, word: bool) -> Result<Scalar, E> {
                Ok(Scalar::Boolean(word))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Text(text) => f.write_str(text),
            Scalar::Integer(number) => write!(f, "{number}"),
            Scalar::Boolean(word) => write!(f, "{word}"),
        }
    }
}
