# SPDX-License-Identifier: BSD-3-Clause
"""More at once, or one after the other, than programs usually are."""

from links import Memif
from sandbox import Failure, run, until
from verbs import under

PROCESSES = 200


def processes(link):
    """Each opens the devices and leaves; nothing of them is left in the daemon."""
    before = link.a.usage()
    command = " ".join(map(str, under(link.a, "--no-view", "ibv_devinfo")))
    found = run("sh", "-c", f"{command} | grep -c PORT_ACTIVE").stdout.strip()
    said = run("sh", "-c", f"seq {PROCESSES} | xargs -P 4 -I @ sh -c '{command} | grep -c PORT_ACTIVE'", timeout=100).stdout
    if int(found) < len(link.a.addresses) or said.split() != [found] * PROCESSES:
        raise Failure(f"{len(said.split())} processes said something\n{said[-1000:]}")
    until(lambda: link.a.usage() == before, "all is given back")


def queue_pairs(build, folder):
    """10,000 of one process, where the configuration has room for them. Without the view: beside CPUs that are busy,
    Linux 6.18 has taken 22 s to end a process that is the last of its mount namespace (synchronize_rcu_expedited)."""
    limits = {"qps": 16380, "shard_qps": 16384, "memory_mb": 256}
    with Memif(build, folder, limits=limits) as link:
        run(*under(link.a, "--no-view", build.verbtest, "queue_pairs"), timeout=100)


def lone_cases(build, folder):
    yield "crowd queue pairs", lambda: queue_pairs(build, folder)


def cases(link):
    yield "crowd processes", lambda: processes(link)
    yield "crowd regions", lambda: run(*under(link.a, link.a.build.verbtest, "regions"), timeout=60) and None
