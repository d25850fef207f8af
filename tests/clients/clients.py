"""Clients that others wrote, through the proxy: curl, h2load, gRPC and WebSocket, in the clear, within TLS, with
certificates of their own and behind the PROXY protocol. Each check says what it saw.

Run by `scripts/clients.sh`, which installs what it needs: clients.py BINARIES, the directory of the built binaries.
"""

import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
from concurrent import futures

import grpc
from websockets.sync.client import connect
from websockets.sync.server import serve

BINARIES = os.path.abspath(sys.argv[1])
DEADLINE = 20

CONFIG = """
[server]
trusted-proxies = ["127.0.0.1"]
[[listeners]]
address = "127.0.0.1:{clear}"
protocols = ["h1", "h2"]
[[listeners]]
address = "127.0.0.1:{tls}"
protocols = ["h1", "h2"]
tls = [{{ cert = "cert.pem", key = "key.pem" }}]
[[listeners]]
address = "127.0.0.1:{mutual}"
tls = [{{ cert = "cert.pem", key = "key.pem", client-ca = "ca.pem" }}]
[[listeners]]
address = "127.0.0.1:{balanced}"
proxy-protocol = "required"
[upstreams.echo]
peers = ["127.0.0.1:{echo}"]
[upstreams.rpc]
peers = ["127.0.0.1:{rpc}"]
protocol = "h2c"
[upstreams.ws]
peers = ["127.0.0.1:{ws}"]
[[routes]]
name = "rpc"
match = {{ path = "/shop.Orders/*" }}
upstream = "rpc"
grpc-web = true
[[routes]]
name = "ws"
match = {{ path = "/ws" }}
upstream = "ws"
[[routes]]
name = "echo"
upstream = "echo"
[access-log]
path = "access.log"
[admin]
address = "127.0.0.1:{admin}"
"""


def free_ports(names):
    """Ports that nobody has: all are held until each has one."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = dict(zip(names, (one.getsockname()[1] for one in held)))
    for one in held:
        one.close()
    return ports


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == 0, f"{command}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode(errors="replace")


def wait_for(what, ready):
    end = time.monotonic() + DEADLINE
    while not ready():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def make_certificates():
    """An authority with a server and a client that it knows, and a stranger."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    known = ["-CA", "ca.pem", "-CAkey", "ca.key", "-extensions", "usr_cert"]
    run(*new, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    run(*new, *known, "-subj", "/CN=localhost", *names, "-keyout", "key.pem", "-out", "cert.pem")
    run(*new, *known, "-subj", "/CN=client", "-keyout", "client.key", "-out", "client.pem")
    run(*new, "-extensions", "usr_cert", "-subj", "/CN=client", "-keyout", "stranger.key", "-out", "stranger.pem")


def answers(url, *flags):
    return subprocess.run(["curl", "-fsS", "-o", os.devnull, *flags, url], capture_output=True).returncode == 0


CODE = ["-s", "-o", os.devnull, "-w", "%{http_version} %{http_code}"]


def check_curl(ports):
    clear, tls = f"http://127.0.0.1:{ports['clear']}", f"https://127.0.0.1:{ports['tls']}"
    for url, flags, version in [
        (clear, ["--http1.1"], "1.1"),
        (clear, ["--http1.0"], "1.1"),
        (clear, ["--http2-prior-knowledge"], "2"),
        # An offer to switch to h2c is no reason to: RFC 9113 took it away.
        (clear, ["--http2"], "1.1"),
        (tls, ["-k", "--http1.1"], "1.1"),
        (tls, ["-k", "--http2"], "2"),
    ]:
        seen = run("curl", *CODE, *flags, url + "/x")
        assert seen == f"{version} 200", f"{flags}: {seen}"
        body = "z" * 3_000_000
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(body)
            file.flush()
            # curl expects 100 before it sends so much.
            seen = run("curl", "-s", *flags, "--data-binary", f"@{file.name}", url + "/upload")
        # The upstream puts a line feed in front of each piece.
        assert seen.replace("\n", "").endswith(body), f"{flags}: {len(seen)} bytes came back"
    seen = run("curl", "-sv", clear + "/1", clear + "/2", "-w", "%{num_connects}\n", "-o", os.devnull, "-o", os.devnull)
    assert seen.split() == ["1", "0"], f"one connection for two requests: {seen}"


def check_certificates(ports):
    url = f"https://127.0.0.1:{ports['mutual']}/x"
    assert not answers(url, "-k"), "a client without a certificate was served"
    own = ["--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"]
    for flags, version in [(["--http1.1"], "1.1"), (["--http2"], "2"), (["--tls-max", "1.2"], "2")]:
        seen = run("curl", *CODE, *own, *flags, url)
        assert seen == f"{version} 200", f"{flags}: {seen}"
    stranger = ["--cert", "stranger.pem", "--key", "stranger.key"]
    assert not answers(url, "-k", *stranger), "a client with a certificate of somebody else was served"


def check_proxy_protocol(ports):
    url = f"http://127.0.0.1:{ports['balanced']}/x"
    assert not answers(url), "a connection without the header was served"
    seen = run("curl", *CODE, "--haproxy-protocol", url)
    assert seen == "1.1 200", seen


def check_h2load(ports):
    for url, flags in [
        (f"http://127.0.0.1:{ports['clear']}/x", []),
        (f"https://127.0.0.1:{ports['tls']}/x", []),
        (f"http://127.0.0.1:{ports['clear']}/x", ["--h1"]),
    ]:
        seen = run("h2load", "-n", "2000", "-c", "8", "-m", "1" if flags else "20", *flags, url)
        assert re.search(r"2000 succeeded, 0 failed, 0 errored, 0 timeout", seen), seen


class Orders(grpc.GenericRpcHandler):
    """Echoes messages: one, or as many as come; refuses what is called `Refuse`."""

    def service(self, details):
        name = details.method.rsplit("/", 1)[-1]
        if name == "Refuse":
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.NOT_FOUND, "no such order: ä")
            )
        if name == "Talk":
            return grpc.stream_stream_rpc_method_handler(lambda messages, _: (b"re: " + one for one in messages))
        return grpc.unary_unary_rpc_method_handler(lambda message, _: message)


