//! What a tool can hold of the house's rules: file heads and sizes, layers, and the parity of contract, host
//! and SDK. Reads source text; knows nothing of what it does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

mod files;
mod layers;
mod parity;
mod source;
mod workspace;
