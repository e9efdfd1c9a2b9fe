# SPDX-License-Identifier: BSD-3-Clause
"""Attacks by a client of the daemon: ndattack, as another user than the victim's."""

import contextlib
import fnmatch
import os

from cases import Skip
from sandbox import Failure, Process, run

NOBODY = 65534
ATTACK_MS = 400
apart = ()  # a command that runs attackers on CPUs of their own
# Attacks that take time of the lcore: the victim has bulk transfers meanwhile.
OF_THE_LCORE = ("queue-pairs-*", "all-request-slots", "write-*", "read-*", "atomic-*", "invalidate-*", "reset-*",
                "flush-*", "destroy-*", "notify-*", "doorbell-*", "beyond-*", "peer-*", "datagrams-to-*", "arm-*",
                "window-type-*", "unreliable-*")
# Attacks that get what takes a right before they become the other user.
BECOME_OTHERS = ("wake-up-held",)


def other_user():
    """Options of a process of another user than the victim's, if there can be one here."""
    with open("/proc/self/uid_map") as f:
        users = sum(int(line.split()[2]) for line in f)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 and users > NOBODY else {}


@contextlib.contextmanager
def attacker(rig, name, *inside, ms=ATTACK_MS):
    """ndattack, which has begun to attack, for so long; the victim's figures are from then on. inside: a command
    that runs it."""
    user, link = other_user(), rig.link
    if not user:  # clients of one user share what that user may have
        raise Skip("no-other-user")
    if name in BECOME_OTHERS:
        user = {}
    with Process(*apart, *inside, link.build.ndattack, name, link.a.socket_path, link.b.socket_path, ms, name=name,
                 **user) as process:
        process.expect("attacking", 25)
        rig.victim.figures()
        yield process


@contextlib.contextmanager
def spinner():
    """A process of the attackers' user that takes what it gets of a CPU, and asks the daemons for nothing."""
    with Process("sh", "-c", "while :; do :; done", name="spinner", **other_user()) as process:
        yield process


class ClientAttack:
    def __init__(self, name):
        self.name = name
        self.bulk = any(fnmatch.fnmatchcase(name, pattern) for pattern in OF_THE_LCORE)

    def run(self, rig):
        with attacker(rig, self.name) as process:
            # One that waits for an answer of the daemon ends by itself, later.
            status = process.wait(25)
            if status != 0:  # 3: it could not begin, or gave up
                raise Failure(f"the attacker ended with {status}\n{process.text[-500:]}")


def attacks(ndattack):
    for name in run(ndattack, "--list").stdout.split():
        yield name, ClientAttack(name)
