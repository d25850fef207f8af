//! Text with variables: `https://{host}{path}{query}`. Knows nothing of where it goes.

use std::fmt;

/// Text in which some parts are told by each request. `V` says which parts there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<V> {
    pub pieces: Vec<Piece<V>>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<V> {
    Text(String),
    Variable(V),
}

/// What a route's redirects, fields and parameters can hold of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// The host as the client asked for it, with the port if there was one.
    Authority,
    /// The client's address, without port.
    ClientAddress,
    /// The host without port.
    Host,
    Method,
    /// Normalised, without the query.
    Path,
    /// With its `?`; empty where there is none.
    Query,
    RequestId,
    /// The route's name.
    Route,
    /// `http` or `https`.
    Scheme,
    /// The name of the upstream that was chosen; empty where there is none.
    Upstream,
}

impl Variable {
    /// Each with its name between the braces, in alphabetical order.
    pub const NAMES: [(&'static str, Variable); 10] = [
        ("authority", Variable::Authority),
        ("client-address", Variable::ClientAddress),
        ("host", Variable::Host),
        ("method", Variable::Method),
        ("path", Variable::Path),
        ("query", Variable::Query),
        ("request-id", Variable::RequestId),
        ("route", Variable::Route),
        ("scheme", Variable::Scheme),
        ("upstream", Variable::Upstream),
    ];
}

impl<V> Template<V> {
    /// The text, where it is the same for every request.
    pub fn fixed(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Template<Variable> {
    /// As it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Variable(variable) => {
                    let name = Variable::NAMES.iter().find(|(_, known)| known == variable);
                    write!(f, "{{{}}}", name.map_or("", |(name, _)| name))?;
                }
            }
        }
        Ok(())
    }
}
