#!/bin/sh
# Runs each fuzz target for a minute (or for $1 seconds), beginning with its seeds. Needs a nightly compiler; installs
# cargo-fuzz where it is missing. No sanitizer: what is under test has no unsafe code, so a finding is a panic.
set -eu
cd "$(dirname "$0")/../tests/fuzz"

seconds=${1:-60}
sh ../../scripts/setup.sh
cargo +nightly --version >/dev/null 2>&1 || {
    echo "fuzz: a nightly compiler is missing; with rustup, run: rustup toolchain install nightly" >&2
    exit 1
}
command -v cargo-fuzz >/dev/null 2>&1 || cargo install --quiet --locked cargo-fuzz

for file in fuzz_targets/*.rs; do
    target=$(basename "$file" .rs)
    mkdir -p "corpus/$target"
    printf '\n== %s\n' "$target"
    cargo +nightly fuzz run --sanitizer none "$target" "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=1
done
