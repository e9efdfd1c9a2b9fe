# SPDX-License-Identifier: BSD-3-Clause
"""What every kind of port must carry: each operation, frames of all sizes, both families. And the
examples in config/, as they stand there."""

import json
import os

import sandbox
import transfer_cases
from abilities import needs_tun, needs_xdp
from cases import Skip
from daemon import Daemon
from failure_cases import scenario
from port_links import Shared, Xdp
from sandbox import scratch
from transfer_cases import perf

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "config")


# One byte to several packets, around the payload of a packet and its multiples, and large.
SIZES = ("2", "64", "1023", "1024", "1025", "2048", "4096", "5000", "64K", "1M")


def sizes(link, operation, **how):
    for size in SIZES:
        perf(link, "-t", operation, "--size", size, "-n", 20, "--warmup", 2, "-d", 16, **how)


def cases(link):
    for operation in ("write", "send", "read"):
        yield f"{operation} sizes", lambda o=operation: sizes(link, o)
    yield "write sizes v6", lambda: sizes(link, "write", address=1)
    yield "send 4 queue pairs, event", lambda: perf(
        link, "-t", "send", "--size", "10000", "-q", 4, "-n", 500, "--event") and None
    yield "queue pairs by hand", lambda: scenario(link, "numbers", 0)


def captured_cases(link):
    yield from transfer_cases.captured_cases(link)
    yield from cases(link)


# ---- examples --------------------------------------------------------------------------------------

class Example(Daemon):
    """A daemon with an example's configuration; only CPU and control socket are the test's."""

    def __init__(self, build, folder, name, number):
        super().__init__(build, folder, name, number, "", [])
        ours = self.config
        with open(os.path.join(CONFIG, name + ".json")) as f:
            self.config = json.load(f)
        self.config.setdefault("eal", {}).setdefault("file_prefix", ours["eal"]["file_prefix"])
        self.config.update(lcores=ours["lcores"], control=ours["control"])
        self.addresses = [a.split("/")[0] for a in self.config["ports"][0].get("addresses", [])]


def pings(a, b):
    for address in b.addresses:
        with b.ping_server("-a", address):
            a.ping("-a", address, "-C", 2)


def pair(build, one, other, folder):
    """Two examples that belong together talk to each other, whichever of them is started last."""
    a, b = Example(build, folder, one, 0), Example(build, folder, other, 1)
    before = os.getcwd()
    os.chdir(folder)  # where sockets without a folder are made
    try:
        with a, b:
            pings(a, b)
            a.process.stop()
            a.start()
            pings(b, a)
            b.process.kill()  # nothing is cleaned up
            b.process.wait()
            b.start()
            pings(a, b)
    finally:
        os.chdir(before)


def lone(build, folder, name, networked):
    """An example for an Ethernet interface, with one of that name: it is up and serves."""
    if not networked:
        raise Skip("no-network")
    if name.startswith("af_xdp"):
        needs_xdp()
    elif name == "tap":
        needs_tun()
    sandbox.veth("eth1", "eth1-far", 1500)
    sandbox.run("ip", "address", "add", "192.0.2.10/24", "dev", "eth1")
    try:
        with Example(build, folder, name, 0) as daemon, daemon.ping_server():
            pass
    finally:
        sandbox.delete_link("eth1")


def killed(build, folder, kind, networked):
    """A daemon that had no time to clean up is started again, on the same interface."""
    link = kind(build, folder, networked)
    with link:
        pings(link.a, link.b)
        link.b.process.kill()
        link.b.process.wait()
        link.b.start()
        pings(link.a, link.b)
        link.judge()


def in_folder(function, *args):
    with scratch("ndd-e2e-") as folder:
        return function(*args, folder)


def lone_cases(build, networked):
    yield "examples of memif", lambda: in_folder(pair, build, "memif-server", "memif-client")
    yield "examples of vhost-user", lambda: in_folder(pair, build, "vhost-user", "virtio-user")
    for name in ("af_packet", "af_xdp", "af_xdp-shared", "tap"):
        yield f"example of {name}", lambda n=name: in_folder(
            lambda folder: lone(build, folder, n, networked))
    for kind in (Xdp, Shared):
        yield f"{kind.name} killed", lambda k=kind: in_folder(
            lambda folder: killed(build, folder, k, networked))
