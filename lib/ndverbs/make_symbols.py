#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_symbols.py LIST MAP STUBS: the linker's version script and the stubs (C), from the list of symbols."""

import re
import sys

STUB = {
    "error": "int {0}(void)\n{{\n\terrno = EOPNOTSUPP;\n\treturn EOPNOTSUPP;\n}}\n",
    "pointer": "void *{0}(void)\n{{\n\terrno = EOPNOTSUPP;\n\treturn NULL;\n}}\n",
    "minus": "int {0}(void)\n{{\n\terrno = EOPNOTSUPP;\n\treturn -1;\n}}\n",
    "zero": "uint64_t {0}(void)\n{{\n\treturn 0;\n}}\n",
    "void": "void {0}(void)\n{{\n}}\n",
    "data": "int {0} = 0;\n",
}
BEGIN = "#include <errno.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def read(path):
    """[(version, name, kind)]"""
    with open(path) as f:
        return [tuple(line.split()) for line in f if line.strip() and not line.startswith("#")]


def nodes(rows):
    """The versions, oldest first; private ones last."""
    return sorted({version for version, _, _ in rows},
                  key=lambda v: ("PRIVATE" in v, [int(n) for n in re.findall(r"\d+", v)]))


def split(rows):
    """(name of today: version, [(name, older version, kind)])"""
    today, older = {}, []
    for version in reversed(nodes(rows)):
        for v, name, kind in rows:
            if v == version and name in today:
                older.append((name, v, kind))
            elif v == version:
                today[name] = v
    return today, older


def version_script(rows):
    """All else is hidden by a node without older names: one that has some would hide these with it."""
    today, older = split(rows)
    hides = [v for v in nodes(rows) if v not in {w for _, w, _ in older}][-1]
    before, text = "", ""
    for version in nodes(rows):
        names = "".join(f"\t{name};\n" for name in sorted(today) if today[name] == version)
        text += f"{version} {{\nglobal:\n{names}" + ("local:\n\t*;\n" if version == hides else "") + f"}}{before};\n"
        if "PRIVATE" not in version:
            before = f" {version}"
    return text


def stubs(rows):
    older, text = split(rows)[1], BEGIN
    old = {(name, v) for name, v, _ in older}
    for version, name, kind in rows:
        if (name, version) in old:
            own = f"ndv_old_{name}"
            text += f'__asm__(".symver {own}, {name}@{version}");\n' + declared(own, kind)
        elif kind != "here":
            text += declared(name, kind)
    return text


def declared(name, kind):
    """A stub, behind its prototype."""
    body = STUB[kind].format(name)
    prototype = "extern int {0};\n".format(name) if kind == "data" else body.split("\n{")[0] + ";\n"
    return prototype + body


def main():
    rows = read(sys.argv[1])
    with open(sys.argv[2], "w") as f:
        f.write(version_script(rows))
    with open(sys.argv[3], "w") as f:
        f.write(stubs(rows))


if __name__ == "__main__":
    main()
