#!/bin/sh
# Starts examples/01-quickstart: an upstream that echoes what it received, and the proxy in front of it with
# three plugins. Ctrl-C ends both.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}

# Whatever listens there already would answer in the place of what is started here.
for port in 8080 9000 9001 9901; do
    if curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$port/" || [ $? -ne 7 ]; then
        echo "quickstart: something listens on 127.0.0.1:$port already; end it first" >&2
        exit 1
    fi
done
# The example reads its plugins from target/plugins, wherever the rest was built.
if [ "$target" != target ]; then
    mkdir -p target/plugins
    cp "$target"/plugins/* target/plugins/
fi
echo=
proxy=
stop() {
    trap - INT TERM EXIT
    for pid in $proxy $echo; do kill -TERM "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
}
trap 'stop; exit 0' INT TERM
trap stop EXIT

"$target/debug/edgewright-echo" 127.0.0.1:9000 127.0.0.1:9001 &
echo=$!
"$target/debug/edgewright" run --config examples/01-quickstart/edgewright.toml &
proxy=$!

# Ready, or gone with a message of its own.
tries=0
until curl -fsS -o /dev/null http://127.0.0.1:9901/readyz 2>/dev/null; do
    tries=$((tries + 1))
    if ! kill -0 "$proxy" 2>/dev/null || ! kill -0 "$echo" 2>/dev/null || [ "$tries" -gt 100 ]; then
        echo "quickstart: the proxy or the echo upstream did not start; their messages are above" >&2
        exit 1
    fi
    sleep 0.1
done

cat <<'TEXT'

Edgewright is running. Try, in another terminal:

  curl -i http://127.0.0.1:8080/hello
      401: the plugin `api-key` wants a key

  curl -i -H 'X-Api-Key: quickstart-key' http://127.0.0.1:8080/hello
      200: the upstream echoes the request; see `x-api-owner: you`, set by the plugin

  curl -H 'X-Api-Key: quickstart-key' 'http://127.0.0.1:8080/acme/widgets/7?color=red'
      the plugin `rewrite` made /w/7?color=red&brand=acme of it

  curl -i -H 'X-Api-Key: quickstart-key' -H 'X-Canary: always' http://127.0.0.1:8080/hello
      the plugin `canary` chose the upstream `canary`: it answers `upstream 127.0.0.1:9001`

  curl http://127.0.0.1:9901/status      (what runs)
  curl http://127.0.0.1:9901/metrics     (what each plugin costs)

The access log is below. Ctrl-C ends it all.

TEXT
wait "$proxy"
