//! Chunked bodies for the fuzz target `head`.

use crate::proxy::http1::Body;

use super::gate::Gate;

/// Where a chunked body ends that comes in pieces of that many bytes. `Ok(None)`: not yet.
///
/// # Errors
/// They are no chunks.
pub fn end_of_chunks(bytes: &[u8], piece: usize) -> Result<Option<usize>, String> {
    let mut gate = Gate::of(Body::Chunked);
    let mut passed = 0;
    for piece in bytes.chunks(piece.max(1)) {
        passed += gate.pass(piece).map_err(|bad| bad.to_string())?;
        if gate == Gate::Shut {
            return Ok(Some(passed));
        }
    }
    Ok(None)
}
