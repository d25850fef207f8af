#!/bin/sh
# Everything that must hold: format, lints, unit, end-to-end and documentation tests, with all components built.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$1"; }

sh scripts/setup.sh
step "format"
cargo fmt --all --check
step "components"
sh scripts/plugins.sh all
step "lints"
cargo clippy --quiet --workspace --all-targets -- -D warnings
step "tests"
# All at once: other choices of packages have other features, and build every dependency again.
cargo build --quiet --workspace --bins --tests
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --no-fail-fast
else
    cargo test --workspace --lib --bins --tests --no-fail-fast
fi
step "documentation"
cargo test --quiet --doc -p edgewright-sdk
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p edgewright-sdk -p edgewright
