//! Where a request goes and what decided it, in the words of cookie, header and attributes. Must not know how
//! it is decided.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// To the plugin's upstream.
    Canary,
    /// To the route's.
    Stable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Header,
    Cookie,
    Percent,
}

impl Choice {
    /// What a client asks for; nothing where it is neither word.
    pub(crate) fn forced(word: &[u8]) -> Option<Self> {
        match word {
            b"always" => Some(Self::Canary),
            b"never" => Some(Self::Stable),
            _ => None,
        }
    }

    /// The word that asks for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Canary => "always",
            Self::Stable => "never",
        }
    }

    /// The value of the attribute.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Canary => "canary",
            Self::Stable => "stable",
        }
    }
}

impl By {
    /// The value of the attribute.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Percent => "percent",
        }
    }
}
