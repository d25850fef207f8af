//! Fields of a head: removed, set and appended, in this order. Knows no phase.

use http::{HeaderName, HeaderValue};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::config::model::{FieldValue, HeaderEdits};
use crate::proxy::variables::Values;

/// A head of Pingora's.
pub(super) trait Fields {
    /// Replaces every line of that name.
    fn insert(&mut self, name: &HeaderName, value: HeaderValue);
    fn append(&mut self, name: &HeaderName, value: HeaderValue);
    fn remove(&mut self, name: &HeaderName);
}

impl Fields for RequestHeader {
    fn insert(&mut self, name: &HeaderName, value: HeaderValue) {
        // Only a name that Pingora can't spell is refused, and a `HeaderName` is none.
        let _ = self.insert_header(name.clone(), value);
    }

    fn append(&mut self, name: &HeaderName, value: HeaderValue) {
        let _ = self.append_header(name.clone(), value);
    }

    fn remove(&mut self, name: &HeaderName) {
        self.remove_header(name);
    }
}

impl Fields for ResponseHeader {
    fn insert(&mut self, name: &HeaderName, value: HeaderValue) {
        let _ = self.insert_header(name.clone(), value);
    }

    fn append(&mut self, name: &HeaderName, value: HeaderValue) {
        let _ = self.append_header(name.clone(), value);
    }

    fn remove(&mut self, name: &HeaderName) {
        self.remove_header(name);
    }
}

pub(super) fn edit(head: &mut impl Fields, edits: &HeaderEdits, values: Values<'_>) {
    for name in &edits.remove {
        head.remove(name);
    }
    let mut last = None;
    for (name, value) in &edits.set {
        let Some(value) = made(value, values) else { continue };
        // Several values of one name stand beside each other.
        if last == Some(name) {
            head.append(name, value);
        } else {
            head.insert(name, value);
        }
        last = Some(name);
    }
    for (name, value) in &edits.append {
        if let Some(value) = made(value, values) {
            head.append(name, value);
        }
    }
}

/// `None` never comes: texts and variables were checked, each by itself.
fn made(value: &FieldValue, values: Values<'_>) -> Option<HeaderValue> {
    match value {
        FieldValue::Fixed(value) => Some(value.clone()),
        FieldValue::Made(template) => HeaderValue::try_from(values.render(template)).ok(),
    }
}
