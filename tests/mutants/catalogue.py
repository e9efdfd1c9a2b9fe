# SPDX-License-Identifier: BSD-3-Clause
"""All mutants of the tree: their identity, and the sources with all of them inside."""

import collections
import concurrent.futures
import fnmatch
import hashlib
import pathlib
import re

import clang_ast
import effects
import operators

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("lib/base", "lib/shm", "lib/wire", "lib/cm", "lib/roce")
FORMS = ("statement", "comma", "value", "+", "-", "switch", "bool")  # from outside to inside


class Mutant:
    """One mutant. Its identity does not depend on lines, nor on what stands elsewhere."""

    def __init__(self, site, operator, text, line):
        self.path = site.span[0]
        self.function = site.function
        self.operator = operator
        self.text = text
        self.line = line
        self.number = 0
        self.id = ""

    @property
    def module(self):
        parts = self.path.split("/")
        return "/".join(parts[:3] if len(parts) > 3 else parts[:2])

    @property
    def counts(self):
        """Does it change a counter alone?"""
        return self.operator == "delete" and operators.COUNTER.search(self.text) is not None

    def __str__(self):
        return f"{self.path}:{self.line} {self.function}: {self.operator}: {self.text}"

    @property
    def name(self):
        """As reasons.txt has it: no line, and no more of a long text than tells what it is."""
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"{self.path} {self.function}: {self.operator}: {text}"


def read_list(path):
    """The lines of a list, without comments: (words in front of the colon, what is behind)."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.partition(": ")[::2]


class Excluded:
    """What is not mutated, with the reason."""

    def __init__(self):
        self.rules = [(*where.split(), why) for where, why in read_list(HERE / "excluded.txt")]
        self.used = set()

    def covers(self, path, function):
        for rule in self.rules:
            if fnmatch.fnmatch(path, rule[0]) and fnmatch.fnmatch(function, rule[1]):
                self.used.add(rule)
                return True
        return False

    def faults(self):
        return [f"excluded.txt: {' '.join(r[:2])}: matches nothing" for r in self.rules if r not in self.used]


def shown(text):
    return " ".join(re.sub(r"/\*.*?\*/", "", text, flags=re.S).split())


class Catalogue:
    def __init__(self, root):
        self.root = root
        self.sources = clang_ast.Sources(root, FOLDERS)
        self.excluded = Excluded()
        self.sites = self.find_sites()
        self.mutants = []
        self.name_all()

    def parsed(self, path):
        return clang_ast.parse(self.sources, path, str(HERE / "mutant.h"))

    def find_sites(self):
        """In their order in the files; those of a header are found with each source that includes it."""
        known, found = effects.Effects(), {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            units = list(pool.map(self.parsed, [p for p in self.sources.text if p.endswith(".c")]))
        for unit in units:
            known.add_unit(unit)
        for unit in units:
            for site in operators.sites_of(self.sources, known, unit, self.sources.text.__contains__):
                if not self.excluded.covers(site.span[0], site.function):
                    found.setdefault((site.span, site.form, site.mutants[0][0]), site)
        order = sorted(found.items(), key=lambda item: (item[0][0][0], item[0][0][1], -item[0][0][2]))
        return [site for _, site in order]

    def describe(self, site, operator, extra):
        text = shown(self.sources.of(site.span))
        return f"{text} | {shown(extra)}" if operator in ("swap", "case") else text

    def name_all(self):
        equals = collections.Counter()
        for site in self.sites:
            line = self.sources.text[site.span[0]].count("\n", 0, site.span[1]) + 1
            site.made = []
            for operator, extra in site.mutants:
                m = Mutant(site, operator, self.describe(site, operator, extra), line)
                whole = f"{m.path} {m.function}: {m.operator}: {m.text}"
                equals[whole] += 1
                m.id = hashlib.sha1(f"{whole} {equals[whole]}".encode()).hexdigest()[:8]
                site.made.append(m)
                self.mutants.append(m)

    def number_all(self, store):
        """A mutant keeps its number, so that a change rewrites only the files that it touches."""
        known = dict(line.split() for line in store.read_text().splitlines()) if store.exists() else {}
        last = max(map(int, known.values()), default=0)
        for m in self.mutants:
            if m.id not in known:
                last += 1
                known[m.id] = last
            m.number = int(known[m.id])
        store.write_text("".join(f"{i} {n}\n" for i, n in known.items()))
        return last
