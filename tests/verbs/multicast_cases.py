# SPDX-License-Identifier: BSD-3-Clause
"""Multicast groups by the distribution's librdmacm: mckey at both ends, and a program of our own."""

import contextlib
import re
import shutil
import signal

from cases import Skip
from cm_cases import environment
from sandbox import Failure, Process, run, until
from verbs import under

GROUPS = {"ipv4": ("239.77.1.2", "::ffff:239.77.1.2", 0), "ipv6": ("ff15::77:2", "ff15::77:2", 1)}
MESSAGES = 10
# Lines as they come: mckey writes none out before it ends.
MCKEY = ("stdbuf", "-oL", "mckey", "-C", str(MESSAGES), "-S", "1000")


def mckey(daemon, family, *more, bound=True):
    """mckey in the family's group on that daemon."""
    group, _, number = GROUPS[family]
    at = ("-b", daemon.addresses[number]) if bound else ()
    return Process(*daemon.inside, *under(daemon, *MCKEY, "-m", group, *at, *more), name="mckey on " + daemon.name)


def joins(process, family):
    process.expect(f"mckey: joined dgid: {GROUPS[family][1]} mlid 0x0 sl 0")


def ends_well(process):
    if process.wait(60) != 0 or "data transfers complete" not in process.text or "failure" in process.text:
        raise Failure(f"{process.name}: exit {process.wait()}\n{process.text}")


def counter(daemon, name):
    """Of all lcores."""
    return sum(map(int, re.findall(rf"\b{name}=(\d+)", daemon.counters())))


def to_receivers(family, sender, receivers, *more, bound=True):
    """One sends to all of them; none of these ends before it has received each datagram."""
    if not shutil.which("mckey"):
        raise Skip("no-rdmacm")
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(mckey(daemon, family, bound=bound)) for daemon in receivers]
        for process in waiting:
            joins(process, family)
        source = stack.enter_context(mckey(sender, family, "-s", *more, bound=bound))
        joins(source, family)
        for process in (source, *waiting):
            ends_well(process)
    for daemon in {sender, *receivers}:
        until(lambda d=daemon: not d.usage(), "nothing is left")


def member_dies(link):
    """A process that is killed in the group leaves it: what is sent there finds nobody any more."""
    with mckey(link.a, "ipv4") as member:
        joins(member, "ipv4")
        member.kill(signal.SIGKILL)
        member.wait(20)
    until(lambda: not link.a.usage(), "nothing is left")
    before = counter(link.a, "multicast_no_group")
    with mckey(link.b, "ipv4", "-s") as source:
        ends_well(source)
    until(lambda: counter(link.a, "multicast_no_group") - before == MESSAGES, "no member is found")


def not_possible(link):
    """A UDP port that is bound to addresses is in no groups: the join is an event of failure."""
    with mckey(link.a, "ipv4") as member:
        member.wait(60)
    if "RDMA_CM_EVENT_MULTICAST_ERROR, error: -1" not in member.text or "joined" in member.text:
        raise Failure(member.text)


def own(link, scenario, number=0):
    run(*link.a.inside, *under(link.a, link.a.build.cmtest(), scenario), timeout=60,
        env=environment(link.a.addresses[number]))
    until(lambda: not link.a.usage(), "nothing is left")


def cases(link):
    for family, (_, _, number) in GROUPS.items():
        if len(link.a.addresses) <= number:
            continue
        yield f"mckey {family}", lambda f=family: to_receivers(f, link.b, [link.a])
        yield f"mckey {family} back", lambda f=family: to_receivers(f, link.a, [link.b])
        yield f"mckey {family} two receivers", lambda f=family: to_receivers(f, link.b, [link.a, link.b])
        yield f"cm multicast {family}", lambda n=number: own(link, "multicast", n)
    yield "mckey without loopback", lambda: to_receivers("ipv4", link.b, [link.a, link.b], "-l")
    yield "mckey sends only", lambda: to_receivers("ipv4", link.b, [link.a], "-o")


def more_cases(link):
    """Where the daemon sees all frames of the link, and the address is its own to choose."""
    yield "mckey dies", lambda: member_dies(link)
    for family in GROUPS:
        yield f"mckey {family} unbound", lambda f=family: to_receivers(f, link.b, [link.a], bound=False)
    yield "cm multicast refused", lambda: own(link, "multicast-refused")
    yield "cm multicast limits", lambda: own(link, "multicast-limits")


def refused_cases(link):
    yield "mckey", lambda: not_possible(link)
