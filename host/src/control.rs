//! What an operator asks of a running proxy: the admin address, reloads and signals. Knows nothing of the path of
//! a request.

pub mod admin;
pub mod health;
pub mod reload;
mod watch;
