# SPDX-License-Identifier: BSD-3-Clause
"""Our own program: rules of verbs that the programs of others do not look at."""

from sandbox import Failure, run
from verbs import both, under

SCENARIOS = ("devices", "contents", "immediates", "atomics", "lists", "inline", "denied", "bounds", "flush", "reset",
             "states", "destroyed", "busy", "events", "async", "async-destroyed", "established", "threads", "limits",
             "polls", "pollers", "batches", "batches-fail", "batches-wait",
             "unreliable", "unreliable-states",
             "datagrams", "datagrams-reset", "stopped", "leaving", "groups", "groups-full", "domains", "rereg", "numbers",
             "windows", "windows-peer", "windows-refused", "windows-denied", "windows-type-1",
             "windows-batches", "iova-refused")

# With memory that the daemon reaches by itself, wherever it can, and with none of it.
BOTH_KINDS = ("iova", "iova-bounds", "iova-srq", "iova-windows", "iova-zero-based")


def cases(link):
    for scenario in SCENARIOS:
        yield "own " + scenario, lambda s=scenario: run(*under(link.a, link.a.build.verbtest, s), timeout=60) and None

    for scenario in BOTH_KINDS:
        for adopt in ("always", "never"):
            yield f"own {scenario} ({adopt} adopted)", lambda s=scenario, a=adopt: run(
                *under(link.a, "env", "NDD_ADOPT=" + a, link.a.build.verbtest, s), timeout=60) and None


def two_ends(link, *command):
    (server, said), (client, told) = both(link, *command)
    if server != 0 or client != 0:
        raise Failure(f"server: exit {server}\n{said}\nclient: exit {client}\n{told}")


def between(link):
    """Rows of two programs, each on a daemon of its own."""
    yield "own windows of two", lambda: two_ends(link, link.a.build.windowtest)
    for adopt in ("always", "never"):
        yield f"own iova of two ({adopt} adopted)", lambda a=adopt: two_ends(
            link, "env", "NDD_ADOPT=" + a, link.a.build.iovatest)
