# SPDX-License-Identifier: BSD-3-Clause
"""Our own program: rules of verbs that the programs of others do not look at."""

from sandbox import Failure, run
from verbs import both, under

SCENARIOS = ("devices", "contents", "immediates", "atomics", "lists", "inline", "denied", "bounds", "flush", "reset",
             "states", "destroyed", "busy", "events", "async", "threads", "limits",
             "polls", "pollers", "batches", "batches-fail", "batches-wait",
             "unreliable", "unreliable-states",
             "datagrams", "datagrams-reset", "stopped", "leaving", "groups", "groups-full", "domains", "rereg", "numbers",
             "windows", "windows-peer", "windows-refused", "windows-denied", "windows-type-1",
             "windows-batches")


def cases(link):
    for scenario in SCENARIOS:
        yield "own " + scenario, lambda s=scenario: run(*under(link.a, link.a.build.verbtest, s), timeout=60) and None


def two_ends(link):
    (server, said), (client, told) = both(link, link.a.build.windowtest)
    if server != 0 or client != 0:
        raise Failure(f"server: exit {server}\n{said}\nclient: exit {client}\n{told}")


def between(link):
    """Rows of two programs, each on a daemon of its own."""
    yield "own windows of two", lambda: two_ends(link)
