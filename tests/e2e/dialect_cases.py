# SPDX-License-Identifier: BSD-3-Clause
"""ndperf in perftest's dialect, both ends ours: what the stock programs of tests/interop are too slow for, and
what is said when the ends don't fit."""

import contextlib
import json
import os
import socket
import threading

from sandbox import Failure


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Ends:
    def __init__(self, link, cm, family):
        self.link, self.cm = link, cm
        self.common = ["--peer", "perftest", "-p", free_port()] + (["-R"] if cm else [])
        self.server_at = ["--bind", link.b.addresses[family]] + ([] if cm else ["--tcp", "127.0.0.1"])
        self.client_to = ([link.b.addresses[family] if cm else "127.0.0.1"]
                          + ["--bind", link.a.addresses[family]])

    def serve(self, *options):
        ndperf = self.link.build.ndperf
        server = self.link.b.popen(ndperf, "-s", *self.common, *self.server_at, *options)
        server.expect("listening")
        return server

    def call(self, *options, check=True):
        ndperf = self.link.build.ndperf
        return self.link.a.run(ndperf, *self.common, *self.client_to, *options, check=check)


def test(link, *options, cm=False, family=0):
    """The client's rows: size and messages."""
    ends = Ends(link, cm, family)
    result = os.path.join(link.folder, "perftest.json")
    with ends.serve(*options) as server:
        ends.call("--json", result, *options)
        if server.wait():
            raise Failure(f"ndperf -s: exit {server.wait()}\n{server.text}")
    with open(result) as f:
        return [(row["bytes"], row["iterations"]) for row in json.load(f)["results"]]


def expect(rows, wanted):
    if rows != wanted:
        raise Failure(f"rows: {rows}, wanted {wanted}")


def all_sizes(link, *options, cm=False):
    expect(test(link, "-a", "-n", 20, *options, cm=cm), [(2 << n, 20) for n in range(23)])


def by_time(link, *options):
    (size, messages), = test(link, "-D", "0.3", "--size", 3000, *options)
    if size != 3000 or not messages:
        raise Failure(f"{messages} messages of {size} bytes")


def mismatch(link, client, server, words):
    """Both have the test wrong in one point; one of them says so, and neither hangs."""
    ends = Ends(link, False, 0)
    with ends.serve(*server) as serving:
        done = ends.call(*client, check=False)
        code = serving.wait()
    if not done.returncode or not code or words not in done.stdout + serving.text:
        raise Failure(f"exits {done.returncode}, {code}, without {words!r}\n{done.stdout}\n{serving.text}")


def stranger(link, answers, words):
    """A server that reads some bytes and answers, again and again, and then has gone."""
    def serve(listener):
        with listener.accept()[0] as s:
            with contextlib.suppress(OSError):  # it need not hear us out
                for count, answer in answers:
                    s.recv(count, socket.MSG_WAITALL)
                    s.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        done = link.a.run(link.build.ndperf, "--peer", "perftest", "-p", listener.getsockname()[1], "127.0.0.1",
                          check=False)
    if done.returncode not in (3, 4) or words not in done.stdout:
        raise Failure(f"exit {done.returncode}, without {words!r}\n{done.stdout}")


VERSION = (16, b"6.06".ljust(16, b"\0"))
PAGE, CACHE_LINE = (4, (4096).to_bytes(4, "big")), (4, (64).to_bytes(4, "big"))


def cases(link):
    yield "perftest of old", lambda: stranger(link, [(16, b"5.10".ljust(16, b"\0"))], '"5.10"')
    yield "perftest with no MTU", lambda: stranger(link, [VERSION, PAGE, CACHE_LINE, (2, b"9\0")], "no path MTU")
    yield "perftest with no queue pair", lambda: stranger(
        link, [VERSION, PAGE, CACHE_LINE, (2, b"3\0"), (108, b"?" * 108)], "in no way of perftest")
    yield "perftest with a page of 4 GB", lambda: stranger(
        link, [VERSION, (4, b"\xff" * 4), CACHE_LINE, (2, b"3\0")], "page")
    yield "perftest that goes", lambda: stranger(link, [VERSION], "the peer has left")
    for operation in ("send", "write", "read", "atomic"):
        for cm in (False, True):
            way = " -R" if cm else ""
            o = ("-t", operation)
            size = () if operation == "atomic" else ("--size", 5000)
            bytes_of = 8 if operation == "atomic" else 5000
            yield f"perftest {operation} bw{way}", lambda o=o, s=size, b=bytes_of, c=cm: expect(
                test(link, *o, *s, "-n", 300, "-q", 3, cm=c), [(b, 900)])
            yield f"perftest {operation} lat{way}", lambda o=o, s=size, b=bytes_of, c=cm: expect(
                test(link, *o, *s, "-m", "lat", "-n", 300, cm=c, family=1), [(b, 300)])
            yield f"perftest {operation} bw both{way}", lambda o=o, s=size, b=bytes_of, c=cm: expect(
                test(link, *o, *s, "-b", "-n", 300, "-q", 2, cm=c), [(b, 600)])
    for operation in ("send", "write", "read"):
        yield f"perftest {operation} all sizes", lambda o=operation: all_sizes(link, "-t", o)
        yield f"perftest {operation} by time", lambda o=operation: by_time(link, "-t", o)
        yield f"perftest {operation} both by time", lambda o=operation: by_time(link, "-t", o, "-b")
    yield "perftest write all sizes both", lambda: all_sizes(link, "-t", "write", "-b")
    yield "perftest send all sizes both -R", lambda: all_sizes(link, "-t", "send", "-b", cm=True)
    yield "perftest write lat all sizes", lambda: all_sizes(link, "-t", "write", "-m", "lat")
    yield "perftest send lat all sizes", lambda: all_sizes(link, "-t", "send", "-m", "lat")
    send = ("-t", "send", "-n", "50", "--size", "1000")
    yield "perftest other size", lambda: mismatch(
        link, send, (*send[:4], "--size", "2000"), "--size (-s there) must be the same")
    yield "perftest fewer messages", lambda: mismatch(
        link, send, ("-t", "send", "-n", "60", "--size", "1000"), "-n must be the same")
    yield "perftest more queue pairs", lambda: mismatch(
        link, (*send, "-q", "2"), send, "another number of queue pairs")
    yield "perftest fewer queue pairs", lambda: mismatch(
        link, send, (*send, "-q", "2"), "another number of queue pairs")
