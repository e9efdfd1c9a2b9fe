# SPDX-License-Identifier: BSD-3-Clause
"""The syntax trees of the sources, from clang, with each node's range in its file.

A node gets "span": (file, begin, end), offsets in bytes, if its text stands in one of our files as
it is. A node that comes out of a macro has the span of the macro's use, and "macro" set; what is
inside of it has none."""

import json
import os
import subprocess

CLANG = next((c for c in ("clang-14", "clang") if any(
    os.access(os.path.join(p, c), os.X_OK) for p in os.environ["PATH"].split(":"))), "clang")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-DROCE_CHECKS", "-w", "-Ilib"]


class Sources:
    """The text of our files."""

    def __init__(self, root, folders):
        self.root = root
        self.text = {}
        for folder in folders:
            for path in sorted((root / folder).rglob("*.[ch]")):
                self.text[str(path.relative_to(root))] = path.read_bytes().decode("latin-1")

    def of(self, span):
        return self.text[span[0]][span[1]:span[2]]


class Places:
    """Clang tells a file's name only where it differs from that of the location before."""

    def __init__(self, sources):
        self.sources = sources
        self.file = None

    def bare(self, loc):
        self.file = loc.get("file", self.file)
        return (self.file, loc["offset"], loc["offset"] + loc["tokLen"]) if "offset" in loc else None

    def read(self, loc):
        """(place of the token, in a macro?)"""
        if "expansionLoc" not in loc:
            return self.bare(loc), False
        self.bare(loc["spellingLoc"])
        return self.bare(loc["expansionLoc"]), True

    def end_of_use(self, place):
        """A macro's name stands at place: where its arguments end."""
        text = self.sources.text[place[0]]
        at = place[2]
        if text[at] != "(":
            return at
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                return at

    def span(self, node):
        if "loc" in node:
            self.read(node["loc"])
        begin, begins_macro = self.read(node["range"]["begin"])
        end, ends_macro = self.read(node["range"]["end"])
        if begin is None or end is None or begin[0] != end[0] or begin[0] not in self.sources.text:
            return None, False
        stop = self.end_of_use(end) if ends_macro else end[2]
        return (begin[0], begin[1], stop), begins_macro and ends_macro and begin == end


def annotate(node, places, inside=None):
    """Give spans to node and all below. inside: the span of the macro's use that we are in."""
    if "range" in node:
        span, macro = places.span(node)
        if span is not None and span != inside:
            node["span"] = span
            if macro:
                node["macro"] = True
                inside = span
    for child in node.get("inner", ()):
        annotate(child, places, inside)


def parse(sources, path, header):
    """The tree of one translation unit."""
    done = subprocess.run([CLANG, "-fsyntax-only", "-Xclang", "-ast-dump=json", *FLAGS, "-include", header, path],
                          cwd=sources.root, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{path}: {done.stderr.decode()}")
    unit = json.loads(done.stdout)
    annotate(unit, Places(sources))
    return unit
