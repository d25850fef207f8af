//! The plugin runtime against guests written for it: what a plugin may do, and what each limit does to one
//! that does more.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that can't go on has failed")]

mod guest;
mod request;

mod busy;
mod cache;
mod chain;
mod limits;
mod load;
mod log;
mod quarantine;
mod setup;
mod warm;
mod wasi;
