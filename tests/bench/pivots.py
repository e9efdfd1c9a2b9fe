# SPDX-License-Identifier: BSD-3-Clause
"""Tables of documents: which figure stands in which row and column."""

import collections

from figures import WINDOW, deep, port_figure

# rows: (name, unit, [figure of each column]): its name; or several, the best of which counts; or None.
Pivot = collections.namedtuple("Pivot", "corner columns rows")

OPERATIONS = ("write", "send", "read")
_PEERS = ("libfabric", "iperf3", "qperf")


def _ucx(what):
    """UCX's two ways, of which the better one counts."""
    return [f"peers/ucx {w} {what}" for w in ("tag", "put")]


def _beside(size, what, limit):
    """Our figures, UCX's better way, the other peers, the limit."""
    return [f"ours/{o} {size}{what}" for o in OPERATIONS] \
        + [_ucx(size + what)] \
        + [f"peers/{p} {size}{what}" for p in _PEERS] + [limit]


_DEEP = (f"8 B, {WINDOW} under way", "M/s", [deep("write"), deep("send")])


def _padded(row, columns):
    name, unit, figures = row
    return name, unit, figures + [None] * (columns - len(figures))


def _engine():
    for name, size in (("8 B", 8), ("64 B", 64), ("256 B", 256), ("4 KiB", 4096), ("64 KiB", 65536)):
        yield name, "cycles", [f"engine/{o}-{size}" for o in ("floor",) + OPERATIONS + ("atomic",)]


def _limits():
    for size in ("8 B", "64 B", "256 B", "1024 B", "4096 B", "4096 B L2", "4096 B 1MiB", "4096 B L3",
                 "4096 B memory"):
        yield size, "ns", [f"limits/{what} {size}" for what in ("copy", "crc", "copy+crc")]


def _ports():
    for mtu, xdp_mtu in ((9000, 2200), (1500, 1500)):
        for size in ("64 KiB", "1 MiB"):
            yield (f"{size} writes, MTU {mtu}", "GB/s",
                   [port_figure(*kind) for kind in (("udp", size, mtu), ("af_packet", size, mtu),
                                                    ("af_xdp", size, xdp_mtu), ("iperf3", size, mtu))])


PIVOTS = {
    "beside": Pivot("two daemons beside others", ("write", "send", "read", "UCX, TCP", "libfabric, TCP (ping-pong)",
                                          "iperf3, TCP", "qperf, TCP", "limit"), [
        ("64 KiB", "GB/s", _beside("64 KiB", "", "limits/composed")),
        ("1 MiB", "GB/s", _beside("1 MiB", "", "limits/composed")),
        ("8 B", "M/s", _beside("8 B", " rate", "testpmd/64 B tx to rx")),
        _padded(_DEEP, 8),
        ("8 B, one way", "us", _beside("8 B", " latency", None)),
    ]),
    "headlines": Pivot("two daemons on two CPUs", ("dpdk-ndd", "UCX, TCP", "iperf3, TCP", "limit of the machine"), [
        ("64 KiB writes", "GB/s",
         ["ours/write 64 KiB", _ucx("64 KiB"), "peers/iperf3 64 KiB", "limits/composed"]),
        ("8 B writes", "M/s", ["ours/write 8 B rate", _ucx("8 B rate"), None, "testpmd/64 B tx to rx"]),
        ("8 B write, one way", "us", ["ours/write 8 B latency", _ucx("8 B latency"), None, None]),
        ("8 B write, one way, one daemon", "us", ["one daemon/write 8 B latency, other core", None, None, None]),
    ]),
    "one daemon": Pivot("one daemon, a client that is both ends", ("on the other core", "on the lcore's core"), [
        (name, unit, [f"one daemon/{name}, {where}" for where in ("other core", "same core")])
        for name, unit in (("write 8 B latency", "us"), ("write 8 B rate", "M/s"), ("write 64 KiB", "GB/s"))]),
    "verbs": Pivot("on the same daemons", ("write, ndperf", "write, perftest", "send, perftest", "read, perftest",
                                           "put, UCX", "UCX, TCP"), [
        (size, "GB/s", [f"ours/write {size}"] + [f"verbs/{o} {size}" for o in OPERATIONS]
         + [f"verbs/ucx put {size}", _ucx(size)]) for size in ("64 KiB", "1 MiB")] + [
        ("8 B", "M/s", ["ours/write 8 B rate", None, None, None, "verbs/ucx put 8 B rate", _ucx("8 B rate")])]),
    "ports": Pivot("over a cable (veth) of the kernel's", ("UDP", "AF_PACKET", "AF_XDP (MTU 2200 for 9000)",
                                                          "iperf3, TCP"), list(_ports())),
    "engine": Pivot("engine alone, both sides on one core", ("copy+CRC of both sides", "write", "send", "read",
                                                            "atomic"), list(_engine())),
    "queue pairs": Pivot("8 B writes on queue pairs at random", ("64", "1,000", "10,000", "100,000"), [
        ("64 under way", "cycles", [f"engine/random-{n}" for n in (64, 1000, 10000, 100000)]),
        ("256 under way", "cycles", ["engine/random-64-deep", None, None, "engine/random-100000-deep"])]),
    "connections": Pivot("connections, both ends on one core", ("set up and ended", "memory of an idle one",
                                                               "reserved for it"), [
        ("each", "/s and bytes", ["engine/connections", "engine/idle queue pair",
                                    "engine/idle queue pair, reserved"])]),
    "copying": Pivot("one core", ("copy", "CRC-32", "copy, then CRC-32"), list(_limits())),
    "crossing": Pivot("from core to core", ("a cache line, to and fro", "a descriptor of 64 B, one by one",
                                           "in batches of 32"), [
        ("each", "ns", ["limits/line", "limits/ring", "limits/ring of 32"])]),
    "testpmd": Pivot("testpmd over memif", ("tx to rx", "echo"), [
        (size, "M/s", [f"testpmd/{size} {how}" for how in ("tx to rx", "echo")]) for size in ("64 B", "4200 B")]),
    "sizes": Pivot("two daemons over memif", OPERATIONS, [
        (size, "M/s" if what else "GB/s", [f"ours/{o} {size}{what}" for o in OPERATIONS])
        for size, what in (("8 B", " rate"), ("64 B", " rate"), ("4 KiB", ""), ("64 KiB", ""), ("1 MiB", ""))]
        + [_padded(_DEEP, 3)]),
}
