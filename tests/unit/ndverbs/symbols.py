#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libibverbs.so.1 exports the names and versions of its list, and of the distribution's package if that is there.

usage: symbols.py LIST LIBRARY
"""
import glob
import re
import subprocess
import sys

PACKAGE = "/var/lib/dpkg/info/libibverbs1:*.symbols"


def exported(library):
    """{name@version}; programs that ask for no version get the default one, which @@ marks."""
    out = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, capture_output=True,
                         text=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {row[7] for row in rows if len(row) > 7 and "@" in row[7] and row[6] != "UND"}


def listed(path):
    with open(path) as f:
        return {"@".join(reversed(line.split()[:2])) for line in f if line[0] not in "#\n"}


def of_package():
    """None: there is no package, or one of another release."""
    for path in glob.glob(PACKAGE):
        with open(path) as f:
            names = set(re.findall(r"^ (\S+@IBVERBS_\S+) ", f.read(), re.M))
        if "IBVERBS_PRIVATE_34@IBVERBS_PRIVATE_34" in names:
            return {name for name in names if not name.startswith("IBVERBS_")}
    return None


def main():
    exports = exported(sys.argv[2])
    have, want, package = {name.replace("@@", "@") for name in exports}, listed(sys.argv[1]), of_package()
    have = {name for name in have if not name.startswith("IBVERBS_")}
    faults = [f"{name}: in the list, not exported" for name in sorted(want - have)]
    faults += [f"{name}: exported, not in the list" for name in sorted(have - want)]
    faults += [f"{name}: of the package, not exported" for name in sorted((package or set()) - have)]
    newest = [name for name in have if name.replace("@", "@@") in exports]
    faults += [f"{name}: no default version" for name in sorted({name.split("@")[0] for name in have}
                                                                - {name.split("@")[0] for name in newest})]
    for fault in faults:
        print(fault)
    print(f"{len(have)} symbols" + ("" if package else ", without a package to compare with"))
    return 1 if faults else 0


sys.exit(main())
