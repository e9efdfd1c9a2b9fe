#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages say what is there: every call of the library is named in one page, with the prototype
of the header; every option of a program is in its page; examples compile; troff has no complaint.

usage: man_pages.py COMPILER HEADER,... MAP PROGRAM,... PAGE...
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc" / "man"))
from names import names  # noqa: E402

INCLUDES = "#include <stdio.h>\n#include <ndclient.h>\n"


def squeeze(text):
    return re.sub(r"\s*([*,()])\s*", r"\1", " ".join(text.split()))


def declared(headers):
    """{call: its prototype}"""
    text = "".join(pathlib.Path(h).read_text() for h in headers)
    text = re.sub(r"/\*.*?\*/|^#.*?$", " ", text, flags=re.S | re.M)
    return {m[2]: squeeze(m[0]) for m in
            re.finditer(r"^((?:const )?\w+[ *]+)(nd_\w+)\([^;{]*?\)", text, re.M)}


def described(page):
    """{call: its prototype} of a SYNOPSIS"""
    found = re.findall(r'^\.Ft "?(.*?)"?\n\.Fo (\w+)\n(.*?)^\.Fc', page, re.M | re.S)
    return {name: squeeze(f"{kind} {name}(" + ",".join(re.findall(r'^\.Fa "?(.*?)"?$', args, re.M))
                          + ")") for kind, name, args in found}


def exported(symbol_map):
    return set(re.findall(r"^\s+(nd_\w+);", pathlib.Path(symbol_map).read_text(), re.M))


def calls(pages, headers, symbol_map):
    seen, truth = {}, declared(headers)
    for path, text in pages.items():
        for name in names(path):
            if path.suffix == ".3" and name in seen:
                yield f"{name}: in {seen[name]} and in {path.name}"
            seen[name] = path.name
        for name, prototype in described(text).items():
            if name not in names(path):
                yield f"{path.name}: {name} is in the SYNOPSIS, not in NAME"
            if prototype != truth.get(name):
                yield f"{path.name}: {prototype}; the header: {truth.get(name)}"
        if path.suffix == ".3" and set(names(path)) != set(described(text)):
            yield f"{path.name}: NAME and SYNOPSIS differ"
    for name in sorted(exported(symbol_map) - set(seen)):
        yield f"{name}: in no page of doc/man"


def references(pages):
    for path, text in pages.items():
        for name, section in re.findall(r"^\.Xr (\S+) (\d)", text, re.M):
            if f"{name}.{section}" not in {p.name for p in pages}:
                yield f"{path.name}: see also {name}({section}), which there is not"


def options(pages, programs):
    for program in map(pathlib.Path, programs):
        path, text = next(page for page in pages.items() if page[0].stem == program.name)
        told = set(re.findall(r"\bFl -?([\w-]+)", text))
        said = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
        there = {option.lstrip("-") for pair in
                 re.findall(r"^ +(?:(-\w), +)?(--?[\w-]+)", said, re.M) for option in pair} - {""}
        for option in sorted(there ^ told):
            yield f"{path.name}: option {option} is in the page or in --help, not in both"


def examples(pages, headers, compiler):
    folder = pathlib.Path(headers[0]).parent
    for path, text in pages.items():
        if path.suffix != ".3":
            continue
        code = re.search(r"^\.Sh EXAMPLES\n\.Bd -literal\n(.*?)^\.Ed", text, re.M | re.S)
        if code is None:
            yield f"{path.name}: no example"
            continue
        done = subprocess.run(
            [*compiler, "-x", "c", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
             "-Wno-unused-function", "-fsyntax-only", f"-I{folder}", "-"],
            input=INCLUDES + code[1].replace("\\e", "\\"), capture_output=True, text=True)
        if done.returncode != 0:
            yield f"{path.name}: the example:\n{done.stderr}"


def typeset(pages):
    groff = shutil.which("groff")
    if groff is None:
        print("no groff: the pages were not typeset")
        return
    for path in pages:
        done = subprocess.run([groff, "-mandoc", "-ww", "-Tutf8", "-z", path], capture_output=True,
                              text=True)
        if done.returncode != 0 or done.stderr:
            yield f"{path.name}: {done.stderr}"


def main():
    compiler, headers, symbol_map, programs = sys.argv[1:5]
    headers = headers.split(",")
    pages = {pathlib.Path(p): pathlib.Path(p).read_text() for p in sys.argv[5:]}
    complaints = [*calls(pages, headers, symbol_map), *references(pages),
                  *options(pages, programs.split(",")),
                  *examples(pages, headers, compiler.split(",")), *typeset(pages)]
    print("\n".join(complaints))
    print(f"{len(pages)} pages")
    return 1 if complaints else 0


sys.exit(main())
