# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of the figures: shares of what the machine can do, multiples of what others do."""

import collections

from figures import ratio, summary

# at_most: the figure must not exceed the bar; else not fall below it. of: what 1 stands for, or "".
# share: of a limit, that is, never more than 1.
Bar = collections.namedtuple("Bar", "name find at_most bar unit of share", defaults=(False,))
# figure: None if there is nothing to judge by; met: None then, and if a limit was exceeded.
Verdict = collections.namedtuple("Verdict", "bar figure met bound")


def _figure(name):
    return lambda f: (f.summary(name), None)


def _ratio(ours, theirs, best=max):
    """Against the best of their figures; the bound is what that was."""
    def find(f):
        against = f.best(theirs, best)
        return ratio(f.of(ours), against), summary(against.values())
    return find


def _ucx(what):
    return [f"peers/ucx {name} {what}" for name in ("tag", "put")]


def _bars():
    yield Bar("engine: 8 B write, both sides", _figure("engine/write-8"), True, 300, "cycles", "")
    yield Bar("engine: 4 KiB write", _ratio("engine/write-4096", ["engine/floor-4096"]), True, 1.6, "",
              "copy+CRC of both sides (cycles)")
    for operation, share in (("write", 0.65), ("send", 0.65), ("read", 0.5)):
        yield Bar(f"two daemons: 1 MiB {operation}", _ratio(f"ours/{operation} 1 MiB", ["limits/composed"]),
                  False, share, "", "composed limit (GB/s)", True)
    yield Bar("two daemons: 8 B write", _ratio("ours/write 8 B rate", ["testpmd/64 B tx to rx"]), False, 0.10, "",
              "testpmd, 64 B (M/s)", True)
    yield Bar("one daemon: 8 B write, one way", _figure("one daemon/write 8 B latency, other core"), True, 1,
              "us", "")
    for size in ("64 KiB", "1 MiB"):
        yield Bar(f"beside UCX: {size} write", _ratio(f"ours/write {size}", _ucx(size)), False, 2, "",
                  "UCX over TCP (GB/s)")
        yield Bar(f"beside iperf3: {size} write", _ratio(f"ours/write {size}", [f"peers/iperf3 {size}"]), False, 1,
                  "", "iperf3 TCP (GB/s)")
    yield Bar("beside UCX: 8 B write", _ratio("ours/write 8 B rate", _ucx("8 B rate")), False, 15, "",
              "UCX over TCP (M/s)")
    yield Bar("beside UCX: one daemon's latency",
              _ratio("one daemon/write 8 B latency, other core", _ucx("8 B latency"), min), True, 0.25, "",
              "UCX over TCP (us)")
    yield Bar("engine: 100,000 QPs at random", _inverse("engine/random-100000", "engine/random-64"), False, 0.5, "",
              "64 QPs (cycles)")
    yield Bar("engine: an idle connected QP, its share of pools", _figure("engine/qp bytes"), True, 2048, "bytes", "")


def _inverse(ours, theirs):
    """Of cycles, which are the less the better: the share of the other's rate."""
    return lambda f: (ratio(f.of(theirs), f.of(ours)), f.summary(theirs))


BARS = tuple(_bars())


def judge(figures):
    """A Verdict for each bar. What exceeds a limit was measured while the limit was not: that tells nothing."""
    for bar in BARS:
        figure, bound = bar.find(figures)
        met = None
        if figure and not (bar.share and figure.median > 1):
            met = figure.median <= bar.bar if bar.at_most else figure.median >= bar.bar
        yield Verdict(bar, figure, met, bound)
