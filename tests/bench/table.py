# SPDX-License-Identifier: BSD-3-Clause
"""Figures as text: for terminals, and as Markdown for the documents, which hold tables between marks."""

import re

import bars
from figures import summary
from pivots import PIVOTS

GROUPS = {
    "limits": "What the machine can do",
    "testpmd": "testpmd over memif, one core each",
    "engine": "The engine alone, both sides on one core, cycles of a message",
    "ours": "Two daemons over memif, path MTU 4096, arena; lcore and client of a side on one CPU",
    "verbs": "Programs of verbs on the same two daemons: perftest, UCX",
    "one daemon": "One daemon, one client that is both ends",
    "ports": "Two daemons by each kind of port, a network each, veth between them, and TCP over that",
    "peers": "Peers over TCP, a network each, veth between them",
}
QUIET_PERCENT = 5  # what others may have of the machine before figures tell more of them than of us
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
        return "beyond bound" if v.figure else "no figure"
    return "met" if v.met else "missed" if v.reach else "out of reach"


def bar_rows(figures):
    """(name, figure, spread, bar, verdict, bound, what 1 stands for) of each bar, as words."""
    for v in bars.judge(figures):
        unit = " " + v.bar.unit if v.bar.unit else ""
        yield (v.bar.name, number(v.figure.median) + unit if v.figure else "-",
               spread(v.figure) if v.figure else "-",
               f"{'at most' if v.bar.at_most else 'at least'} {v.bar.bar:g}{unit}", verdict(v),
               number(v.bound.median) + unit if v.bound else "-",
               f"{v.bar.of}: {number(v.one.median)}" if v.one else "")


def bars_text(figures):
    yield f"\n{'Bars':38} {'figure':>11}  {'spread':18} {'bar':19} {'':12} {'bound':11} 1 is"
    for name, figure, low_high, limit, said, bound, one in bar_rows(figures):
        yield f"  {name:36} {figure:>11}  {low_high:18} {limit:19} {said:12} {bound:11} {one}".rstrip()


def cell(figures, wanted, best=max):
    """One figure, or the better one of several."""
    if isinstance(wanted, list):
        s = summary(figures.best(wanted, best).values())
    else:
        s = figures.summary(wanted) if wanted else None
    return f"{number(s.median)} ({spread(s)})" if s else ""


def bars_markdown(figures):
    yield "| | figure | spread | bar | | bound | what 1 stands for |"
    yield "|---|---|---|---|---|---|---|"
    for row in bar_rows(figures):
        yield "| " + " | ".join(row) + " |"


def pivot_markdown(figures, pivot):
    """Columns and rows of which there is nothing are left out."""
    rows = [(f"{name}, {unit}", [cell(figures, wanted, min if unit in ("us", "ns", "cycles") else max)
                                 for wanted in row]) for name, unit, row in pivot.rows]
    there = [any(cells[at] for _, cells in rows) for at in range(len(pivot.columns))]

    def line(cells):
        return "| " + " | ".join(cells) + " |"

    def wanted(cells):
        return [text for text, is_there in zip(cells, there) if is_there]

    yield line([pivot.corner, *wanted(pivot.columns)])
    yield "|" + "---|" * (1 + sum(there))
    for name, cells in rows:
        if any(cells):
            yield line([name, *wanted(cells)])


def markdown(figures, said, table):
    """A table by its name; or what was said about the run."""
    if table == "about":
        return said
    return "\n".join(bars_markdown(figures) if table == "bars" else pivot_markdown(figures, PIVOTS[table]))


def warnings(rounds):
    """What a reader has to know before he quotes anything; "" if nothing."""
    disturbed = [r for r in rounds if r["others_percent"] + r["steal_percent"] > QUIET_PERCENT]
    said = ""
    if disturbed:
        said += (f" Not to be quoted: in {len(disturbed)} of {len(rounds)} rounds others had more than "
                 f"{QUIET_PERCENT} % of the CPUs' time.")
    if len(rounds) < 5:
        said += " Not to be quoted: medians want five rounds at least."
    return said


def about(machine, rounds):
    """Where and how the figures of a run came about."""
    def between(key, unit=""):
        values = [r[key] for r in rounds if r.get(key) is not None]
        low, high = f"{min(values):.3g}", f"{max(values):.3g}"
        return f"{low if low == high else low + ' to ' + high}{unit}"

    said = (f"{machine['cpus']} CPUs of {machine['cpu']}, {machine['system']}, kernel {machine['kernel']}, "
            f"{machine['date']}. Rounds: {len(rounds)}; of the CPUs' time other programs had "
            f"{between('others_percent', ' %')}, other guests {between('steal_percent', ' %')}")
    if any(r.get("line_ns") for r in rounds):
        said += f"; a cache line goes from core to core and back in {between('line_ns', ' ns')}"
    return said + "." + warnings(rounds)


def renewed(document, figures, said):
    """A document with new tables between its marks, <!-- figures: TABLE, TABLE... -->."""
    def tables(match):
        told = [markdown(figures, said, table) for table in match.group(2).split(", ")]
        return match.group(1) + "\n" + "\n\n".join(told) + "\n\n" + match.group(3)

    return _MARK.sub(tables, document)


def marked(path):
    """Whether there is anything in it that rewrite() would renew."""
    with open(path) as f:
        return _MARK.search(f.read()) is not None


def rewrite(path, figures, said):
    with open(path) as f:
        new = renewed(f.read(), figures, said)
    with open(path, "w") as f:
        f.write(new)
