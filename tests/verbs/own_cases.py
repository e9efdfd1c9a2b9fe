# SPDX-License-Identifier: BSD-3-Clause
"""Our own program: rules of verbs that the programs of others do not look at."""

from sandbox import run
from verbs import under

SCENARIOS = ("devices", "contents", "immediates", "atomics", "lists", "inline", "denied", "bounds", "flush",
             "states", "destroyed", "busy", "events", "async", "threads", "limits",
             "polls", "pollers", "batches", "batches-fail", "batches-wait",
             "datagrams", "stopped", "domains", "rereg", "numbers")


def cases(link):
    for scenario in SCENARIOS:
        yield "own " + scenario, lambda s=scenario: run(*under(link.a, link.a.build.verbtest, s), timeout=60) and None
