#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the machine ran: for each CPU a process that sleeps a little, again and again, and notes by how
much it woke late. A hypervisor that stops the machine, or a crowd that gets all of a CPU, shows there;
a daemon that hangs does not.

witness.py FILE CPU PLACE   is that process; Witness starts them."""

import mmap
import os
import struct
import subprocess
import sys
import time

from sandbox import die_with_parent

SLEEP_S = 0.01
STANDS_STILL_S = 0.15  # less, and no case may fail of it
_RECORD = struct.Struct("dd")  # until when it sleeps, and for how long it slept on before


class Witness:
    """The witnesses of all CPUs that this process may use; they end with it."""

    def __init__(self):
        cpus = sorted(os.sched_getaffinity(0))
        file = os.memfd_create("witness")
        os.ftruncate(file, len(cpus) * _RECORD.size)
        self.memory = mmap.mmap(file, len(cpus) * _RECORD.size)
        self.processes = [subprocess.Popen([sys.executable, os.path.abspath(__file__), str(file), str(cpu), str(i)],
                                           stdin=subprocess.DEVNULL, pass_fds=[file], preexec_fn=die_with_parent)
                          for i, cpu in enumerate(cpus)]
        os.close(file)
        while not all(expected for expected, _ in self._records()):
            time.sleep(SLEEP_S)

    def _records(self):
        return _RECORD.iter_unpack(self.memory[:])

    def lost(self):
        """For how many seconds, until now, CPUs did not run the witnesses that were to run; of all CPUs together."""
        now = time.monotonic()
        return sum(lost + (now - expected if now - expected >= STANDS_STILL_S else 0.0)
                   for expected, lost in self._records())


def main():
    file, cpu, place = (int(word) for word in sys.argv[1:])
    os.sched_setaffinity(0, {cpu})
    memory = mmap.mmap(file, 0)
    lost = 0.0
    while True:
        expected = time.monotonic() + SLEEP_S
        _RECORD.pack_into(memory, place * _RECORD.size, expected, lost)
        time.sleep(SLEEP_S)
        late = time.monotonic() - expected
        if late >= STANDS_STILL_S:
            lost += late


if __name__ == "__main__":
    main()
