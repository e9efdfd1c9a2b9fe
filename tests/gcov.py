# SPDX-License-Identifier: BSD-3-Clause
"""Lines that ran, by gcc's counters: a build with them, and what gcov says of its files."""
import collections
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def call(*args, **kw):
    subprocess.run([str(a) for a in args], check=True, **kw)


def build(folder, *targets):
    """All counters are 0 then."""
    if not (folder / "build.ninja").exists():
        call("meson", "setup", folder, ROOT, "-Dtests=enabled", "-Db_coverage=true", "-Doptimization=0",
             "-Db_lto=false", stdout=subprocess.DEVNULL)
    call("ninja", "-C", folder, *targets, stdout=subprocess.DEVNULL)
    for old in folder.rglob("*.gcda"):
        old.unlink()


def lines_run(folder, wanted):
    """{file: {line: did it run}} of the files that are wanted; a header's line ran if it did in any object."""
    files = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as to:
        data = [os.path.abspath(p) for p in folder.rglob("*.gcda")]
        call("gcov", "--json-format", "--preserve-paths", *data, cwd=to, stdout=subprocess.DEVNULL,
             stderr=subprocess.DEVNULL)
        for path in pathlib.Path(to).glob("*.gcov.json.gz"):
            report = json.loads(gzip.decompress(path.read_bytes()))
            at = pathlib.Path(report["current_working_directory"])
            for f in report["files"]:
                source = os.path.relpath((at / f["file"]).resolve(), ROOT)
                if wanted(source):
                    for line in f["lines"]:
                        n = line["line_number"]
                        files[source][n] = files[source].get(n, False) or line["count"] > 0
    return files


def report(files, rows_of, missed):
    """Print a table: for each row how many lines there are, and how many ran. rows_of: a file's; missed: print the
    lines that did not run, too. Returns {row: part of the lines that ran}."""
    table = collections.defaultdict(lambda: [0, 0])
    for source, lines in sorted(files.items()):
        for row in rows_of(source):
            table[row][0] += len(lines)
            table[row][1] += sum(lines.values())
        if missed and not all(lines.values()):
            print(f"{source}: " + " ".join(str(n) for n, ran in sorted(lines.items()) if not ran))
    print(f"{'module':20} {'lines':>6} {'run':>6}")
    for row in sorted(table, key=lambda r: (r == "all", r)):
        lines, ran = table[row]
        print(f"{row:20} {lines:6} {ran:6} {100 * ran / lines:5.1f} %")
    return {row: ran / lines for row, (lines, ran) in table.items()}
