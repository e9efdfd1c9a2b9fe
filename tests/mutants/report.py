# SPDX-License-Identifier: BSD-3-Clause
"""The score, and one mutant as a patch."""

import collections
import difflib

COLUMNS = ("made", "by units", "by sim", "reasoned", "survived", "no result")


def fate_of(run, m, reasons):
    last = run.store.last(m)
    if last is None:
        return "no result"
    if last[0] == "killed":
        return "by sim" if last[1].startswith("sim ") else "by units"
    return "reasoned" if m.id in reasons.why else "survived"


def score(run, mutants, reasons, all_of):
    table = collections.defaultdict(collections.Counter)
    for m in mutants:
        fate = fate_of(run, m, reasons)
        for row in ("counters" if m.counts else m.module, "all"):
            table[row]["made"] += 1
            table[row][fate] += 1
    print(f"{'module':20}" + "".join(f"{c:>11}" for c in COLUMNS))
    for row in sorted(table, key=lambda r: (r in ("counters", "all"), r == "all", r)):
        print(f"{row:20}" + "".join(f"{table[row][c]:11}" for c in COLUMNS))
    faults = list(reasons.faults(all_of.mutants, run.store)) + all_of.excluded.faults()
    for fault in faults:
        print(fault)
    total = table["all"]
    failed = total["survived"] + len(faults)
    print(f"{total['by units'] + total['by sim'] + total['reasoned']} passed, {failed} failed, "
          f"{total['no result']} skipped")
    return 1 if failed else 0


def show(run, identity):
    for site in run.all_of.sites:
        for m, (operator, extra) in zip(site.made, site.mutants):
            if m.id == identity:
                print(f"{m.id} {m}")
                print("".join(patch(run.all_of.sources.text, site, operator, extra)), end="")
                print("last result:", *(run.store.last(m) or ["none"]))
                return 0
    print(f"no mutant {identity}")
    return 1


def patch(texts, site, operator, extra):
    path, begin, end = site.span
    text, old = texts[path], texts[path][begin:end]
    left, right = [texts[path][p[1]:p[2]] for p in site.parts] if site.form.isupper() else ("", "")
    new = {
        "true": f"true /* {old} */", "false": f"false /* {old} */", "delete": f"/* {old} */;",
        "tight": f"/* one less */ {old}", "loose": f"/* one more */ {old}",
        "below": f"({old} || {left} < {right})", "above": f"({old} || {left} > {right})",
        "case": f"{old} /* but {extra} */", "swap": f"{extra} {old} /* before its place */",
        "arith": f"{old} /* with the other sign */",
    }.get(operator, extra)
    changed = text[:begin] + str(new) + text[end:]
    return difflib.unified_diff(text.splitlines(True), changed.splitlines(True), path, path)
