# SPDX-License-Identifier: BSD-3-Clause
"""The machine: what it is, and what else it does while we measure."""

import os
import platform
import re
import resource
import time


def describe():
    """What a reader has to know to judge the figures."""
    with open("/proc/cpuinfo") as f:
        model = re.search(r"^model name\s*:\s*(.*)$", f.read(), re.M)
    with open("/etc/os-release") as f:
        system = re.search(r'^PRETTY_NAME="?([^"\n]*)', f.read(), re.M)
    return {"cpu": model.group(1) if model else platform.machine(), "cpus": len(os.sched_getaffinity(0)),
            "kernel": platform.release().split("-")[0], "system": system.group(1) if system else "?",
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


_HERTZ = os.sysconf("SC_CLK_TCK")


def _ticks():
    """(all, those of processes, those that the machine's other guests had) of all CPUs."""
    with open("/proc/stat") as f:
        user, nice, system, *rest = map(int, f.readline().split()[1:9])
    return user + nice + system + sum(rest), user + nice + system, rest[4]


def _ours():
    """Processor time of this program and of what it ran and waited for, in ticks."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used) * _HERTZ


class Load:
    """What went on beside us between two looks at which nothing of ours runs, as percent of all CPUs' time:
    what other programs had, and what the machine's owner gave to other guests."""

    def __init__(self):
        self.ticks, self.ours, self.waiting = _ticks(), _ours(), os.getloadavg()[0]

    def since(self):
        passed, busy, stolen = (after - before for before, after in zip(self.ticks, _ticks()))
        others = max(busy - (_ours() - self.ours), 0)
        return {"others_percent": round(100 * others / max(passed, 1), 1),
                "steal_percent": round(100 * stolen / max(passed, 1), 1),
                "load_before": round(self.waiting, 2), "load_after": round(os.getloadavg()[0], 2)}
