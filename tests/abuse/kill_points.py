# SPDX-License-Identifier: BSD-3-Clause
"""Clients that die in the middle: at each step of a whole life (ndkilled), and at any moment of it."""

from client_attacks import other_user
from sandbox import Failure, run

STEPS_WANTED = 60
BATCH = 50  # random deaths from one look to the next


def killed(rig, *how, timeout=60):
    link = rig.link
    return run(link.build.ndkilled, link.a.socket_path, link.b.socket_path, *how, timeout=timeout,
               **other_user()).stdout


def steps(rig):
    """Their names, in the order of that life."""
    rig.ready()
    lines = killed(rig, "list").splitlines()
    if len(lines) < STEPS_WANTED:
        raise Failure(f"a life of {len(lines)} steps; {STEPS_WANTED} are wanted")
    return [line.partition(" ")[2] for line in lines]


class KillPoint:
    bulk = False

    def __init__(self, *how):
        self.how = how

    def run(self, rig):
        rig.victim.figures()
        killed(rig, *self.how)
        return ""


def points(rig, random_deaths):
    for number, name in enumerate(steps(rig), 1):
        yield f"{number} {name}", KillPoint("step", number)
    for begin in range(0, random_deaths, BATCH):
        yield f"random {begin}", KillPoint("random", min(BATCH, random_deaths - begin))
