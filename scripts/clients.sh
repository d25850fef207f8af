#!/bin/sh
# Runs clients that others wrote through the proxy: curl, h2load, gRPC and WebSocket (in Python). Installs what is
# missing: packages as root, Python's in a directory of their own beside the build.
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh
missing=
command -v h2load >/dev/null 2>&1 || missing="$missing nghttp2-client"
command -v openssl >/dev/null 2>&1 || missing="$missing openssl"
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing="$missing python3 python3-venv"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "clients: installing$missing"
        # shellcheck disable=SC2086 # one word a package
        (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing) >/dev/null
    else
        echo "clients: on Debian or Ubuntu, run: sudo apt-get install -y$missing" >&2
        exit 1
    fi
fi

target=${CARGO_TARGET_DIR:-target}
python=$target/clients/bin/python
[ -x "$python" ] || python3 -m venv "$target/clients"
"$python" -c 'import grpc, websockets' 2>/dev/null || "$python" -m pip install --quiet grpcio websockets
cargo build --quiet --workspace --bins
exec "$python" tests/clients/clients.py "$target/debug"
