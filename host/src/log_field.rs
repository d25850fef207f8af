//! The names of what the access log knows of a request: one spelling for its configuration, its JSON and its text
//! form. Knows nothing else.

/// Something that a line of the access log can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogField {
    Attempts,
    Attributes,
    Cause,
    Client,
    DecidedBy,
    DurationUs,
    Error,
    Host,
    Method,
    Peer,
    Plugins,
    Protocol,
    Referer,
    RequestBytes,
    RequestId,
    ResponseBytes,
    Route,
    Status,
    Target,
    Time,
    /// As the common log format writes it: `30/Nov/2026:20:19:00 +0000`.
    TimeCommon,
    Upstream,
    UserAgent,
}

impl LogField {
    /// Each with its name, in alphabetical order.
    pub const NAMES: [(&'static str, LogField); 23] = [
        ("attempts", LogField::Attempts),
        ("attributes", LogField::Attributes),
        ("cause", LogField::Cause),
        ("client", LogField::Client),
        ("decided-by", LogField::DecidedBy),
        ("duration-us", LogField::DurationUs),
        ("error", LogField::Error),
        ("host", LogField::Host),
        ("method", LogField::Method),
        ("peer", LogField::Peer),
        ("plugins", LogField::Plugins),
        ("protocol", LogField::Protocol),
        ("referer", LogField::Referer),
        ("request-bytes", LogField::RequestBytes),
        ("request-id", LogField::RequestId),
        ("response-bytes", LogField::ResponseBytes),
        ("route", LogField::Route),
        ("status", LogField::Status),
        ("target", LogField::Target),
        ("time", LogField::Time),
        ("time-common", LogField::TimeCommon),
        ("upstream", LogField::Upstream),
        ("user-agent", LogField::UserAgent),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_each_field_has_one() {
        assert!(LogField::NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (name, field) in LogField::NAMES {
            assert_eq!(field.name(), name);
        }
    }
}
