//! The keys and whose they are. Must not know where a key is from.

use edgewright_sdk::Header;
use subtle::ConstantTimeEq;

use crate::config::Key;

/// Shorter keys can be guessed.
const SHORTEST: usize = 8;
/// Owners go into an attribute, which holds 8 KiB.
const LONGEST_OWNER: usize = 8 * 1024;

/// Every key with its owner.
pub(crate) struct Keyring(Vec<Key>);

impl Keyring {
    /// # Errors
    /// Which key of the configuration is wrong, by its place: the text goes to logs, so no key is in it.
    pub(crate) fn new(keys: &[Key]) -> Result<Self, String> {
        if keys.is_empty() {
            return Err("`keys` is empty: nobody could get in".to_owned());
        }
        for (index, Key { key, owner }) in keys.iter().enumerate() {
            let wrong = |what: &str| Err(format!("`keys[{index}]`: {what}"));
            if key.len() < SHORTEST {
                return wrong("`key` is shorter than 8 bytes");
            }
            if !is_value(key) {
                return wrong("`key` can't be sent in a header: control characters, or spaces around it");
            }
            if owner.is_empty() {
                return wrong("`owner` is empty");
            }
            if !is_value(owner) || owner.len() > LONGEST_OWNER {
                return wrong(
                    "`owner` can't be sent in a header: control characters, spaces around it, or over 8 KiB",
                );
            }
            if let Some(first) = keys.iter().take(index).position(|earlier| earlier.key == *key) {
                return wrong(&format!("the same `key` as `keys[{first}]`"));
            }
        }
        Ok(Self(keys.to_vec()))
    }

    /// Whose key it is. Compares all keys, each in a time that does not depend on what it holds: the time
    /// tells a client which lengths there are, and nothing more.
    pub(crate) fn owner(&self, sent: &[u8]) -> Option<&str> {
        let mut owner = None;
        for known in &self.0 {
            if bool::from(known.key.as_bytes().ct_eq(sent)) {
                owner = Some(known.owner.as_str());
            }
        }
        owner
    }
}

/// What arrives as it was sent: no control characters, no white space around it.
fn is_value(text: &str) -> bool {
    Header::check_value(text).is_ok()
        && text.trim() == text
        && !text.bytes().any(|byte| byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_could_not_work_are_refused() {
        fn check(keys: &[(&str, &str)], expected: &str) {
            let keys: Vec<_> =
                keys.iter().map(|(key, owner)| Key { key: (*key).into(), owner: (*owner).into() }).collect();
            let error = Keyring::new(&keys).err().unwrap_or_default();
            assert!(error.contains(expected) && !expected.is_empty(), "{error}");
        }
        check(&[], "`keys` is empty");
        check(&[("", "a")], "`keys[0]`: `key` is shorter than 8 bytes");
        check(&[("1234567", "a")], "`keys[0]`: `key` is shorter");
        check(&[("12345678", "a"), ("12345678\n", "a")], "`keys[1]`: `key` can't be sent");
        check(&[(" 12345678", "a")], "`key` can't be sent");
        check(&[("12345678", "")], "`owner` is empty");
        check(&[("12345678", "a\r\nb")], "`owner` can't be sent");
        check(&[("12345678", &"a".repeat(8193))], "`owner` can't be sent");
        check(
            &[("12345678", "a"), ("87654321", "a"), ("12345678", "b")],
            "`keys[2]`: the same `key` as `keys[0]`",
        );
    }
}
