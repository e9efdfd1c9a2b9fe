# SPDX-License-Identifier: BSD-3-Clause
"""Data of every operation and size, compared byte by byte where it arrives."""

import json
import os
import re

from sandbox import Failure

# One byte to several packets, around the payload of a packet and its multiples, and large.
CAPTURED_SIZES = ("2", "64", "1023", "1024", "1025", "4096", "5000", "64K", "1M")


def perf(link, *options, address=0, timeout=120, memory=("arena", "arena")):
    """A run of ndperf between the daemons; its JSON document. memory: where the messages lie at a and b."""
    result = os.path.join(link.folder, "result.json")
    with link.b.popen(link.build.ndperf, "-s", "--once", "--verify", "--memory", memory[1]) as server:
        server.expect("listening")
        link.a.run(link.build.ndperf, link.b.addresses[address], "--json", result, "--verify",
                   "--memory", memory[0], *options,
                   timeout=timeout)
        if server.wait():
            raise Failure(f"ndperf -s: exit {server.wait()}\n{server.text}")
    with open(result) as f:
        return json.load(f)


def all_sizes(link, operation, **how):
    document = perf(link, "-t", operation, "--all", "-n", 20, "--warmup", 2, "-d", 16, **how)
    sizes = [row["bytes"] for row in document["results"]]
    if sizes != [2 << n for n in range(23)]:
        raise Failure(f"sizes in the JSON: {sizes}")
    return f"{len(sizes)} sizes"


def loopback(link, *options, address=0):
    """One process is both ends, at one daemon: all frames stay in it."""
    result = os.path.join(link.folder, "result.json")
    link.a.run(link.build.ndperf, "--loopback", link.a.addresses[address], "--json", result, "--verify", *options)
    with open(result) as f:
        document = json.load(f)
    if not document["loopback"] or any(row["iterations"] != 200 for row in document["results"]):
        raise Failure(f"the JSON: {document}")


def inside(link):
    """Both modes of each operation, and nothing of it at the port."""
    def counter(name):
        return sum(map(int, re.findall(rf"\b{name}=(\d+)", link.a.counters())))

    before = counter("loopback"), counter("tx_frames")
    for operation in ("write", "send", "read"):
        for mode in ("bw", "lat"):
            loopback(link, "-t", operation, "-m", mode, "--size", 5000, "-n", 200)
    loopback(link, "-q", 4, "-n", 50, "--memory", "heap")
    loopback(link, "-m", "lat", "-n", 200, address=1)
    frames, sent = counter("loopback") - before[0], counter("tx_frames") - before[1]
    if frames < 6 * 200 or sent > frames / 10:
        raise Failure(f"{frames} frames inside, {sent} through the port")
    return f"{frames} frames inside"


def inside_woken(link):
    """Two processes of one daemon sleep for each message. A wake-up that is lost costs ndperf 50 ms, so a thousand
    pings without theirs would not end in time."""
    with link.a.popen(link.build.ndperf, "-s", "--once", "--event") as server:
        server.expect("listening")
        link.a.run(link.build.ndperf, link.a.addresses[0], "-t", "send", "-m", "lat", "-n", 1000, "--event",
                   "--verify", timeout=30)
        if server.wait():
            raise Failure(f"ndperf -s: exit {server.wait()}\n{server.text}")


def captured_sizes(link, operation):
    def act():
        for size in CAPTURED_SIZES:
            perf(link, "-t", operation, "--size", size, "-n", 4, "--warmup", 0, "-d", 4, "--cq-mod", 2)

    return link.captured(act)


def cases(link):
    """Cases of one link that is up."""
    for operation in ("write", "send", "read"):
        yield f"{operation} all sizes", lambda o=operation: all_sizes(link, o)
        yield f"{operation} 4 queue pairs, event", lambda o=operation: perf(
            link, "-t", o, "--size", "10000", "-q", 4, "-n", 500, "--event") and None
        yield f"{operation} latency", lambda o=operation: perf(
            link, "-t", o, "-m", "lat", "--size", 64, "-n", 200) and None
        for memory in (("heap", "heap"), ("heap", "arena"), ("arena", "heap")):
            yield f"{operation} all sizes {memory[0]} to {memory[1]}", lambda o=operation, m=memory: all_sizes(
                link, o, memory=m)
        yield f"{operation} latency heap", lambda o=operation: perf(
            link, "-t", o, "-m", "lat", "--size", 64, "-n", 200, memory=("heap", "heap")) and None
    yield "loopback", lambda: inside(link)
    yield "loopback, woken", lambda: inside_woken(link)
    yield "write all sizes v6", lambda: all_sizes(link, "write", address=1)


def captured_cases(link):
    for operation in ("write", "send", "read"):
        yield f"{operation} captured", lambda o=operation: captured_sizes(link, o)
