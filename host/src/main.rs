//! The `edgewright` binary: nothing but the way into [`edgewright::cli`].

fn main() {}
