# SPDX-License-Identifier: BSD-3-Clause
"""Figures: one value a round each, and what is made of them. Figures are set against each other round by
round, as a machine that others use is another one a minute later."""

import collections
import statistics

Summary = collections.namedtuple("Summary", "median low high rounds")
FRAME_PAYLOAD = 4096  # what a frame carries at the path MTU that is measured
WINDOW = 512  # packets that a queue pair of ours may have under way, as in config/memif-*.json


def port_figure(kind, size, mtu):
    """Writes of that size by a kind of port over a cable, or what is set beside it."""
    return f"ports/{kind} {size}, MTU {mtu}"


UDP_PAYLOADS = {9000: 4096, 1500: 1024}  # of a packet, by the MTU


def udp_limit(mtu, composed=False):
    """The kernel's UDP by itself, or with what RDMA adds to it at least."""
    return f"limits/UDP{' with copy and CRC' if composed else ''}, MTU {mtu}"


def deep(operation):
    """Small messages, of which as many are under way."""
    return f"ours/{operation} 8 B rate, {WINDOW} under way"


def summary(values):
    """Of a figure's values; None if there is none."""
    values = list(values)
    if not values:
        return None
    return Summary(statistics.median(values), min(values), max(values), len(values))


def composed_gb_per_s(frames_per_s, copy_crc_ns):
    """What a core could carry at most if each frame costs what testpmd pays for one, and a pass of copy
    and CRC over what it carries: bytes a nanosecond."""
    return FRAME_PAYLOAD / (1e9 / frames_per_s + copy_crc_ns)


class Figures:
    """Values by name and round, each figure with its unit."""

    def __init__(self):
        self.units, self.values = {}, {}

    def add(self, rnd, found):
        """found: {name: (value, unit)}."""
        for name, (value, unit) in found.items():
            if self.units.setdefault(name, unit) != unit:
                raise ValueError(f"{name}: {unit} after {self.units[name]}")
            self.values.setdefault(name, {})[rnd] = float(f"{value:.6g}")  # as it is written, too

    def of(self, name):
        return self.values.get(name, {})

    def summary(self, name):
        return summary(self.of(name).values())

    def best(self, rnd_names, best=max):
        """{round: the best of several figures there}."""
        rounds = {rnd for name in rnd_names for rnd in self.of(name)}
        return {rnd: best(self.of(name)[rnd] for name in rnd_names if rnd in self.of(name)) for rnd in rounds}

    def derive(self):
        """What follows from others: the composed limits of each round in which both of their parts are."""
        frames, passes = self.of("testpmd/4200 B tx to rx"), self.of("limits/copy+crc 4096 B L2")
        for rnd in frames.keys() & passes.keys():
            self.add(rnd, {"limits/composed": (composed_gb_per_s(frames[rnd] * 1e6, passes[rnd]), "GB/s")})
        for mtu, payload in UDP_PAYLOADS.items():
            rates, passes = self.of(udp_limit(mtu)), self.of(f"limits/copy+crc {payload} B" + " L2" * (payload == 4096))
            for rnd in rates.keys() & passes.keys():
                limit = 1 / (1 / rates[rnd] + passes[rnd] / payload)
                self.add(rnd, {udp_limit(mtu, composed=True): (limit, "GB/s")})

    def to_json(self):
        return {name: {"unit": self.units[name], "rounds": {str(r): v for r, v in of.items()},
                       **dict(zip(("median", "low", "high"), self.summary(name)))}
                for name, of in self.values.items()}

    @classmethod
    def from_json(cls, data):
        figures = cls()
        for name, of in data.items():
            for rnd, value in of["rounds"].items():
                figures.add(int(rnd), {name: (value, of["unit"])})
        return figures


def beyond(ours, theirs):
    """Summary of how much more one {round: value} is than another, in the rounds that have both."""
    return summary(ours[rnd] - theirs[rnd] for rnd in sorted(ours.keys() & theirs.keys()))


def ratio(ours, theirs):
    """Summary of {round: value} over another, in the rounds that have both."""
    return summary(ours[rnd] / theirs[rnd] for rnd in sorted(ours.keys() & theirs.keys()))
