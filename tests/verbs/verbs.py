# SPDX-License-Identifier: BSD-3-Clause
"""Programs of verbs under ndd-verbs: one, or two of which one serves."""

import os
import shutil

from cases import Skip, program
from daemon import Build
from sandbox import Process, listens, run, until

PORT = 18515 + os.getpid() % 4096
PROGRAMS = ("ibv_devinfo", "ibv_rc_pingpong", "ib_write_bw")
CM_PROGRAMS = ("rping", "ucmatose", "rdma_server", "rstream", "fio", "qperf")


def wrapper(folder):
    """ndd-verbs of that build."""
    if not os.access(os.path.join(folder, "lib/ndverbs/libibverbs.so.1"), os.R_OK):
        raise Skip("no-verbs")
    return program(folder, "app/ndd-verbs/ndd-verbs")


class VerbsBuild(Build):
    def __init__(self, folder):
        super().__init__(folder)
        self.ndd_verbs = wrapper(self.folder)
        if not all(shutil.which(name) for name in PROGRAMS):
            raise Skip("no-programs")
        self.verbtest = program(self.folder, "tests/verbs/verbtest")
        self.iovatest = program(self.folder, "tests/verbs/iovatest")
        self.windowtest = program(self.folder, "tests/verbs/windowtest")

    def mpi_exchange(self, implementation):
        """Built for that one (its package's name), if it is installed."""
        return os.path.join(self.folder, "tests/verbs/mpi_exchange_" + implementation)

    def cmtest(self):
        if not os.access(os.path.join(self.folder, "tests/verbs/cmtest"), os.X_OK):
            raise Skip("no-rdmacm")
        return program(self.folder, "tests/verbs/cmtest")


def under(daemon, *command):
    """The command on that daemon."""
    return (wrapper(daemon.build.folder), "--socket", daemon.socket_path, "--quiet", *command)


def both_by_port(link, serve, ask, timeout=60):
    """A server on a, which listens to that port of TCP, too, and its client on b: (status, output) of each."""
    server = Process(*under(link.a, *serve), name=serve[0] + " (server)")
    with server:
        until(lambda: listens(PORT) or not server.running(), f"{serve[0]} listens")
        if not server.running():
            return (server.wait(), server.text), (None, "")
        client = run(*under(link.b, *ask), timeout=timeout, check=False)
        return (server.wait(timeout), server.text), (client.returncode, client.stdout)


def both(link, *command, timeout=60):
    """The program at both ends, a's the server."""
    command = (*command, "-p", str(PORT))
    return both_by_port(link, command, (*command, "localhost"), timeout)


def both_by_cm(link, serve, ask, asks, timeout=60):
    """A server on a, which is no socket's but the CM's, and its client on the daemon asks: (status, output) of each."""
    if not all(shutil.which(name) for name in CM_PROGRAMS):
        raise Skip("no-rdmacm")
    server = Process(*under(link.a, *serve), name=serve[0] + " (server)")
    with server:
        until(lambda: link.a.usage().get("listeners") or not server.running(), f"{serve[0]} listens")
        client = run(*under(asks, *ask), timeout=timeout, check=False)
        return (server.wait(timeout), server.text), (client.returncode, client.stdout)
