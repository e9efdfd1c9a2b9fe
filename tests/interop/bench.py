# SPDX-License-Identifier: BSD-3-Clause
"""A guest and a daemon on one bridge, and how a case runs something on both. Case files are made of these.

A case file has cases(bench), which yields a Case each; run-interop knows the files."""

import collections
import contextlib
import ipaddress
import os

import sandbox
from capture import Capture
from cases import program
from guest import Guest
from ports import MAC, OURS, AfPacket
from relay import Relay
from sandbox import Failure, until

PEER = {"v4": "192.0.2.1", "v6": "2001:db8::1", "link-local": "fe80::ff:fe00:8801"}
HOST = "192.0.2.3"  # for TCP, which the daemon has not
FAMILIES = ("v4", "v6")
HOST_V6 = "2001:db8:1::3"
VERBS_PORT = 7175  # of verbspeer, which ndtest knows

# operation, direction ("in": the peer begins, "out": we begin, "both") and act() make a case; verified
# says what is known beyond "no error" when it has passed, for the table. whole: too long for the core.
# mtu: of the link.
Case = collections.namedtuple("Case", "operation direction verified act whole mtu", defaults=(False, 1500))


class Bench:
    """with Bench(build, folder, image_dir) as bench: bench.guest and bench.daemon run."""

    def __init__(self, build, folder, image_dir):
        self.build, self.folder, self.captures, self.mtu = build, folder, 0, 1500
        self.guest = Guest(folder, "guest", image_dir, "br0", PEER["v4"], PEER["v6"], "02:00:00:00:88:01",
                           self.mtu)
        self.port, self.daemon = AfPacket(), None
        self.ndpartner = program(build.folder, "tests/interop/partners/ndpartner")

    def new_daemon(self):
        return self.port.daemon(self.build, self.folder, self.mtu)

    @staticmethod
    def network():
        """Once per sandbox."""
        sandbox.network_up()
        sandbox.bridge("br0")
        sandbox.run("ip", "addr", "add", HOST + "/24", "dev", "br0")
        # Without any getaddrinfo() knows no IPv6; the bridge is to have none.
        sandbox.sysctl("net.ipv6.conf.lo.disable_ipv6", 0)
        sandbox.run("ip", "addr", "add", HOST_V6 + "/128", "dev", "lo", "nodad")

    def __enter__(self):
        self.guest.start()
        try:
            self.release = self.guest.run("uname -r").text.strip()
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self._end()
        self.guest.stop()

    def _begin(self):
        self.port.plug()
        self.daemon = self.new_daemon().start()
        # Its link watch may take a while; an address asked for before is asked for in vain.
        for family in FAMILIES:
            until(lambda f=family: not self.guest.run(f"ping -c 1 -W 1 {OURS[f]}", check=False).status,
                  f"the guest reaches {OURS[family]}", 30)

    def _end(self):
        if self.daemon:
            self.daemon.process.stop()
            self.daemon = None
        self.port.unplug()

    def use_port(self, port):
        """From here on the daemon has this one."""
        self._end()
        self.port = port
        self._begin()

    def run(self, case):
        """A failure comes with what the daemon said meanwhile, and with its counters."""
        self._use_mtu(case.mtu)
        self.daemon.news()
        try:
            return case.act()
        except Failure as e:
            counters = self.daemon.counters() if self.daemon.process.running() else ""
            raise Failure(f"{e}\n{self.daemon.news()}\n{counters}") from None

    def _use_mtu(self, mtu):
        """From here on the link has this one, at both ends."""
        if mtu == self.mtu:
            return
        self.mtu = mtu
        self.daemon.process.stop()
        self.guest.run(f"ip link set dev eth0 mtu {mtu}")
        self.daemon = self.new_daemon().start()

    @property
    def our_mac(self):
        """As it is in a frame."""
        return bytes.fromhex(MAC.replace(":", ""))

    @property
    def peer(self):
        """Its name in the table."""
        return "rxe " + ".".join(self.release.split(".")[:2]) + self.port.suffix

    # ---- acts ------------------------------------------------------------------------------------

    def captured(self, act, senders=2):
        """Run act() under a capture of the daemon's cable, and judge that."""
        self.captures += 1
        capture = Capture(self.port.captured_at, os.path.join(self.folder, f"{self.captures}.pcap"))
        with capture:
            act()
        words = capture.check(senders)
        os.unlink(capture.path)
        return words

    @contextlib.contextmanager
    def relayed(self, leave_out):
        """The daemon's cable goes through this process: frames for which leave_out(frame) says so end
        here."""
        self.port.relayed(True)
        sandbox.run("ip", "link", "set", "d0-br", "nomaster")
        sandbox.veth("r0", "r0-br", master="br0")
        relay = Relay(("d0-br", "r0"), leave_out)
        relay.start()
        try:
            yield relay
        finally:
            relay.stop()
            sandbox.delete_link("r0")
            sandbox.run("ip", "link", "set", "d0-br", "master", "br0")
            self.port.relayed(False)

    def guest_listens(self):
        return "LISTEN" in self.guest.run("rdma resource show cm_id").text

    def ours_waits(self, server, line):
        """Our server, a Process that is ready, and then the guest's program."""
        with server:
            self.guest.run(line)
            if server.wait():
                raise Failure(f"{server.name}: exit {server.wait()}\n{server.text}")

    def guest_waits(self, line, ours, ready=None, well=lambda server: server.wait(30) == 0):
        """The guest's server and, when that is ready, our program: ours() gives it ended. well: did the server end
        as it should?"""
        with self.guest.popen(line) as server:
            until(lambda: (ready or self.guest_listens)() or server.status is not None, f"{line} waits")
            done = ours()
            if done.returncode or not well(server):
                raise Failure(f"{done.args[0]}: exit {done.returncode}\n{done.stdout}"
                              f"{line}: exit {server.status}\n{server.text}")

    def ndtest(self, family, scenario):
        """The command of one of our halves of a test with a peer."""
        daemon = self.daemon
        return (daemon.build.ndtest, scenario, daemon.socket_path, OURS[family], "none", PEER[family])

    def run_ndtest(self, family, scenario, **how):
        return self.daemon.run(*self.ndtest(family, scenario), **how)

    def verbs(self, family, scenario):
        """A scenario against verbspeer."""
        return self.captured(lambda: self.guest_waits(
            f"verbspeer {VERBS_PORT}", lambda: self.run_ndtest(family, scenario, check=False)))

    def gid_index(self, family):
        """The guest's number of its own address."""
        gid = ipaddress.ip_address("::ffff:" + PEER[family] if family == "v4" else PEER[family]).exploded
        found = self.guest.run(f"grep -l {gid} /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null",
                               check=False).text
        return found.split()[0].rpartition("/")[2]
