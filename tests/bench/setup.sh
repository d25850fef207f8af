#!/bin/sh
# What the bench needs beside Rust: nginx with Lua, wrk, and the target of the guests. Installs what is
# missing where it may, and else says what to run. Nothing is started.
set -eu

missing=
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx"
[ -e /usr/lib/nginx/modules/ngx_http_lua_module.so ] || missing="$missing libnginx-mod-http-lua"
command -v wrk >/dev/null || missing="$missing wrk"

if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "missing:$missing; run as root: apt-get install -y$missing" >&2
        exit 1
    fi
    # The package would start a server on port 80; exit code 101 forbids it.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null
    # shellcheck disable=SC2086 # a list of words
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx wasm32-wasip2; then
    rustup --quiet target add wasm32-wasip2
fi
