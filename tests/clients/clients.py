"""Clients that others wrote, through the proxy: curl, h2load, gRPC and WebSocket. Each check says what it saw.

Run by `scripts/clients.sh`, which installs what it needs: clients.py BINARIES, the directory of the built binaries.
"""

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent import futures

import grpc
from websockets.sync.client import connect
from websockets.sync.server import serve

BINARIES = sys.argv[1]
DEADLINE = 20

CONFIG = """
[[listeners]]
address = "127.0.0.1:{clear}"
protocols = ["h1", "h2"]
[[listeners]]
address = "127.0.0.1:{tls}"
protocols = ["h1", "h2"]
tls = [{{ cert = "cert.pem", key = "key.pem" }}]
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


def answers(url):
    return subprocess.run(["curl", "-fsS", "-o", os.devnull, url], capture_output=True).returncode == 0


def check_curl(ports):
    clear, tls = f"http://127.0.0.1:{ports['clear']}", f"https://127.0.0.1:{ports['tls']}"
    code = ["-s", "-o", os.devnull, "-w", "%{http_version} %{http_code}"]
    for url, flags, version in [
        (clear, ["--http1.1"], "1.1"),
        (clear, ["--http1.0"], "1.1"),
        (clear, ["--http2-prior-knowledge"], "2"),
        # An offer to switch to h2c is no reason to: RFC 9113 took it away.
        (clear, ["--http2"], "1.1"),
        (tls, ["-k", "--http1.1"], "1.1"),
        (tls, ["-k", "--http2"], "2"),
    ]:
        seen = run("curl", *code, *flags, url + "/x")
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
    # As a browser calls it.
    message = b"\0" + struct.pack(">I", 5) + b"hello"
    done = subprocess.run(
        ["curl", "-s", "--http1.1", "-H", "content-type: application/grpc-web+proto", "--data-binary", "@-",
         f"http://127.0.0.1:{ports['clear']}/shop.Orders/Get"],
        input=message, capture_output=True, timeout=DEADLINE,
    )
    assert done.stdout.startswith(message + b"\x80"), done.stdout
    assert b"grpc-status:0\r\n" in done.stdout, done.stdout


def check_websocket(ports):
    for _ in range(50):
        with connect(f"ws://127.0.0.1:{ports['clear']}/ws") as socket_:
            for text in ("", "hello", "x" * 100_000):
                socket_.send(text)
                assert socket_.recv(timeout=DEADLINE) == text


def main():
    ports = free_ports(["clear", "tls", "echo", "rpc", "ws", "admin"])
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
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", f"{directory}/key.pem", "-out", f"{directory}/cert.pem")
        try:
            echo = os.path.join(BINARIES, "edgewright-echo")
            started.append(subprocess.Popen([echo, f"127.0.0.1:{ports['echo']}"]))
            proxy = os.path.join(BINARIES, "edgewright")
            started.append(subprocess.Popen([proxy, "run", "edgewright.toml"], cwd=directory, stderr=subprocess.DEVNULL))
            wait_for("the proxy", lambda: answers(f"http://127.0.0.1:{ports['admin']}/readyz"))
            wait_for("the upstream", lambda: answers(f"http://127.0.0.1:{ports['clear']}/x"))
            for check in (check_curl, check_h2load, check_grpc, check_websocket):
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
