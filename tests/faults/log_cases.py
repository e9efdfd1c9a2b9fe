# SPDX-License-Identifier: BSD-3-Clause
"""What takes the log takes nothing more: a full disk, or a pipe that nobody reads. The daemon serves, and ends when it is told to."""

import os
import signal
import time

from sandbox import Failure, scratch
from start_cases import FaultyDaemon

DUMPS = 20  # of all counters
REDIRECTED = ["sh", "-c", 'exec "$0" "$@" 2>"$LOG"']


def fill(path):
    """A pipe, until it takes no more."""
    writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        pass
    finally:
        os.close(writer)


def serves(daemon, then):
    daemon.start()
    then()
    for _ in range(DUMPS):
        daemon.process.kill(signal.SIGUSR1)
        time.sleep(0.005)
    daemon.must_serve()
    status = daemon.process.stop()
    if status:
        raise Failure(f"exit {status}")


def with_log(build, path_of):
    with scratch("ndd-faults-") as folder, FaultyDaemon(build, folder) as daemon:
        path = path_of(folder)
        daemon.inside = ["env", f"LOG={path}", *REDIRECTED]
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if path != "/dev/full" else None
        try:
            serves(daemon, lambda: fill(path) if reader is not None else None)
        finally:
            if reader is not None:
                os.close(reader)


def fifo(folder):
    path = os.path.join(folder, "log")
    os.mkfifo(path)
    return path


def cases(build, _whole):
    yield "full disk", lambda: with_log(build, lambda folder: "/dev/full")
    yield "pipe that nobody reads", lambda: with_log(build, fifo)
