# SPDX-License-Identifier: BSD-3-Clause
"""More at once, or one after the other, than programs usually are."""

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


def cases(link):
    yield "crowd processes", lambda: processes(link)
    yield "crowd regions", lambda: run(*under(link.a, link.a.build.verbtest, "regions"), timeout=60) and None
