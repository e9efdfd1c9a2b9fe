# SPDX-License-Identifier: BSD-3-Clause
"""A run as a file."""

import json

import bars
from figures import Figures


def load(path):
    """Its figures, what the machine was, and what went on in each round."""
    with open(path) as f:
        data = json.load(f)
    return Figures.from_json(data["figures"]), data["machine"], data["rounds"]


def save(path, figures, about, rounds):
    """A line for each figure, so that two runs can be compared by diff."""
    verdicts = [{"name": v.bar.name, "bar": v.bar.bar, "at_most": v.bar.at_most,
                 "figure": v.figure and v.figure.median, "met": v.met, "reach": v.reach, "one": v.one and v.one.median,
                 "bound": v.bound and v.bound.median} for v in bars.judge(figures)]

    def lines(items):
        return ",\n".join("  " + item for item in items)

    with open(path, "w") as f:
        f.write('{"machine": %s,\n "rounds": [\n%s\n ],\n "figures": {\n%s\n },\n "bars": [\n%s\n ]}\n' % (
            json.dumps(about), lines(map(json.dumps, rounds)),
            lines(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in figures.to_json().items()),
            lines(map(json.dumps, verdicts))))
