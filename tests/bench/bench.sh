#!/bin/sh
# Builds what the bench compares, as it ships, and runs it. Arguments go to the bench (`--quick`, `--tables …`).
set -eu
cd "$(dirname "$0")/../.."

sh scripts/setup.sh
sh tests/bench/setup.sh
cargo build --quiet --release -p edgewright -p edgewright-bench
sh scripts/plugins.sh all
exec "${CARGO_TARGET_DIR:-target}/release/bench" --markdown "${CARGO_TARGET_DIR:-target}/bench.md" "$@"
