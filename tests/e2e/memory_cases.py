# SPDX-License-Identifier: BSD-3-Clause
"""Every operation from and to every kind of memory, without losses and with."""

import random
import re

from cases import Skip
from failure_cases import scenario
from links import Memif
from relay import Relayed
from sandbox import Failure, Process, run, scratch, until

LOSS = 0.02
LONGEST_NEEDS_GIB = 8
UNTOUCHED_TIMES = 20
FIRST_PAGE_KIB = 4  # ndhoard's session page, the only memory that it has touched
BESIDE_LEAST = 10  # answers while 512 MiB are mapped; there is one if the answering thread maps them


def lossy(build, networked):
    dice = random.Random(1)
    with scratch() as folder, Relayed(build, folder, lambda frame: dice.random() < LOSS, networked) as link:
        note = scenario(link, "memories", 0)
        if link.relay.left_out < 20:
            raise Failure(f"only {link.relay.left_out} frames were lost")
        return f"{note}, {link.relay.left_out} frames lost"


def longest(build):
    """Messages of 2 GiB. Both ends of that size are the test's own memory, and two daemons map it."""
    with open("/proc/meminfo") as f:
        free = int(re.search(r"MemAvailable:\s+(\d+)", f.read()).group(1)) >> 20
    if free < LONGEST_NEEDS_GIB:
        raise Skip("little-memory")
    with scratch() as folder, Memif(build, folder, limits={"memory_mb": 2560}) as link:
        return scenario(link, "longest", 0, timeout=170)


def hoard(link, what, mib, times=1):
    """A client that does so with that much memory. Nothing of it stays with the daemon."""
    done = run(link.build.ndhoard, link.a.socket_path, what, mib, times, timeout=120)
    until(lambda: link.a.client_memory() == (0, 0), f"{mib} MiB given back")
    return done.stdout.strip()


def untouched(link):
    """Memory that a client has not touched is not mapped: no page of it becomes the daemon's."""
    most = 0
    until(lambda: link.a.client_memory() == (0, 0), "nothing left of earlier clients")

    def watch():
        nonlocal most
        most = max(most, link.a.client_memory()[1])
        return not hoarder.running()

    with Process(link.build.ndhoard, link.a.socket_path, "untouched", 512, UNTOUCHED_TIMES, name="ndhoard") as hoarder:
        until(watch, "ndhoard ends", every=0)
        if hoarder.wait() != 0:
            raise Failure(hoarder.text)
    if most > UNTOUCHED_TIMES * FIRST_PAGE_KIB:  # sessions end while the next ones begin
        raise Failure(f"the daemon has {most} KiB of what its client has not touched")


def beside(link):
    """512 MiB are 256 slices, and other clients' requests go on between and beside them."""
    note = hoard(link, "beside", 512, 3)
    meanwhile = int(re.match(r"(\d+) requests", note).group(1))
    if meanwhile < 3 * BESIDE_LEAST:
        raise Failure(f"only {note}")
    return note


def cases(link):
    yield "memory not touched", lambda: untouched(link)
    yield "memory mapped beside requests", lambda: beside(link)
    yield "memory left while mapped", lambda: hoard(link, "leave", 256, 8)
    yield "memory made again", lambda: hoard(link, "again", 1023, 3)
    for name in ("memories", "adopted", "adopted-away", "adopted-default"):
        yield name, lambda n=name: scenario(link, n, 0)


def lone_cases(build, networked):
    yield "memories, lossy", lambda: lossy(build, networked)
