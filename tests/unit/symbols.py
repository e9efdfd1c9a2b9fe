#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A library exports the calls of its headers, all of them and nothing else.

usage: symbols.py PATTERN HEADER... LIBRARY

PATTERN: what names of its calls look like
"""
import re
import subprocess
import sys


def declared(pattern, headers):
    text = re.sub(r"/\*.*?\*/", "", "".join(open(h).read() for h in headers), flags=re.S)
    return set(re.findall(rf"\b({pattern})\s*\(", text)) - {"nd_status"}


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         capture_output=True, text=True).stdout
    return {line.split()[2].split("@")[0] for line in out.splitlines()
            if line.split()[1] in "TDBR"}


def main():
    want, have = declared(sys.argv[1], sys.argv[2:-1]), exported(sys.argv[-1])
    for name in sorted(want - have):
        print(f"{name}: declared, not exported (by its map)")
    for name in sorted(have - want):
        print(f"{name}: exported, not declared")
    print(f"{len(want & have)} calls")
    return want != have


sys.exit(main())
