# SPDX-License-Identifier: BSD-3-Clause
"""A port over the kernel's sockets whose lcores have sockets each."""

import contextlib
import re
import socket

import port_cases
import sandbox
import shared_cases
import udp_cases
from cases import cpus
from port_links import Udp, UdpNetwork
from sandbox import Failure
from transfer_cases import perf

SHARD = 1  # the lcore that does not own the port


def with_two_lcores(link):
    """Of each daemon. They sleep when they have nothing to do, as two CPUs have four of them, and clients."""
    for daemon in (link.a, link.b):
        daemon.config["lcores"] = cpus(2)
    return link


def frames(daemon):
    """What each shard counts of frames."""
    return [{k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", line)}
            for line in re.findall(r"shard \d+ frames:(.*)", daemon.counters())]


def since(before, now):
    return [{k: n - old.get(k, 0) for k, n in new.items()} for old, new in zip(before, now)]


def other_lcores_work(link, work):
    """The first lcore of each daemon has a session that does nothing, so that those of `work` are the second's. Returns
    what each counted meanwhile: of a the two, of b the two."""
    with link.a.ping_server("-a", link.a.addresses[0]), link.b.ping_server("-a", link.b.addresses[0]):
        before = [frames(d) for d in (link.a, link.b)]
        work()
        return [since(b, frames(d)) for b, d in zip(before, (link.a, link.b))]


def judge_steering(counts, least):
    """All but the connection's messages came to the second lcore itself, and left by it."""
    for name, shards in zip("ab", counts):
        own = shards[SHARD]
        handed = sum(s.get("handed_over", 0) for s in shards)
        through = shards[0].get("tx_frames", 0)
        if own.get("rx_frames", 0) < least or own.get("tx_frames", 0) < least or handed or through > least / 10:
            raise Failure(f"daemon {name}: {shards}")
    return f"{counts[1][SHARD]['rx_frames']} frames of the second lcore, none handed over"


def writes(link):
    for address in range(len(link.b.addresses)):
        perf(link, "-t", "write", "--size", "8", "-n", 2000, "-d", 16, address=address)
        perf(link, "-t", "write", "--size", "64K", "-n", 300, "-d", 16, address=address)
        perf(link, "-t", "read", "--size", "64K", "-n", 100, "-d", 4, address=address)


def steered(build, folder, networked):
    """Every address has its group, IPv6 as well."""
    with with_two_lcores(Udp(build, folder, networked)) as link:
        note = judge_steering(other_lcores_work(link, lambda: writes(link)), 2000)
        link.judge()
    return note


def both_at_once(build, folder, networked):
    """Connections of all pairs of lcores, with datagrams beside them, and an lcore that slept is woken by its own."""
    with with_two_lcores(Udp(build, folder, networked)) as link, contextlib.ExitStack() as servers:
        for port in (4001, 4002):
            servers.enter_context(link.b.ping_server("-a", f"{link.b.addresses[0]}:{port}"))
        for port in (4001, 4002, 4001, 4002):
            servers.enter_context(link.a.popen(link.build.nddping, "-c", "-a", f"{link.b.addresses[0]}:{port}",
                                               "-S", 8192, "-w", 0))
        before = frames(link.b)
        sandbox.until(lambda: all(s.get("rx_frames", 0) > 500 for s in since(before, frames(link.b))), "frames of both")
        sandbox.run(link.build.ndtest, "datagrams", link.a.socket_path, link.a.addresses[0], link.b.socket_path,
                    link.b.addresses[0], timeout=60)
        counted = since(before, frames(link.b))
        if any(s.get("handed_over") for s in counted):
            raise Failure(f"{counted}")
    return f"{[s['rx_frames'] for s in counted]} frames"


def wildcards(build, folder, networked):
    """Between two networks, of all addresses, by both families and link-local ones, and groups, whose frames come
    once."""
    with with_two_lcores(UdpNetwork(build, folder, networked)) as link:
        note = judge_steering(other_lcores_work(link, lambda: writes(link)), 2000)
        link.captured(lambda: udp_cases.link_locals(link))
        shared_cases.groups(link)
        link.judge()
    return note


def joined(address):
    """A socket of the same user that asks to be in the group of this address."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind((address, 4791))
    s.setblocking(False)
    return s


def strangers(build, folder):
    """A second daemon is refused, whatever number of lcores it has; and a process of the same user that joins the
    sockets of an address receives nothing, and harms nobody."""
    with with_two_lcores(Udp(build, folder, False)) as link:
        address = link.b.addresses[0]
        for lcores in (1, 2):
            udp_cases.refused(build, folder, [address + "/8"], f"UDP port 4791 of {address} is taken: by ",
                              lcores=cpus(lcores))
        with joined(address) as stranger:
            note = judge_steering(other_lcores_work(link, lambda: writes(link)), 2000)
            port_cases.pings(link.a, link.b)
            try:
                raise Failure(f"the stranger got {stranger.recv(100).hex()}")
            except BlockingIOError:
                pass
        port_cases.pings(link.a, link.b)
        link.judge()
    return note


def lone_cases(build, networked):
    yield "udp lcores steered", lambda: port_cases.in_folder(lambda folder: steered(build, folder, networked))
    yield "udp lcores at once", lambda: port_cases.in_folder(lambda folder: both_at_once(build, folder, networked))
    yield "udp lcores of all addresses", lambda: port_cases.in_folder(
        lambda folder: wildcards(build, folder, networked))
    yield "udp lcores and strangers", lambda: port_cases.in_folder(lambda folder: strangers(build, folder))
