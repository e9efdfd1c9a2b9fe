# SPDX-License-Identifier: BSD-3-Clause
"""Every operation from and to every kind of memory, without losses and with."""

import random
import re

from cases import Skip
from failure_cases import scenario
from links import Memif
from relay import Relayed
from sandbox import Failure, scratch

LOSS = 0.02
LONGEST_NEEDS_GIB = 8


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


def cases(link):
    for name in ("memories", "adopted", "adopted-away"):
        yield name, lambda n=name: scenario(link, n, 0)


def lone_cases(build, networked):
    yield "memories, lossy", lambda: lossy(build, networked)
