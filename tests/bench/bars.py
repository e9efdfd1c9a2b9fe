# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of the figures: shares of what the machine can do, multiples of what others do. Beside each
stands the bound, which is what the limits of the same rounds would let the figure be at best."""

import collections

from figures import beyond, deep, port_figure, ratio, summary, udp_limit

# at_most: the figure must not exceed the bar; else not fall below it. of: what 1 stands for, or "".
Bar = collections.namedtuple("Bar", "name find at_most bar unit of")
# figure: None if there is nothing to judge by; met: None then, and if the figure is better than its bound.
# reach: whether the bound lets the bar be met at all.
Verdict = collections.namedtuple("Verdict", "bar figure met one bound reach")
US_PER_NS = 1e-3


def _of(figure, limit=None, scale=1):
    """A figure by itself, and the limit for it."""
    def find(f):
        return f.summary(figure), None, summary(value * scale for value in f.of(limit).values())
    return find


def _share(ours, limit, inverse=False, bounded=True):
    """Of a limit: 1 is the bound; or of another figure, which is none."""
    def find(f):
        a, b = f.of(ours), f.of(limit)
        share = ratio(b, a) if inverse else ratio(a, b)
        return share, f.summary(limit), summary([1]) if share and bounded else None
    return find


def _beyond(ours, other):
    """What a figure has more than another one, which is no limit of it."""
    def find(f):
        return beyond(f.of(ours), f.of(other)), f.summary(other), None
    return find


def _beside(ours, theirs, limit, best=max, scale=1):
    """The best of our figures against the best of theirs."""
    def find(f):
        against = f.best(theirs, best)
        bound = ratio({rnd: value * scale for rnd, value in f.of(limit).items()}, against)
        return ratio(f.best(ours, best), against), summary(against.values()), bound
    return find


def _ucx(what):
    return [f"peers/ucx {name} {what}" for name in ("tag", "put")]


LATENCY = "one daemon/write 8 B latency, other core"


def _bars():
    yield Bar("engine: 8 B write, both sides",
              _of("engine/write-8", "engine/floor-8"), True, 300, "cycles", "")
    yield Bar("engine: 4 KiB write, both sides",
              _share("engine/write-4096", "engine/floor-4096"), True, 1.6, "", "copy+CRC of both sides, cycles")
    for operation, share in (("write", 0.65), ("send", 0.65), ("read", 0.5)):
        yield Bar(f"two daemons: 1 MiB {operation}",
                  _share(f"ours/{operation} 1 MiB", "limits/composed"), False, share, "", "composed limit, GB/s")
    yield Bar("two daemons: 8 B write",
              _share("ours/write 8 B rate", "testpmd/64 B tx to rx"), False, 0.1, "", "testpmd with 64 B, M/s")
    yield Bar("one daemon: 8 B write, one way",
              _of(LATENCY, "limits/line", US_PER_NS), True, 1, "us", "")
    for size in ("64 KiB", "1 MiB"):
        ours, tcp = [f"ours/write {size}"], [f"peers/iperf3 {size}"]
        yield Bar(f"beside UCX: {size} write",
                  _beside(ours, _ucx(size), "limits/composed"), False, 2, "", "UCX over TCP, GB/s")
        yield Bar(f"beside iperf3: {size} write",
                  _beside(ours, tcp, "limits/composed"), False, 1, "", "iperf3 TCP, GB/s")
    for mtu, xdp_mtu in ((9000, 2200), (1500, 1500)):
        for size in ("64 KiB", "1 MiB"):
            udp = [port_figure("udp", size, mtu)]
            yield Bar(f"UDP port beside iperf3: {size} write, MTU {mtu}",
                      _beside(udp, [port_figure("iperf3", size, mtu)], udp_limit(mtu, composed=True)), False, 1, "", "iperf3 TCP, GB/s")
            yield Bar(f"UDP port beside others: {size} write, MTU {mtu}",
                      _beside(udp, [port_figure("af_packet", size, mtu), port_figure("af_xdp", size, xdp_mtu)],
                              udp_limit(mtu, composed=True)),
                      False, 2.5, "", "AF_PACKET or AF_XDP, GB/s")
    for size in ("64 KiB", "1 MiB"):
        for operation in ("write", "send", "read"):
            what = f"{operation} {size}"
            yield Bar(f"verbs: {size} {operation} by perftest",
                      _share(f"verbs/{what}", f"verbs/ndperf {what}", bounded=False), False, 0.9, "", "ndperf, GB/s")
    for operation in ("write", "send"):
        what = f"{operation} 8 B latency"
        yield Bar(f"verbs: 8 B {operation} one way by perftest, beyond ndperf's",
                  _beyond(f"verbs/{what}", f"ours/{what}"), True, 0.3, "us", "ndperf, us")
    yield Bar("verbs: 64 KiB put by UCX", _beside(["verbs/ucx put 64 KiB"], _ucx("64 KiB"), "limits/composed"), False, 2, "",
              "UCX over TCP, GB/s")
    yield Bar("verbs: 8 B put by UCX", _beside(["verbs/ucx put 8 B rate"], _ucx("8 B rate"), "testpmd/64 B tx to rx"), False,
              10, "", "UCX over TCP, M/s")
    # Nothing limits what UCX has under way.
    yield Bar("beside UCX: 8 B write",
              _beside(["ours/write 8 B rate", deep("write")], _ucx("8 B rate"), "testpmd/64 B tx to rx"), False, 15, "",
              "UCX over TCP, M/s")
    yield Bar("beside UCX: one daemon, 8 B write",
              _beside([LATENCY], _ucx("8 B latency"), "limits/line", min, US_PER_NS), True, 0.25, "",
              "UCX over TCP, us")
    yield Bar("engine: 100,000 QPs at random",
              _share("engine/random-100000", "engine/random-64", True), False, 0.5, "", "64 QPs, cycles")
    yield Bar("engine: an idle connected QP",
              _of("engine/idle queue pair"), True, 2048, "bytes", "")


BARS = tuple(_bars())


def _meets(bar, value):
    return value <= bar.bar if bar.at_most else value >= bar.bar


def judge(figures):
    """A Verdict for each bar. What is better than its bound was measured at another moment than the bound
    was: that tells nothing."""
    for bar in BARS:
        figure, one, bound = bar.find(figures)
        met = None
        if figure and not (bound and (figure.median < bound.median if bar.at_most else
                                      figure.median > bound.median)):
            met = _meets(bar, figure.median)
        reach = bound is None or _meets(bar, bound.median)
        yield Verdict(bar, figure, met, one, bound, reach)
