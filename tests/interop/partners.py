# SPDX-License-Identifier: BSD-3-Clause
"""The two programs of partners/partner.h, and what cases do with both."""

import contextlib
import subprocess

from bench import OURS, PEER
from sandbox import Failure, Process

# The area of each, and places in it; what is sent from the one of these comes to the same of the other.
MIB, BIG_MIB = 2, 17
WORD, SOURCE, SINK = 0, 1 << 16, 1 << 16
EVENT_MS = 20000


class Partner:
    """One of them. address: its own, for the other."""

    def __init__(self, name, process, address):
        self.name, self.process, self.address = name, process, address
        self.answer()
        self.base, self.key, self.weak = (int(word) for word in self.ask("memory").split())

    def tell(self, *words):
        """Say a command; its answer() is to be heard later."""
        self.process.say(" ".join(map(str, words)) + "\n")

    def answer(self, timeout=40):
        word, _, rest = self.process.hear(timeout).partition(" ")
        if word != "ok":
            raise Failure(f"{self.name}: {word} {rest}")
        return rest

    def ask(self, *words, timeout=40):
        self.tell(*words)
        return self.answer(timeout)

    def ask_all(self, *lines):
        """Several commands, on one way there and back; all their answers."""
        for line in lines:
            self.tell(*line)
        return [self.answer() for _ in lines]

    def refuses(self, *words):
        """The command's answer is an error; its words."""
        self.tell(*words)
        word, _, rest = self.process.hear().partition(" ")
        if word != "error":
            raise Failure(f"{self.name}: {' '.join(map(str, words))}: {word} {rest}, and no error")
        return rest

    def want(self, answer, *words):
        """The command's answer is this, or begins with it."""
        got = self.ask(*words)
        if not (got + " ").startswith(answer + " "):
            raise Failure(f"{self.name}: {' '.join(map(str, words))}: {got!r}, not {answer!r}")
        return got[len(answer):].strip()


@contextlib.contextmanager
def our_partner(bench, family="v4", mib=MIB):
    with bench.daemon.popen(bench.ndpartner, bench.daemon.socket_path, OURS[family], mib,
                            name="ndpartner", stdin=subprocess.PIPE) as process:
        yield Partner("ndpartner", process, OURS[family])


@contextlib.contextmanager
def guest_partner(bench, family="v4", mib=MIB):
    with bench.guest.popen(f"verbspartner {mib}", talks=True) as process:
        yield Partner("verbspartner", process, PEER[family])


@contextlib.contextmanager
def partners(bench, family="v4", mib=MIB):
    """(ours, peer), both ready."""
    with our_partner(bench, family, mib) as ours, guest_partner(bench, family, mib) as peer:
        yield ours, peer


# Numbers of a queue pair by hand, as each end has them. A guest may not get to run for half a second.
DEFAULTS = {"timeout": 17, "retries": 7, "rnr_retries": 7, "rnr_timer": 12, "rights": "rwa"}


def bring_up(one, other, name, mtu, of_one=(), of_other=()):
    """A queue pair at each, brought up by the numbers of the other; what differs from DEFAULTS."""
    numbers = {p: p.ask("qp", name).split() for p in (one, other)}
    for p, far, differs in ((one, other, of_one), (other, one, of_other)):
        how = {**DEFAULTS, **dict(differs)}
        p.ask("up", name, far.address, *numbers[far], mtu, how["timeout"], how["retries"],
              how["rnr_retries"], how["rnr_timer"], how["rights"])


def drop(name, *ends):
    for p in ends:
        p.ask("drop", name)
