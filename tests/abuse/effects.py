# SPDX-License-Identifier: BSD-3-Clause
"""What an attack did to its victim: figures, whether they are within bounds, and words for a table."""

import collections

CALLS = ("open", "cq", "qp", "register", "connect")

OVERLONG_US = 100  # what a turn of an lcore may take

# Bounds that a daemon that serves by turns keeps, whatever else runs on the machine.
GAP_MS = 1000  # without a ping
CALL_P99_MS = 300
SHARE = 0.05  # of throughput, and of pings
SHARE_SECONDS = 0.2  # a shorter time tells nothing about it
# Beside compilers, up to 22 % of turns took more than OVERLONG_US and up to 0.14 % more than 400 us. Without the
# bounds of turn.h and of flushing it was 1.2 to 15 % under seven attacks.
UNBOUNDED_US = 400
UNBOUNDED = 0.01  # of turns

# The promises, for a machine that does nothing else (--bars). A baseline is measured there beside a process that
# only spins: where CPUs are few, an attacker takes time from everybody before it does anything to the daemon.
BAR_CALL_P99_MS = 5  # or what a call takes beside the spinning process, if that is longer
BAR_PING_P99 = 2.0  # times as without attack
BAR_SHARE = 0.45  # 0.9 of the half that is its own beside one attacker
# Overlong turns: none but those that the machine itself makes. What a loop that only reads the clock meets is random
# as well, so three standard deviations more are no sign of anything else.
DEVIATIONS = 3


class Turns:
    """How long turns of an lcore took. lengths: {k: how many took 2^k cycles, and less than twice}; overlong: how
    many took more than OVERLONG_US; stages: a Counter of what these took, in cycles; in how many seconds."""

    def __init__(self, lengths, overlong, cycles_per_us, stages=None, seconds=0.0):
        self.stages, self.seconds, self.number_overlong = stages or collections.Counter(), seconds, overlong
        number = max(sum(lengths.values()), 1)
        self.bound_us = (2 << max(lengths)) / cycles_per_us if lengths else 0  # none took so long
        self.overlong = overlong / number
        self.unbounded = sum(n for k, n in lengths.items() if 1 << k >= UNBOUNDED_US * cycles_per_us) / number

    def words(self):
        return (f"turn < {self.bound_us:.0f} us ({self.overlong:.2%} > {OVERLONG_US}, "
                f"{self.unbounded:.2%} > {UNBOUNDED_US}){self._where()}")

    def beyond(self, gaps_per_s):
        """More of them overlong than a loop meets that is away so often: (how many, how many it meets), or None."""
        met = gaps_per_s * self.seconds
        return (self.number_overlong, met) if self.number_overlong > met + DEVIATIONS * met**0.5 + DEVIATIONS else None

    def _where(self):
        """What the overlong turns did most."""
        cycles = max(sum(self.stages.values()), 1)
        parts = [f"{name} {n / cycles:.0%}" for name, n in self.stages.most_common(3) if n > cycles / 10]
        return f" in {', '.join(parts)}" if parts else ""


class Effect:
    """Figures without and with the attack, and what else there is to say."""

    def __init__(self, base, now, turns):
        self.base, self.now, self.turns = base, now, turns

    def _rate(self, figures, what):
        value = figures["ping"]["n"] if what == "ping" else figures[what]
        return value / max(figures["seconds"], 1e-3)

    def share(self, what):
        """Of what there was without the attack; None if there was nothing."""
        base = self._rate(self.base, what)
        return self._rate(self.now, what) / base if base and self.now["seconds"] > SHARE_SECONDS else None

    def ping_p99(self):
        return self.now["ping"]["p99_us"] / max(self.base["ping"]["p99_us"], 1e-3)

    def gap_ms(self):
        return self.now["ping"]["max_us"] / 1000

    def call_p99_ms(self):
        """Of the worst kind of call: (ms, which)."""
        return max((self.now[c]["p99_us"] / 1000, c) for c in CALLS)

    def longest(self):
        """Of each kind of call, in words."""
        return "longest of: " + ", ".join(
            f"{self.now[c]['n']} {c} {self.now[c]['max_us'] / 1000:.1f} ms" for c in CALLS)

    def late_calls(self):
        """What takes longer than promised: (ms, promised ms, which)."""
        for call in CALLS:
            ms, promised = self.now[call]["p99_us"] / 1000, max(BAR_CALL_P99_MS, self.base[call]["p99_us"] / 1000)
            if ms > promised:
                yield ms, promised, call

    def failed(self):
        return {c: self.now[c]["failed"] for c in ("ping",) + CALLS if self.now[c]["failed"]}

    def faults(self, gaps_per_s=None):
        """What is beyond the bounds, in words, and beyond the bars: gaps_per_s, if not None, is how often a loop is
        away for OVERLONG_US here."""
        call_ms, call = self.call_p99_ms()
        for what, number in self.failed().items():
            yield f"{number} of {self.now[what]['n']} {what} failed ({self.now['complaint']})"
        if self.gap_ms() > GAP_MS:
            yield f"no ping for {self.gap_ms():.0f} ms"
        if call_ms > CALL_P99_MS:
            yield f"{call} took {call_ms:.0f} ms"
        for what in ("ping", "bulk_mb"):
            share = self.share(what)
            if share is not None and share < SHARE:
                yield f"{what.partition('_')[0]} at {share:.3f} of its rate"
        if self.turns.unbounded > UNBOUNDED:
            yield f"{self.turns.unbounded:.1%} of turns took more than {UNBOUNDED_US} us"
        if gaps_per_s is None:
            return
        for ms, promised, late in self.late_calls():
            yield f"bar: 99 % of {late} within {ms:.1f} ms, not {promised:.1f}"
        if self.ping_p99() > BAR_PING_P99:
            yield f"bar: p99 of pings {self.ping_p99():.1f} times as long"
        if self.share("bulk_mb") is not None and self.share("bulk_mb") < BAR_SHARE:
            yield f"bar: bulk at {self.share('bulk_mb'):.2f} of its rate"
        if beyond := self.turns.beyond(gaps_per_s):
            yield f"bar: {beyond[0]} overlong turns, where a loop would meet {beyond[1]:.1f}: {self.turns.words()}"

    def words(self):
        """One line."""
        call_ms, call = self.call_p99_ms()
        parts = [f"gap {self.gap_ms():.1f} ms", f"ping p99 x{self.ping_p99():.1f}",
                 f"calls p99 {call_ms:.1f} ms ({call})"]
        if self.share("bulk_mb") is not None:
            parts.append(f"bulk x{self.share('bulk_mb'):.2f}")
        if self.turns.bound_us:
            parts.append(self.turns.words())
        return ", ".join(parts)
