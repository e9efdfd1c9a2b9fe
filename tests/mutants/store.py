# SPDX-License-Identifier: BSD-3-Clause
"""What became of each mutant, kept from run to run.

A line is: identity, what the result rests on, killed or survived, by which test. A kill holds as long as the
mutated file and the program that killed it are made of the same sources; a survival, as long as no source of
the libraries or the tests has changed."""

import hashlib

TREES = ("lib", "tests/unit", "tests/rigs", "tests/models", "tests/sim")


class Store:
    def __init__(self, path, root):
        self.path = path
        self.root = root
        self.results = {}
        self.digests = {}
        if path.exists():
            for line in path.read_text().splitlines():
                identity, digest, outcome, by = line.split("\t")
                self.results[identity] = digest, outcome, by
        self.file = path.open("a")

    def digest_of(self, paths):
        key = tuple(paths)
        if key not in self.digests:
            h = hashlib.sha1()
            for path in key:
                h.update(self.digest_file(path))
            self.digests[key] = h.hexdigest()[:16]
        return self.digests[key]

    def digest_file(self, path):
        if path not in self.digests:
            self.digests[path] = hashlib.sha1((self.root / path).read_bytes()).digest()
        return self.digests[path]

    def whole(self):
        """All sources that may decide over a survivor."""
        return [str(p.relative_to(self.root)) for folder in TREES
                for p in sorted((self.root / folder).rglob("*.[ch]"))]

    def rests_on(self, mutant, outcome, sources):
        return self.digest_of([mutant.path, *sources] if outcome == "killed" else self.whole())

    def add(self, mutant, outcome, by, sources):
        digest = self.rests_on(mutant, outcome, sources)
        self.results[mutant.id] = digest, outcome, by
        self.file.write(f"{mutant.id}\t{digest}\t{outcome}\t{by}\n")
        self.file.flush()

    def last(self, mutant):
        """(outcome, by) of the last run, however old; None if there was none."""
        return self.results[mutant.id][1:] if mutant.id in self.results else None

    def valid(self, mutant, sources):
        """Does the last result still hold?"""
        kept = self.results.get(mutant.id)
        return kept is not None and kept[0] == self.rests_on(mutant, kept[1], sources)
