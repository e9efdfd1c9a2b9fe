# SPDX-License-Identifier: BSD-3-Clause
"""Programs of verbs under ndd-verbs: one, or two of which one serves."""

import os
import shutil

from cases import Skip, program
from daemon import Build
from sandbox import Process, listens, run, until

PORT = 18515 + os.getpid() % 4096
PROGRAMS = ("ibv_devinfo", "ibv_rc_pingpong", "ib_write_bw")


class VerbsBuild(Build):
    def __init__(self, folder):
        super().__init__(folder)
        if not os.access(os.path.join(self.folder, "lib/ndverbs/libibverbs.so.1"), os.R_OK):
            raise Skip("no-verbs")
        if not all(shutil.which(name) for name in PROGRAMS):
            raise Skip("no-programs")
        self.ndd_verbs = program(self.folder, "app/ndd-verbs/ndd-verbs")
        self.verbtest = program(self.folder, "tests/verbs/verbtest")
        self.mpi_exchange = os.path.join(self.folder, "tests/verbs/mpi_exchange")  # where Open MPI is installed


def under(daemon, *command):
    """The command on that daemon."""
    return (daemon.build.ndd_verbs, "--socket", daemon.socket_path, "--quiet", *command)


def both(link, *command, timeout=60):
    """The program at both ends, a's the server: (status, output) of each."""
    command = (*command, "-p", str(PORT))
    server = Process(*under(link.a, *command), name=command[0] + " (server)")
    with server:
        until(lambda: listens(PORT) or not server.running(), f"{command[0]} listens")
        if not server.running():
            return (server.wait(), server.text), (None, "")
        client = run(*under(link.b, *command, "localhost"), timeout=timeout, check=False)
        return (server.wait(timeout), server.text), (client.returncode, client.stdout)
