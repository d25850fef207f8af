//! What an operator asks of a running proxy: the admin address. Knows nothing of the path of a request.

pub mod admin;
pub mod health;
