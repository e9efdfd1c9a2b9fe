# SPDX-License-Identifier: BSD-3-Clause
"""What every check of this folder needs: the files of the tree, and how a fault is told."""

import argparse
import bisect
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNTRACKED = re.compile(r"(^|/)(build[^/]*|\.git|\.cache|\.ccache|__pycache__)/")  # without git
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# From where a file's #include looks for names, as the meson.build files have it: the first row that fits.
INCLUDE_FOLDERS = (
    ("lib/ndspi/", ("lib", "lib/ndwin")),
    ("lib/ndkpi/", ("lib", "lib/ndwin", "lib/ndwin/windows")),
    ("lib/", ("lib",)),
    ("drivers/", ("lib", "drivers")),
    ("app/dpdk-ndd/", ("lib", "app/dpdk-ndd", "drivers")),
    ("app/ndd-verbs/", ("app", "lib", "lib/ndclient")),
    ("app/", ("app", "lib/ndclient")),
    ("doc/examples/", ("lib/ndclient", "lib/ndspi", "lib/ndkpi", "lib/ndwin", "lib/ndwin/windows")),
    ("tests/unit/ndspi/", ("lib", "lib/ndspi", "lib/ndwin")),
    ("tests/unit/ndkpi/", ("tests", "lib", "lib/ndkpi", "lib/ndwin", "lib/ndwin/windows")),
    ("tests/e2e/kpi/", ("lib", "lib/ndkpi", "lib/ndwin", "lib/ndwin/windows")),
    ("", ("tests", "lib", "lib/ndclient", "app/dpdk-ndd", "app", "drivers")),
)


def include_folders(name):
    return next(folders for start, folders in INCLUDE_FOLDERS if name.startswith(start))


class Tree:
    """The files that git knows or would take, relative to the root; without git, all but what is built."""

    def __init__(self, root=ROOT):
        self.root = pathlib.Path(root).resolve()
        self.faults = []
        git = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(self.root), "ls-files", "-z", "--cached",
                              "--others", "--exclude-standard"], capture_output=True, check=False)
        if git.returncode == 0:
            names = git.stdout.decode().split("\0")
        else:
            names = (str(p.relative_to(self.root)) for p in self.root.rglob("*"))
            names = (n for n in names if not UNTRACKED.search(n))
        self.files = sorted({n for n in names if n and (self.root / n).is_file()})
        self.known = set(self.files)

    def of(self, *endings, under=()):
        """Files with one of these endings, below one of the folders if any are named."""
        return [f for f in self.files if f.endswith(endings)
                and (not under or f.startswith(tuple(u + "/" for u in under)))]

    @functools.lru_cache(maxsize=None)
    def text(self, name):
        return (self.root / name).read_text(errors="replace")

    def is_program(self, path):
        """meson.build of its folder makes a program of that name there; unit tests are named without test_."""
        folder, _, name = path.rpartition("/")
        recipe = folder + "/meson.build"
        wanted = rf"'({re.escape(name)}|{re.escape(name.removeprefix('test_'))})'"
        return recipe in self.known and re.search(wanted, self.text(recipe)) is not None

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")


def parts_of_c(text):
    """(comment, line number) of each comment of a C file."""
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    for found in COMMENT_OR_STRING.finditer(text):
        if found.group().startswith("/"):
            yield found.group(), bisect.bisect_right(starts, found.start())


def lines_of_comments(name, text):
    """(line, number) of each line of prose: of a C file's comments, or of anything else whole."""
    if not name.endswith((".c", ".h")):
        yield from ((line, number) for number, line in enumerate(text.splitlines(), 1))
        return
    for comment, first in parts_of_c(text):
        yield from ((line, number) for number, line in enumerate(comment.splitlines(), first))


def main(doc, check):
    """Run check(tree), a check script's whole task. Exit status 1 if it found faults, 0 if not."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=ROOT, help="the tree to check (default: this one)")
    tree = Tree(parser.parse_args().root)
    check(tree)
    for fault in tree.faults:
        print(fault)
    sys.exit(1 if tree.faults else 0)
