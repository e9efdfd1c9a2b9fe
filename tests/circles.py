#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which files call each other in a circle? A circle inside one room may be: its files are one piece
of work. One that spans rooms is a knot: none of its files can be understood, tested or replaced
without the others.

usage: circles.py SOURCE_FOLDER OBJECTS [SOURCE_FOLDER OBJECTS]...

OBJECTS: an archive, or the folder in which the build keeps a program's objects. A call is a symbol
that one object needs and another one defines. Prints each circle; those of several rooms are
faults, and the exit status is 1.
"""
import pathlib
import subprocess
import sys


def symbols(objects):
    """(object, name, is it defined there?) of each global symbol."""
    files = sorted(objects.glob("*.o")) if objects.is_dir() else [objects]
    out = subprocess.run(["nm", "--extern-only", "--print-file-name", *files],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        where, rest = line.rsplit(":", 1)
        *_, kind, name = rest.split()
        yield where.rsplit(":", 1)[-1].rsplit("/", 1)[-1], name, kind not in "Uw"


def calls(objects):
    """For each object, the objects that it calls."""
    every = list(symbols(objects))
    home = {name: where for where, name, defined in every if defined}
    graph = {where: set() for where, _, _ in every}
    for where, name, defined in every:
        if not defined and home.get(name, where) != where:
            graph[where].add(home[name])
    return graph


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for to in graph[todo.pop()] - seen:
            seen.add(to)
            todo.append(to)
    return seen


def circles(graph):
    """Sets of objects of which each one reaches all others, and so itself."""
    reached = {node: reach(graph, node) for node in graph}
    return {frozenset(other for other in reached[node] if node in reached[other])
            for node in graph if node in reached[node]}


def source_of(folder, name):
    """queue_send_ring.c.o is queue/send_ring.c, if there is a room of that name."""
    path = name.removesuffix(".o")
    room, _, rest = path.partition("_")
    return f"{room}/{rest}" if rest and (folder / room / rest).is_file() else path


def main():
    arguments = [pathlib.Path(a) for a in sys.argv[1:]]
    faults = 0
    for folder, objects in zip(arguments[::2], arguments[1::2]):
        graph = calls(objects)
        if not graph:
            sys.exit(f"{objects}: no objects")
        for circle in sorted(circles(graph), key=sorted):
            files = sorted(source_of(folder, name) for name in circle)
            rooms = {file.rpartition("/")[0] for file in files}
            faults += len(rooms) > 1
            print(f"{folder.name}: {'FAULT: ' if len(rooms) > 1 else ''}{' '.join(files)}")
    print(f"circles: {len(arguments) // 2} parts, {faults} circles of several rooms")
    return 1 if faults or len(arguments) < 2 else 0


sys.exit(main())
