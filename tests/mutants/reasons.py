# SPDX-License-Identifier: BSD-3-Clause
"""reasons.txt: why a mutant may survive. A reason begins a line; the mutants that it is for follow, indented,
as run-mutants --names prints them."""


class Reasons:
    def __init__(self, path):
        self.why = {}  # identity: (reason, name of the mutant)
        reason = []
        for line in path.read_text().splitlines() if path.exists() else ():
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace():
                identity, _, name = line.strip().partition(" ")
                self.why[identity] = " ".join(reason), name
                last = True
            else:
                reason = [line.strip()] if not reason or last else [*reason, line.strip()]
                last = False

    def strays(self, mutants):
        """Lines whose mutant is not there any more, or is another one."""
        known = {m.id: m for m in mutants}
        for identity, (_, name) in self.why.items():
            if identity not in known:
                yield f"reasons.txt: {identity} {name}: there is no such mutant"
            elif known[identity].name != name:
                yield f"reasons.txt: {identity} is {known[identity].name}, not {name}"

    def faults(self, mutants, store):
        """Lines that are not so: strays, and mutants that a test finds."""
        yield from self.strays(mutants)
        for m in mutants:
            if m.id in self.why and (last := store.last(m)) and last[0] == "killed":
                yield f"reasons.txt: {m.id} {self.why[m.id][1]}: is found by {last[1]}"
