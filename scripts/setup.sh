#!/bin/sh
# Installs what the build and the quickstart need and the machine lacks: a C compiler and cmake (for zlib-ng,
# which Pingora brings), curl, and Rust's Wasm target. Says nothing where all is there; where it may not install, says which command would.
set -eu

missing=
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
command -v cmake >/dev/null 2>&1 || missing="$missing cmake"
command -v curl >/dev/null 2>&1 || missing="$missing curl"

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing$missing"
        # shellcheck disable=SC2086 # one word a package
        (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing) >/tmp/edgewright-setup.$$ 2>&1 || {
            cat /tmp/edgewright-setup.$$ >&2
            rm -f /tmp/edgewright-setup.$$
            exit 1
        }
        rm -f /tmp/edgewright-setup.$$
    else
        echo "setup: missing:$missing" >&2
        echo "setup: on Debian or Ubuntu, run: sudo apt-get install -y$missing" >&2
        exit 1
    fi
fi

if ! command -v cargo >/dev/null 2>&1; then
    echo "setup: cargo is missing: install Rust with rustup (https://rustup.rs)" >&2
    exit 1
fi

target=wasm32-wasip2
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    if command -v rustup >/dev/null 2>&1; then
        echo "setup: adding the Rust target $target"
        rustup --quiet target add $target
    else
        echo "setup: the Rust target $target is missing; with rustup, run: rustup target add $target" >&2
        exit 1
    fi
fi
