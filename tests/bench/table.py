# SPDX-License-Identifier: BSD-3-Clause
"""Figures as text: for terminals, and as Markdown for the documents, which hold tables between marks."""

import os
import re

import bars

GROUPS = {
    "limits": "What the machine can do",
    "testpmd": "testpmd over memif, one core each",
    "engine": "The engine alone, both sides on one core, cycles of a message",
    "ours": "Two daemons over memif, path MTU 4096, arena; lcore and client of a side on one CPU",
    "one daemon": "One daemon, one client that is both ends",
    "peers": "Peers over TCP, a network each, veth between them",
}
_MARK = re.compile(r"(<!-- figures: ([a-z ,]+) -->\n).*?(<!-- end of figures -->)", re.S)


def number(value):
    """Three digits that say something."""
    if value >= 1000:
        return f"{value:,.0f}"
    for limit, places in ((100, 0), (10, 1), (1, 2)):
        if value >= limit:
            return f"{value:.{places}f}"
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def spread(s):
    return f"{number(s.low)} to {number(s.high)}"


def rows(figures, group):
    """(name, unit, summary) of a group."""
    for name, unit in figures.units.items():
        head, _, rest = name.partition("/")
        if head == group:
            yield rest, unit, figures.summary(name)


def text(figures):
    for group, title in GROUPS.items():
        found = list(rows(figures, group))
        if not found:
            continue
        yield f"\n{title}"
        for name, unit, s in found:
            yield f"  {name:38} {number(s.median):>9} {unit:7} {spread(s)}"


def verdict(v):
    """Whether a bar is met, in words."""
    if v.met is None:
        return "over its limit: measure again" if v.figure else "no figure"
    return "met" if v.met else "missed"


def bar_rows(figures):
    """(name, figure, spread, bar, verdict, bound) of each bar, as words."""
    for v in bars.judge(figures):
        limit = f"{'at most' if v.bar.at_most else 'at least'} {v.bar.bar:g} {v.bar.unit}".strip()
        figure = f"{number(v.figure.median)} {v.bar.unit}".strip() if v.figure else "-"
        bound = f"1 is {v.bar.of}: {number(v.bound.median)}" if v.bound else ""
        yield v.bar.name, figure, spread(v.figure) if v.figure else "-", limit, verdict(v), bound


def bars_text(figures):
    yield "\nBars"
    for name, figure, low_high, limit, said, bound in bar_rows(figures):
        yield f"  {name:36} {figure:>11}  {low_high:18} {limit:18} {said:9} {bound}".rstrip()


def markdown(figures, group):
    if group == "bars":
        yield "| | figure | spread | bar | | what 1 stands for, here |"
        yield "|---|---|---|---|---|---|"
        for row in bar_rows(figures):
            yield "| " + " | ".join(row[:5]) + " | " + row[5].removeprefix("1 is ") + " |"
        return
    yield f"| {GROUPS[group]} | median | spread |"
    yield "|---|---|---|"
    for name, unit, s in rows(figures, group):
        yield f"| {name} | {number(s.median)} {unit} | {spread(s)} |"


def about(machine, rounds):
    """Where and how the figures of a run came about."""
    def between(key, unit=""):
        values = [r[key] for r in rounds if r.get(key) is not None]
        return f"{min(values):g}{unit}" if min(values) == max(values) else f"{min(values):g} to {max(values):g}{unit}"

    said = (f"{machine['cpus']} CPUs of {machine['cpu']}, {machine['system']}, kernel {machine['kernel']}, "
            f"{machine['date']}. Rounds: {len(rounds)}; of the CPUs' time other programs had "
            f"{between('others_percent', ' %')}, other guests {between('steal_percent', ' %')}")
    if any(r.get("line_ns") for r in rounds):
        said += f"; a cache line goes from core to core and back in {between('line_ns', ' ns')}"
    return said + "."


def rewrite(path, figures, said):
    """Renew the tables between the marks of a document: <!-- figures: GROUP, GROUP... -->."""
    def renewed(match):
        parts = []
        for group in match.group(2).split(", "):
            parts.append(said if group == "about" else "\n".join(markdown(figures, group)))
        return match.group(1) + "\n" + "\n\n".join(parts) + "\n\n" + match.group(3)

    with open(path) as f:
        old = f.read()
    new, marks = _MARK.subn(renewed, old)
    if not marks:
        raise SystemExit(f"{os.path.relpath(path)}: no <!-- figures: ... --> in it")
    with open(path, "w") as f:
        f.write(new)
