//! Every kind of mistake: number, title and one sentence on it. Numbers are never used for something else.

use super::diagnostic::Code;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub code: Code,
    /// A few words.
    pub title: &'static str,
    /// One sentence.
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $explanation:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($number);)*

        /// All of them, in the order of their numbers.
        pub const TABLE: &[Kind] = &[
            $(Kind { code: $name, title: $title, explanation: $explanation },)*
        ];
    };
}

codes! {
    UNREADABLE = 101, "file can't be read",
        "The file is not there, is no regular file, or the process may not read it.";
    TOO_LARGE = 102, "file is too large",
        "Configuration files and manifests are refused above 16 MiB.";
    NOT_UTF8 = 103, "file is not UTF-8",
        "TOML files are UTF-8 text by definition.";
    SYNTAX = 104, "not valid TOML",
        "The file breaks the syntax of TOML, so that nothing behind that place can be trusted.";

    UNKNOWN_KEY = 201, "unknown key",
        "The table has no such key; nothing that is written is ever ignored.";
    WRONG_TYPE = 202, "wrong type",
        "The key takes a value of another type.";
    MISSING = 203, "missing key or section",
        "Something that has no default is not there.";
    UNKNOWN_WORD = 204, "unknown word",
        "The key takes one of a few words, and this is none of them.";
    OUT_OF_RANGE = 205, "number out of range",
        "The number is below the least or above the most that the key takes.";
    BAD_DURATION = 206, "not a duration",
        "Durations are a whole number with a unit, within the range of the key.";
    BAD_SIZE = 207, "not a size",
        "Sizes are a whole number with a binary unit, within the range of the key.";
    CONTRADICTION = 208, "values contradict each other",
        "Two values are fine by themselves, but not together.";
    EMPTY_VALUE = 209, "empty list or text",
        "An empty list or text would match or name nothing; a key that is not needed is left out.";
    BAD_PERCENTAGE = 210, "not a percentage",
        "Shares are a whole number from 0 to 100 with `%`, in quotes.";

    BAD_ADDRESS = 301, "not a socket address",
        "Addresses to listen on and DNS servers are an IP address with a port, and one that connections come to.";
    BAD_NETWORK = 302, "not an IP network",
        "Trusted proxies are IP addresses, or networks as address and prefix length.";
    BAD_HEADER_NAME = 303, "header name can't be used",
        "The text is not an HTTP field name, or the proxy itself owns the field.";
    PROTOCOLS = 304, "protocols of a listener",
        "A listener always speaks HTTP/1; cleartext HTTP/2 is added to it.";
    ADDRESS_TAKEN = 305, "address is taken",
        "Two ends can't listen on one address and port.";

    BAD_CERTIFICATE = 306, "certificate can't be used",
        "Certificates are in PEM files, the server's own first, then those that signed it.";
    BAD_KEY = 307, "private key can't be used",
        "A private key is in a PEM file, without a passphrase.";
    KEY_MISMATCH = 308, "key of another certificate",
        "A certificate and its key belong together: clients would refuse any other pair.";
    CERTIFICATE_DATE = 309, "certificate near or past its end",
        "Clients refuse a certificate that has ended or has not begun.";
    TLS_NAME_TWICE = 310, "two certificates for one name",
        "A listener takes the first certificate that stands for the name a client asks for.";

    BAD_PEER = 401, "not a peer",
        "Peers are HOST:PORT with a host name or IP address, `unix:/PATH`, or `srv:_SERVICE._PROTOCOL.NAME`.";
    NO_PEERS = 402, "upstream without peers",
        "An upstream needs at least one peer to send requests to.";
    BAD_NAME = 403, "name can't be used",
        "Names of routes and upstreams are short and made of letters, digits, `.`, `_` and `-`.";
    PEER_TWICE = 404, "peer is there twice",
        "The second entry changes nothing.";
    PEER_IS_SELF = 405, "peer is the proxy itself",
        "A request to that peer would come back to the proxy, and go out again, until nothing is left.";
    BAD_CHECK = 406, "check can't be made",
        "A check asks in one way, `http`, `tcp` or `grpc`, for something that can be asked for.";
    BAD_SERVER_NAME = 407, "name of a server can't be used",
        "A peer is asked for by a host name, or verified as an IP address.";

    ROUTE_TWICE = 501, "two routes of one name",
        "Logs, metrics and plugins know a route by its name, so it must be unique.";
    MATCH_TWICE = 502, "two routes with one match",
        "Both routes would take the same requests.";
    UNKNOWN_UPSTREAM = 503, "unknown upstream",
        "The route names an upstream that the file does not define.";
    BAD_HOST_PATTERN = 504, "host pattern can't be used",
        "Host patterns are a host name, or `*.` and a host name, without a port.";
    BAD_PATH_PATTERN = 505, "path pattern can't be used",
        "Path patterns are written as a normalised path, with `*` at most as the last segment.";
    BAD_METHOD = 506, "method can't be used",
        "Methods are HTTP tokens, and case-sensitive.";
    BAD_VALUE_PATTERN = 507, "pattern can't be used",
        "A pattern is one text, or one of `exact`, `prefix`, `regex` and `present = true`.";
    BAD_REGEX = 508, "regular expression can't be used",
        "The expression breaks the syntax of Rust's `regex`, or is too large when compiled.";
    BAD_PARAMETER_NAME = 509, "name of a cookie or parameter can't be used",
        "Cookie names are HTTP tokens; names of query parameters are not empty.";
    IDLE_CONDITION = 510, "condition that never or always holds",
        "What the proxy refuses, takes out or makes itself before it looks for a route tells no requests apart.";
    BAD_TEMPLATE = 520, "text with variables can't be used",
        "Variables are `{name}` or groups of a pattern, and what they make must be fit for its place.";
    BAD_PATH_EDIT = 521, "change of the path can't be used",
        "Prefixes and replacements are written as normalised paths, so that only normalised paths come out.";
    BAD_HEADER_VALUE = 522, "value of a header can't be used",
        "The values of header fields are printable ASCII.";
    BAD_HOST_HEADER = 523, "host can't be sent",
        "What the upstream is sent as its host is the client's, or a host name with an optional port.";
    BAD_STATUS = 524, "status can't be used",
        "Redirects have one of five statuses, other responses one from 200 to 599.";
    BAD_BODY_FILE = 525, "file of a response can't be used",
        "The file is read when the configuration is, and kept in memory.";
    IDLE_KEY = 526, "key without effect",
        "A route that answers by itself asks no upstream, unless one of its plugins chooses one.";

    PLUGINS_UNREADABLE = 601, "plugins directory can't be read",
        "The directory of the plugins is not there, or the process may not read it.";
    UNKNOWN_PLUGIN = 602, "unknown plugin",
        "The plugins directory has no component of that name.";
    BAD_PLUGIN_NAME = 603, "plugin name can't be used",
        "Plugin names start with a lower-case letter or digit and go on with those and `-`.";
    NOT_JSON = 604, "value has no JSON form",
        "Plugins get their configuration as JSON, which has no `nan` and `inf`.";
    BAD_HASH = 605, "not a SHA-256 hash",
        "The pin of a plugin's file is 64 hexadecimal digits.";
    LONE_MANIFEST = 606, "manifest without plugin",
        "A manifest stands beside the component that it describes.";
    PLUGIN_TWICE = 607, "plugin is given twice",
        "Two files stand for one plugin name.";
    BAD_ORIGIN = 620, "origin can't be granted",
        "Origins that a plugin may call are a scheme, a host and perhaps a port; private addresses need a word.";
    BAD_VARIABLE = 621, "not a variable",
        "Variables of the environment have a name without `=`, spaces and control characters.";
    BAD_GRANTED_FILE = 622, "file can't be granted",
        "Files that a plugin may read are regular files in the directory of its manifest, or below it.";
    PLUGIN_LOAD = 650, "plugin can't be loaded",
        "The file is no component of this contract, asks for what is not granted, or can't be compiled.";
    PLUGIN_CONFIGURE = 651, "plugin refuses its configuration",
        "The plugin was told the configuration and refused it, trapped on it or did not come to an end.";

    BAD_ATTRIBUTE_KEY = 701, "attribute key can't be used",
        "Attribute keys are up to 64 of `a` to `z`, digits, `.`, `_` and `-`.";
    BAD_LOG_FILE = 702, "access log can't be written there",
        "The access log is appended to a regular file, in a directory that is there.";

    NEEDS_RESTART = 801, "change that needs a restart",
        "What the process was started with, its threads and its admin end, can't change while it runs.";
    CANNOT_LISTEN = 802, "address can't be listened on",
        "The system gives no listener for that address: somebody else has it, or it is not this machine's.";
}

/// The row of a code.
pub fn kind(code: Code) -> Option<&'static Kind> {
    TABLE.iter().find(|kind| kind.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_without_doubles() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(kind(UNKNOWN_KEY).map(|k| k.title), Some("unknown key"));
        assert!(kind(Code(0)).is_none());
    }

    #[test]
    fn titles_are_words_and_explanations_are_sentences() {
        for row in TABLE {
            assert!(!row.title.ends_with('.'), "{}", row.title);
            assert!(row.explanation.ends_with('.'), "{}", row.explanation);
        }
    }
}