def check_grpc(ports):
    with grpc.insecure_channel(f"127.0.0.1:{ports['clear']}") as channel:
        for size in (0, 5, 1_000_000):
            assert channel.unary_unary("/shop.Orders/Get")(b"m" * size, timeout=DEADLINE) == b"m" * size
        try:
            channel.unary_unary("/shop.Orders/Refuse")(b"", timeout=DEADLINE)
            raise AssertionError("`Refuse` was answered")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.NOT_FOUND, error
            assert error.details() == "no such order: ä", error
        talk = channel.stream_stream("/shop.Orders/Talk")
        seen = list(talk(iter([b"1", b"2", b"3"]), timeout=DEADLINE))
        assert seen == [b"re: 1", b"re: 2", b"re: 3"], seen
    with open("ca.pem", "rb") as file:
        trusted = grpc.ssl_channel_credentials(file.read())
    with grpc.secure_channel(f"localhost:{ports['tls']}", trusted) as channel:
        assert channel.unary_unary("/shop.Orders/Get")(b"hello", timeout=DEADLINE) == b"hello"


def check_grpc_web(ports):
    """As a browser calls it."""
    clear, tls = f"http://127.0.0.1:{ports['clear']}", f"https://127.0.0.1:{ports['tls']}"
    message = b"\0" + struct.pack(">I", 5) + b"hello"
    for url, flags in [
        (clear, ["--http1.1"]),
        (clear, ["--http2-prior-knowledge"]),
        (tls, ["--http1.1", "--cacert", "ca.pem"]),
        (tls, ["--http2", "--cacert", "ca.pem"]),
    ]:
        done = subprocess.run(
            ["curl", "-sS", *flags, "-H", "content-type: application/grpc-web+proto", "--data-binary", "@-",
             url + "/shop.Orders/Get"],
            input=message, capture_output=True, timeout=DEADLINE,
        )
        assert done.stdout.startswith(message + b"\x80"), f"{flags}: {done}"
        assert b"grpc-status:0\r\n" in done.stdout, f"{flags}: {done}"
        done = subprocess.run(
            ["curl", "-sSi", *flags, "-H", "content-type: application/grpc-web+proto", "--data-binary", "@-",
             url + "/shop.Orders/Refuse"],
            input=message, capture_output=True, timeout=DEADLINE,
        )
        assert re.search(rb"grpc-status: ?5", done.stdout), f"{flags}: {done}"


def check_websocket(ports):
    trusted = ssl.create_default_context(cafile="ca.pem")
    for url, context in [
        (f"ws://127.0.0.1:{ports['clear']}/ws", None),
        (f"wss://127.0.0.1:{ports['tls']}/ws", trusted),
    ]:
        for _ in range(25):
            with connect(url, ssl=context) as socket_:
                for text in ("", "hello", "x" * 100_000):
                    socket_.send(text)
                    assert socket_.recv(timeout=DEADLINE) == text


def main():
    ports = free_ports(["clear", "tls", "mutual", "balanced", "echo", "rpc", "ws", "admin"])
    rpc = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    rpc.add_generic_rpc_handlers((Orders(),))
    rpc.add_insecure_port(f"127.0.0.1:{ports['rpc']}")
    rpc.start()
    ws = serve(lambda peer: [peer.send(one) for one in peer], "127.0.0.1", ports["ws"])
    started = []
    with tempfile.TemporaryDirectory() as directory, futures.ThreadPoolExecutor(max_workers=1) as background:
        background.submit(ws.serve_forever)
        with open(os.path.join(directory, "edgewright.toml"), "w") as file:
            file.write(CONFIG.format(**ports))
        # Certificates are named as they are there.
        os.chdir(directory)
        make_certificates()
        try:
            echo = os.path.join(BINARIES, "edgewright-echo")
            started.append(subprocess.Popen([echo, f"127.0.0.1:{ports['echo']}"]))
            proxy = os.path.join(BINARIES, "edgewright")
            started.append(subprocess.Popen([proxy, "run", "edgewright.toml"], cwd=directory, stderr=subprocess.DEVNULL))
            wait_for("the proxy", lambda: answers(f"http://127.0.0.1:{ports['admin']}/readyz"))
            wait_for("the upstream", lambda: answers(f"http://127.0.0.1:{ports['clear']}/x"))
            for check in (check_curl, check_certificates, check_proxy_protocol, check_h2load, check_grpc, check_grpc_web,
                          check_websocket):
                check(ports)
                print(f"{check.__name__.removeprefix('check_')}: fine", flush=True)
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(timeout=DEADLINE)
            ws.shutdown()
            rpc.stop(0)


main()
