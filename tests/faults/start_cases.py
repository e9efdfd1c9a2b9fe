# SPDX-License-Identifier: BSD-3-Clause
"""Each call of the daemon's start and end fails once: it serves all the same, or ends, says why, and leaves nothing
behind."""

import os
import re
import signal

from cases import Skip
from daemon import Daemon, memif
from injector import Page, named
from sandbox import Failure, scratch

ENDS_S = 20
BEHIND_EAL = re.compile(r"dpdk-ndd \w+: (?!removing)")  # what the daemon says once rte_eal_init() has returned
# What the daemon says, and what libnuma and DPDK say when they end the process on their own.
CLEAR = re.compile(r"^(?:[\d:.]+ dpdk-ndd error: |\S+\.json: |(?=Out of memory allocating)|(?=PANIC in ))(.*)", re.M)


class FaultyDaemon(Daemon):
    """One whose calls are on a page. It may end before it answers."""

    def __init__(self, build, folder):
        super().__init__(build, folder, "a", 0, memif("server", folder), ["192.0.2.1/24"], mtu=4200)
        self.folder, self.page = folder, Page(build, folder, "a")
        self.inside = ["env", *(f"{name}={value}" for name, value in self.page.environment().items())]

    def must_not_crash(self, status):
        text = self.process.text
        if status == -signal.SIGABRT and "PANIC in " in text:
            raise Skip("dpdk-panics")
        if status == -signal.SIGSEGV and "EAL: " in text and not BEHIND_EAL.search(text):
            raise Skip("dpdk-crashes")
        if status < 0:
            raise Failure(f"died by signal {-status}\n{text[-3000:]}")

    def begins(self):
        """True: it serves; False: it has ended, as it may."""
        try:
            self.start()
            self.process.expect("ready: ")
            return True
        except Failure:
            if self.process.running():
                raise
        status, text = self.process.wait(), self.process.text
        self.must_not_crash(status)
        if status == 0:
            raise Failure(f"exit 0 before it was ready\n{text[-3000:]}")
        if not CLEAR.search(text):
            raise Failure(f"exit {status}, and no word about it\n{text[-3000:]}")
        return False

    def why(self):
        return CLEAR.search(self.process.text).group(1)

    def must_serve(self):
        """Itself, without a port. The fault may have met a client: then another one."""
        for last in (False, True):
            try:
                with self.ping_server("-p", 7174 + last) as server:
                    self.ping("-a", self.addresses[0], "-p", 7174 + last, "-C", 1, timeout=20)
                    server.stop()
                return
            except Failure as e:
                if last or not self.process.running():
                    raise Failure(f"{e}\n{self.process.text[-3000:]}") from None

    def must_end(self):
        """As an operator would end it."""
        self.must_not_crash(self.process.stop(timeout=ENDS_S))

    def left(self):
        """What a client would try to connect to. The lock's file is no lock: the kernel ends that with the process."""
        return os.path.exists(self.socket_path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.stop()


def lives(daemon):
    """From its start to its end; what came of it."""
    if not daemon.begins():
        return "ends: " + daemon.why()
    daemon.must_serve()
    daemon.must_end()
    return "serves"


def must_live_well(daemon):
    """Without a fault, whatever the last one left."""
    daemon.page.forget()
    if lives(daemon) != "serves" or daemon.left():
        raise Failure(f"the next start\n{daemon.process.text[-3000:]}")


def with_fault(daemon, site, skip):
    daemon.page.forget()
    daemon.page.arm(site, skip)
    try:
        note, fired = lives(daemon), daemon.page.fired
        if daemon.left():
            must_live_well(daemon)
            if site.function != "unlink":
                raise Failure("its socket is left behind")
        return note if fired else "not reached"
    finally:
        daemon.process.stop()


def times(site, whole):
    """Which of the calls there are to fail: the first, or with `whole` some more of those that libraries make."""
    return sorted({0} | ({n for n in (1, 2, 4, 8, 16, 64, 256, 1024, site.calls - 1) if n < site.calls} if whole else set()))


def of_sites(daemon, sites, whole):
    """(name, function) for each of these calls."""
    for name, site in named(daemon.build.daemon, sites).items():
        for skip in times(site, whole):
            yield name + (f" after {skip}" if skip else ""), lambda s=site, n=skip: with_fault(daemon, s, n)


def cases(build, whole):
    """(name, function) for each call; the daemon that makes them is left when the generator ends."""
    with scratch("ndd-faults-") as folder, FaultyDaemon(build, folder) as daemon:
        must_live_well(daemon)
        yield from of_sites(daemon, daemon.page.sites(), whole)
