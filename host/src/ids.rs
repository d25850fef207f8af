//! Ids of the things of one generation: an index into that generation's table, of a type of its own so
//! that one table's index never reaches another table. Knows nothing else.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the entry at `index`. A table never holds more than `u32::MAX` entries: the
            /// configuration file that would name them is refused for its size long before.
            pub fn at(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// The place in the table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id!(
    /// A route, in the order of the configuration file.
    RouteId
);
id!(
    /// A plugin that at least one route uses.
    PluginId
);
id!(
    /// An upstream, in the order of the configuration file.
    UpstreamId
);
