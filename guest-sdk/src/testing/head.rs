//! The header lines of one head, held to the limits of the contract. Must not know whose head.

use crate::{Bytes, Header, HeaderError};

const MAX_LINES: usize = 128;
const MAX_HEAD: usize = 64 * 1024;
/// `: ` and the end of the line.
const LINE_OVERHEAD: usize = 4;

/// Lines of one name next to each other and in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head(Vec<Header>);

impl Head {
    pub(crate) fn first(&self, name: &str) -> Option<Bytes> {
        self.named(name).next().cloned()
    }

    pub(crate) fn all(&self, name: &str) -> Vec<Bytes> {
        self.named(name).cloned().collect()
    }

    pub(crate) fn lines(&self) -> &[Header] {
        &self.0
    }

    pub(crate) fn insert(&mut self, name: &str, value: &[u8]) -> Result<(), HeaderError> {
        let name = settable(name)?;
        let mut changed = self.clone();
        changed.drop_named(&name);
        self.grow(changed, name, value)
    }

    pub(crate) fn append(&mut self, name: &str, value: &[u8]) -> Result<(), HeaderError> {
        let name = settable(name)?;
        self.grow(self.clone(), name, value)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Result<(), HeaderError> {
        self.drop_named(&settable(name)?);
        Ok(())
    }

    /// Adds a line without any check: what the client or the upstream sent.
    pub(crate) fn receive(&mut self, name: &str, value: Bytes) {
        let name = name.to_ascii_lowercase();
        let place = self.0.iter().rposition(|line| line.name == name).map_or(self.0.len(), |last| last + 1);
        self.0.insert(place, Header { name, value });
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Bytes> {
        self.0.iter().filter(move |line| line.name.eq_ignore_ascii_case(name)).map(|line| &line.value)
    }

    fn drop_named(&mut self, name: &str) {
        self.0.retain(|line| line.name != name);
    }

    fn grow(&mut self, mut changed: Self, name: String, value: &[u8]) -> Result<(), HeaderError> {
        Header::check_value(value)?;
        changed.receive(&name, value.into());
        let size: usize = changed.0.iter().map(|l| l.name.len() + l.value.len() + LINE_OVERHEAD).sum();
        if changed.0.len() > MAX_LINES || size > MAX_HEAD {
            return Err(HeaderError::TooLarge);
        }
        *self = changed;
        Ok(())
    }
}

/// A name that may be changed, in lower case.
fn settable(name: &str) -> Result<String, HeaderError> {
    Header::check_name(name).map(|()| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_replaces_every_line_and_an_append_keeps_the_order() {
        let mut head = Head::default();
        for (name, value) in [("A", "1"), ("b", "2"), ("a", "3")] {
            head.append(name, value.as_bytes()).unwrap();
        }
        let lines = |head: &Head| {
            head.lines().iter().map(|l| format!("{}={}", l.name, l.value.to_str_lossy())).collect::<Vec<_>>()
        };
        assert_eq!(lines(&head), ["a=1", "a=3", "b=2"]);
        assert_eq!((head.first("A"), head.all("a").len()), (Some("1".into()), 2));
        head.insert("A", b"4").unwrap();
        assert_eq!(lines(&head), ["b=2", "a=4"]);
        head.remove("B").unwrap();
        assert_eq!(lines(&head), ["a=4"]);
    }

    #[test]
    fn a_refused_change_leaves_the_head_as_it_was() {
        let mut head = Head::default();
        head.insert("a", b"1").unwrap();
        assert_eq!(head.insert("a", b"x\r\ny"), Err(HeaderError::InvalidValue));
        assert_eq!(head.insert("a", &vec![b'x'; 16 * 1024 + 1]), Err(HeaderError::TooLarge));
        assert_eq!(head.remove("host"), Err(HeaderError::HostOwned));
        assert_eq!(head.first("a").unwrap(), "1");
    }

    #[test]
    fn a_head_has_limits() {
        let mut lines = Head::default();
        for _ in 0..MAX_LINES {
            lines.append("a", b"").unwrap();
        }
        assert_eq!(lines.append("a", b""), Err(HeaderError::TooLarge));
        assert_eq!(lines.insert("a", b""), Ok(()));

        let mut bytes = Head::default();
        for name in ["a", "b", "c"] {
            bytes.insert(name, &vec![b'x'; 16 * 1024]).unwrap();
        }
        assert_eq!(bytes.insert("d", &vec![b'x'; 16 * 1024]), Err(HeaderError::TooLarge));
    }
}
