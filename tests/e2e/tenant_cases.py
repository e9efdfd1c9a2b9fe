# SPDX-License-Identifier: BSD-3-Clause
"""Principals of a real daemon: by their sockets, with limits, addresses and ports of their own."""

import copy
import os
import re
import time

from links import ADDRESSES, Memif
from sandbox import Failure, Process, run, scratch, until

OWN = ADDRESSES["a"][0].split("/")[0]
OTHER = ADDRESSES["a"][1].split("/")[0]
WAKEUPS = 40
PRINCIPALS = [
    {"name": "red", "label": "red", "addresses": [OWN], "listen": [{"first": 7100, "last": 7199}],
     "limits": {"sessions": 2, "wakeups": WAKEUPS}, "reserves": {"sessions": 2, "queue_pairs": 16}},
    {"name": "blue", "label": "blue", "reserves": {"sessions": 252}},
    {"name": "others", "allow": False},
]


class Tenants(Memif):
    """Daemon a has a socket for red and one for blue, and refuses clients at its main one."""

    name = "tenants"

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.a.config["control"]["sockets"] = [
            {"label": label, "path": os.path.join(folder, label + ".sock")} for label in ("red", "blue")]
        self.a.config["principals"] = copy.deepcopy(PRINCIPALS)

    def of(self, label):
        path = self.a.socket_path if label == "main" else os.path.join(self.folder, label + ".sock")
        return {**os.environ, "NDD_SOCKET": path}

    def server(self, label, port):
        # By its address: one that asks for the daemon's addresses has a session more for a moment.
        server = Process(self.build.nddping, "-s", "-d", "-a", OWN, "-p", port, env=self.of(label),
                         name=f"server of {label}")
        server.expect("listening")
        return server

    def refused(self, label, words, *options):
        """A server that is not to start, and says why in these words."""
        done = run(self.build.nddping, "-s", *options, env=self.of(label), check=False, timeout=20)
        if done.returncode == 0 or words not in done.stdout:
            raise Failure(f"{label}: exit {done.returncode}, no \"{words}\" in\n{done.stdout}")


def by_their_sockets(link):
    """Each by its own; what one principal has used up is there for the other."""
    with link.server("red", 7100), link.server("red", 7101), link.server("blue", 7200):
        link.refused("red", "red has 2 of its 2 sessions (its limits.sessions)", "-p", 7102)
        text = link.a.counters()
        for words in (r"principal red: sessions=2 sessions_refused=1 descriptors=\d+ ",
                      r"principal blue: sessions=1 "):
            if not re.search(words, text):
                raise Failure(f"no {words} in\n{text}")
        for port in (7100, 7101, 7200):
            link.b.ping("-a", OWN, "-p", port, "-C", 3)
        with link.server("blue", 7201):
            link.b.ping("-a", OWN, "-p", 7201, "-C", 3)
    until(lambda: "sessions" not in link.a.usage(), "all sessions end")


def nobody_else(link):
    link.refused("main", 'clients of principal "others" are refused (principals[].allow)')
    link.refused("main", "ND_ACCESS_VIOLATION")


def addresses_and_ports(link):
    link.refused("red", "port 7200 is not one of red's (its principals[].listen)", "-p", 7200)
    link.refused("red", "the address is not one of red's (its principals[].addresses)", "-p", 7100, "-a", OTHER)
    # A session ends in a later turn of the daemon than its process.
    until(lambda: counted(link, "sessions", "principal red") == 0, "red's sessions have ended")
    with link.server("red", 7100):
        link.b.ping("-a", OWN, "-p", 7100, "-C", 3)


def woken(link, label, rounds):
    """A client of a that sleeps for each answer: so many, and as many before the clock of ndperf starts."""
    return Process(link.build.ndperf, link.b.addresses[0], "-t", "send", "-m", "lat", "--event", "--verify",
                   "-n", rounds, env=link.of(label), name=f"client of {label}")


def counted(link, name, line="frames"):
    """A counter of daemon a, by the name of its line."""
    return sum(map(int, re.findall(rf"{line}:.* {name}=(\d+)", link.a.counters())))


def ended_well(client):
    if client.wait(60):
        raise Failure(f"{client.name}: exit {client.wait()}\n{client.text}")


def wake_ups(link):
    """Those of red come at its rate, and all of them; those of blue meanwhile come at once."""
    with link.b.popen(link.build.ndperf, "-s", "--event") as server:
        server.expect("listening")
        before, began = counted(link, "wakeups"), time.monotonic()
        with woken(link, "red", 80) as client:
            ended_well(client)
        got, took = counted(link, "wakeups") - before, time.monotonic() - began
        if got > WAKEUPS + WAKEUPS * took or got < 80:
            raise Failure(f"{got} wake-ups in {took:.1f} s, of {WAKEUPS} in a second")
        delayed = counted(link, "wakeups_delayed", "principal red")
        if delayed == 0 or counted(link, "wakeups_delayed", "engine") != delayed:
            raise Failure(f"{delayed} of {got} wake-ups were delayed")
        with woken(link, "red", 80) as client:
            with woken(link, "blue", 1000) as other:
                ended_well(other)
            red, blue = (counted(link, "wakeups_delayed", f"principal {name}") for name in ("red", "blue"))
            ended_well(client)
        if blue or red == delayed:
            raise Failure(f"{blue} wake-ups of blue were delayed, and {red - delayed} of red")
        return f"{got} in {took:.1f} s"


def cases(link):
    yield "principals by their sockets", lambda: by_their_sockets(link)
    yield "nobody else", lambda: nobody_else(link)
    yield "addresses and ports", lambda: addresses_and_ports(link)
    yield "wake-ups", lambda: wake_ups(link)


def too_much_is_reserved(build):
    """The daemon does not start, and says what the sum is."""
    with scratch() as folder:
        link = Tenants(build, folder)
        link.a.config["principals"][0]["reserves"]["sessions"] = 5
        link.a.config["principals"][0]["limits"]["sessions"] = 5
        try:
            link.a.start().process.stop()
        except Failure as e:
            if "principals[].reserves.sessions: all together reserve 257; there are 256" in str(e):
                return
            raise
        raise Failure("the daemon has started")


def lone_cases(build):
    yield "reserves that are not there", lambda: too_much_is_reserved(build)
