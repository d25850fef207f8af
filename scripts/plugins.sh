#!/bin/sh
# Builds the components: the shipped plugins, and with `all` the tests' guests, too. The shipped ones are put
# into target/plugins with their manifests: a plugins directory that is ready to use.
set -eu
cd "$(dirname "$0")/.."

# The package of each folder that is one.
names() {
    for dir in "$@"; do
        if [ -f "$dir/Cargo.toml" ]; then
            sed -n 's/^name = "\(.*\)"/\1/p' "$dir/Cargo.toml" | head -n 1
        fi
    done
}

shipped="plugins/*/ examples/*/*/"
# shellcheck disable=SC2086 # patterns
packages=$(names $shipped)
[ "${1:-}" = all ] && packages="$packages $(names tests/guests/*/ tests/bench/plugin*/)"

flags=
for package in $packages; do flags="$flags -p $package"; done
# shellcheck disable=SC2086 # one word a flag
echo "building components: $(echo $packages | wc -w) of them"
cargo build --quiet --profile plugin --target wasm32-wasip2 $flags

out=${CARGO_TARGET_DIR:-target}
mkdir -p "$out/plugins"
for dir in $shipped; do
    package=$(names "$dir")
    [ -n "$package" ] || continue
    name=$(basename "$dir")
    # Renamed into place: a proxy that reads the directory meanwhile never sees half a file.
    for pair in "$out/wasm32-wasip2/plugin/$(echo "$package" | tr - _).wasm:$name.wasm" "$dir/$name.toml:$name.toml"; do
        cp "${pair%:*}" "$out/plugins/.${pair##*:}.new"
        mv "$out/plugins/.${pair##*:}.new" "$out/plugins/${pair##*:}"
    done
done
