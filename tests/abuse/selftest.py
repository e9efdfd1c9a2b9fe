#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""selftest.py NDATTACK: an effect beyond a bound is seen, and lists name attacks that there are."""

import copy
import fnmatch
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "interop")]
import client_attacks  # noqa: E402
import known_peer_attacks  # noqa: E402
import machine_attacks  # noqa: E402
import network_attacks  # noqa: E402
from cases import expected_skips  # noqa: E402
from effects import CALLS, Effect, Turns  # noqa: E402
from suite import recorded  # noqa: E402

ATTACKS_WANTED = 120
WELL = {"n": 1000, "failed": 0, "p50_us": 20.0, "p99_us": 100.0, "max_us": 900.0}
BASE = {"seconds": 1.0, "bulk_mb": 400.0, "complaint": "", **{what: dict(WELL) for what in ("ping",) + CALLS}}

# What is not well, by (path of keys, value); a word of the fault; whether only the bars say so.
BEYOND = [
    (("connect", "failed"), 1, "1 of 1000 connect failed", False),
    (("ping", "failed"), 1, "ping failed", False),
    (("ping", "max_us"), 1.1e6, "no ping for 1100 ms", False),
    (("cq", "p99_us"), 5e5, "cq took 500 ms", False),
    (("ping", "n"), 40, "ping at 0.040", False),
    (("bulk_mb",), 19.0, "bulk at 0.048", False),
    (("register", "p99_us"), 5100.0, "99 % of register", True),
    (("ping", "p99_us"), 210.0, "p99 of pings", True),
    (("bulk_mb",), 170.0, "bulk at 0.42", True),
]


# 200 turns at 1,000 cycles a microsecond: so many of them long.
def turns(overlong=0, unbounded=0):
    return Turns({10: 200 - overlong, 17: overlong - unbounded, 19: unbounded}, overlong, 1000.0, seconds=4)


def faults(bars, of_turns=turns(), path=(), value=None):
    now = copy.deepcopy(BASE)
    place = now
    for key in path[:-1]:
        place = place[key]
    if path:
        place[path[-1]] = value
    return "; ".join(Effect(BASE, now, of_turns).faults(1.0 if bars else None))


def effects():
    assert not faults(True), faults(True)
    for path, value, words, only_bars in BEYOND:
        assert words in faults(True, path=path, value=value), (path, faults(True, path=path, value=value))
        assert bool(faults(False, path=path, value=value)) != only_bars, path
    assert "14 overlong turns, where a loop would meet 4.0: turn < 1049 us (7.00% > 100, 0.00% > 400)" in faults(True, turns(14))
    assert not faults(True, turns(13)), "no more than chance has"
    assert not faults(False, turns(100))
    assert not faults(False, turns(100, 2)) and "1.5% of turns took more than 400 us" in faults(False, turns(100, 3))
    short = {**BASE, "seconds": 0.01, "bulk_mb": 0.0}
    assert not list(Effect(BASE, short, turns()).faults()), "too short to tell a rate"


def names(ndattack):
    families = {"client": client_attacks.attacks(ndattack),
                "network": [*network_attacks.attacks(), *known_peer_attacks.attacks()],
                "udp": network_attacks.attacks_on_udp(),
                "machine": [*machine_attacks.memif_attacks(), *machine_attacks.veth_attacks(),
                            *((name, attack) for name, _, attack in machine_attacks.short_of()),
                            *machine_attacks.low_memory(), *machine_attacks.by_port(None)]}
    return [f"{family}/{name}" for family, attacks in families.items() for name, _ in attacks]


def lists(ndattack):
    there = names(ndattack)
    assert len(there) == len(set(there)), [n for n in there if there.count(n) > 1]
    assert len(there) >= ATTACKS_WANTED, len(there)
    for name in ("open.txt", "expected-skips"):
        for pattern, *_ in expected_skips(os.path.join(HERE, name)):
            assert fnmatch.filter(there, pattern), f"{name}: {pattern} is no attack"
    for name in recorded(os.path.join(HERE, "before.txt")):
        assert name in there, f"before.txt: {name} is no attack"


if __name__ == "__main__":
    effects()
    lists(sys.argv[1])
