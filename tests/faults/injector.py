# SPDX-License-Identifier: BSD-3-Clause
"""The page that a process with the injector and its test share (faults.h), and what its sites are called."""

import collections
import ctypes
import mmap
import os
import re

from sandbox import run

HERE = os.path.dirname(os.path.abspath(__file__))
SITES = 8192
IN_LIBRARY, INDIRECT = 1 << 48, 1 << 49


class _Site(ctypes.Structure):
    _fields_ = [("place", ctypes.c_uint64), ("function", ctypes.c_uint32), ("calls", ctypes.c_uint32)]


class _Page(ctypes.Structure):
    _fields_ = [("armed", ctypes.c_uint32), ("skip", ctypes.c_uint32), ("place", ctypes.c_uint64),
                ("fired", ctypes.c_uint32), ("sites", ctypes.c_uint32), ("site", _Site * SITES)]


def functions():
    """Their names, in the order of calls.h."""
    with open(os.path.join(HERE, "calls.h")) as f:
        calls, allocations = f.read().split("FAULT_ALLOCATIONS(X)")
    names = re.findall(r"\bX\((\w+)\)", allocations)
    return names + re.findall(r"\bX\((\w+), [A-Z]+, E\w+\)", calls)


Site = collections.namedtuple("Site", "function place calls")


class Page:
    """A file, and what a process that was started with environment() writes to it."""

    def __init__(self, build, folder, name):
        self.path = os.path.join(folder, name + ".faults")
        self.module = os.path.join(build.folder, "tests/faults/libfaults.so")
        self.names = functions()
        with open(self.path, "wb") as f:
            f.truncate(ctypes.sizeof(_Page))
        with open(self.path, "r+b") as f:
            self._map = mmap.mmap(f.fileno(), ctypes.sizeof(_Page))
        self.page = _Page.from_buffer(self._map)

    def environment(self):
        return {"LD_PRELOAD": self.module, "NDD_FAULTS": self.path}

    def forget(self):
        """No calls so far, and none that is to fail."""
        self.page.armed = self.page.fired = 0
        for i in range(self.page.sites):
            self.page.site[i].calls = 0

    def sites(self):
        """Those that were called since forget()."""
        found = self.page.site[:self.page.sites]
        return [Site(self.names[s.function - 1], s.place, s.calls) for s in found if s.calls]

    def arm(self, site, skip=0):
        self.page.armed = self.page.fired = 0
        self.page.skip, self.page.place = skip, site.place
        self.page.armed = self.names.index(site.function) + 1

    @property
    def fired(self):
        return bool(self.page.fired)


def named(program, sites):
    """{name: site}: a function, and that of the program which called it, or the library that called it."""
    places = [hex(max(s.place & (IN_LIBRARY - 1), 1) - 1) for s in sites]
    lines = run("addr2line", "-f", "-e", program, *places).stdout.splitlines()[::2] if sites else []
    seen, result = collections.Counter(), {}
    for site, where in sorted(zip(sites, lines), key=lambda pair: (pair[1], pair[0])):
        way = "below" if site.place & INDIRECT else "in"
        name = f"{site.function} {way} {re.sub(r'[.].*', '', where)}" if site.place else \
            f"{site.function} of a library's thread"
        seen[name] += 1
        result[name if seen[name] == 1 else f"{name} {seen[name]}"] = site
    return result
