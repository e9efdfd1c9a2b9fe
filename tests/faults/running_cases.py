# SPDX-License-Identifier: BSD-3-Clause
"""Each call of a daemon that serves a client's whole life fails once. The client may notice; the daemon lives, what the
client had is given back, and another client, whose session and connection have been there all the while, is served."""

import signal
import time

from injector import Page, named
from rig import memif_rig
from sandbox import Failure, run, scratch, until
from start_cases import times

LIFE_S = 30
SERVED_S = 0.05
TRIES = 3


def life(rig):
    """A client's life with objects of all kinds, a reload, and a look at the counters."""
    link = rig.link
    link.a.process.kill(signal.SIGHUP)
    done = run(link.build.ndkilled, link.a.socket_path, link.b.socket_path, "list", timeout=LIFE_S, check=False)
    if done.returncode < 0:
        raise Failure(f"the client died by signal {-done.returncode}\n{done.stdout}")
    link.a.process.kill(signal.SIGUSR1)
    return done.returncode


def must_serve_others(rig):
    """The victim: what it has, and what it asks for anew."""
    def pinged():
        time.sleep(SERVED_S)
        figures = rig.victim.figures()
        failed = {kind: n["failed"] for kind, n in figures.items() if isinstance(n, dict) and n["failed"]}
        if failed:
            raise Failure(f"another client: failed {failed} ({figures['complaint']})")
        return figures["ping"]["n"]

    rig.victim.go(bulk=False)
    until(pinged, "another client's ping")


def with_fault(rig, page, site, skip):
    rig.ready()
    page.forget()
    page.arm(site, skip)
    try:
        status = life(rig)
        fired = page.fired
        page.forget()
        must_serve_others(rig)
        rig.must_have_given_back()
    except Failure as e:
        text = f"{e}\n{rig.news()}"
        rig.stop()
        raise Failure(text) from None
    return "not reached" if not fired else "the client notices" if status else "nobody notices"


def cases(build, whole):
    with scratch("ndd-faults-") as folder:
        page = Page(build, folder, "a")
        inside = ["env", *(f"{name}={value}" for name, value in page.environment().items())]
        with memif_rig(build, folder, inside) as rig:
            rig.ready()
            page.forget()
            for _ in range(TRIES):
                if life(rig):
                    raise Failure(f"a client without faults: {rig.news()}")
            for name, site in named(build.daemon, page.sites()).items():
                for skip in times(site, whole):
                    yield name + (f" after {skip}" if skip else ""), \
                        lambda s=site, n=skip: with_fault(rig, page, s, n)
