# SPDX-License-Identifier: BSD-3-Clause
"""Every operation from and to every kind of memory, without losses and with."""

import random

from failure_cases import scenario
from relay import Relayed
from sandbox import Failure, scratch

LOSS = 0.02


def lossy(build, networked):
    dice = random.Random(1)
    with scratch() as folder, Relayed(build, folder, lambda frame: dice.random() < LOSS, networked) as link:
        note = scenario(link, "memories", 0)
        if link.relay.left_out < 20:
            raise Failure(f"only {link.relay.left_out} frames were lost")
        return f"{note}, {link.relay.left_out} frames lost"


def cases(link):
    for name in ("memories", "adopted"):
        yield name, lambda n=name: scenario(link, n, 0)


def lone_cases(build, networked):
    yield "memories, lossy", lambda: lossy(build, networked)
