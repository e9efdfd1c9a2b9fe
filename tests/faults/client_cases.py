# SPDX-License-Identifier: BSD-3-Clause
"""Each call of the client library fails once, in a client that calls all that the library has. Its public call says so,
or does not need what failed; called again it works, or else the adapter is at its end, and a new one works."""

import re

from injector import IN_LIBRARY, Page, named
from links import Memif
from sandbox import Failure, run, scratch, until
from start_cases import times

LIFE_S = 30


def life(link, page):
    """What the client says of it."""
    a, b = link.a, link.b
    done = run(link.build.ndlife, a.socket_path, a.addresses[0], b.socket_path, b.addresses[0], timeout=LIFE_S,
               check=False, env={**a.environment(), **page.environment()})
    if done.returncode < 0:
        raise Failure(f"the client died by signal {-done.returncode}\n{done.stdout}")
    if done.returncode:
        raise Failure(f"what failed once fails again\n{done.stdout}")
    return done.stdout


def must_have_given_back(link):
    for daemon in (link.a, link.b):
        until(lambda d=daemon: not d.usage(), f"what daemon {daemon.name} has of the client's given back", 15)


def with_fault(link, page, site, skip):
    page.forget()
    page.arm(site, skip)
    text = life(link, page)
    must_have_given_back(link)
    if not page.fired:
        return "not reached"
    told = re.search(r"failed: (\w+).*?: (ND_\w+)", text)
    return f"{told.group(1)}: {told.group(2)}" if told else "not needed"


def cases(build, whole):
    with scratch("ndd-faults-") as folder, Memif(build, folder) as link:
        page = Page(build, folder, "client")
        page.forget()
        if text := life(link, page):
            raise Failure("a client without faults: " + text)
        sites = [site for site in page.sites() if site.place & IN_LIBRARY]
        for name, site in named(build.libndclient, sites).items():
            for skip in times(site, whole):
                yield name + (f" after {skip}" if skip else ""), \
                    lambda s=site, n=skip: with_fault(link, page, s, n)
