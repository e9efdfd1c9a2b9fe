# SPDX-License-Identifier: BSD-3-Clause
"""The daemon's end of the cable to the bridge: an interface of its own, or the kernel's sockets."""

import os

import sandbox
from daemon import Daemon, af_packet
from sandbox import Process

OURS = {"v4": "192.0.2.2", "v6": "2001:db8::2", "link-local": "fe80::ff:fe00:7701"}
ADDRESSES = [OURS["v4"] + "/24", OURS["v6"] + "/64"]
MAC = "02:00:00:00:77:01"


class AfPacket:
    """A station of its own, which the kernel knows nothing of."""

    suffix = ""  # in names of cases
    captured_at = "d0-br"
    core = set()  # no choice: all of them

    def has(self, _case, _whole):
        return True

    def plug(self):
        sandbox.veth("d0", "d0-br", master="br0")

    def unplug(self):
        sandbox.delete_link("d0-br")

    def daemon(self, build, folder, mtu):
        return Daemon(build, folder, "daemon", 0, af_packet("d0"), ADDRESSES, mtu)

    def relayed(self, relayed):
        """Frames go through a relay from here on, or no more."""


class Udp:
    """The kernel's UDP sockets, in a network of their own, of a daemon that has no capability. The cable has the
    kernel's offloads: the guest's interface is the first that wants segments and checksums."""

    suffix = " udp"
    captured_at = "tap-guest"
    # What CI runs: the port's part are lengths (pads, runs of equal ones, lone packets), families, scopes, groups,
    # bursts and losses.
    # What the CM, verbs and errors are is the engine's, as over any port. ud_pingpong is not among them: that program
    # waits for ever for a datagram that is lost, and in one whole run of a dozen it did (doc/design-notes/udp.md).
    core = {(operation, direction) for operation, directions in (
        ("rping v4", "in out"), ("rping v6", "in out"), ("rping -S 20000 v4", "in out"),
        ("rping -S 20000 v6", "in out"), ("operations MTU 1024 v6", "in out"),
        ("operations MTU 4096 v4", "in out"), ("256 connections at once v4", "in"), ("CM messages lost v4", "out"),
        ("loss towards it v4", "in"), ("daemon dies v4", "both"), ("mckey v4", "in out"),
        ("private data, rejects link-local", "in out"), ("ndd-verbs rping -V v4", "in out"),
        ("ndd-verbs ib_write_bw v4", "in out"),
    ) for direction in directions.split()}
    def __init__(self):
        self.network = None

    def has(self, case, whole):
        return whole or (case.operation, case.direction) in self.core

    def inside(self, *command):
        return ("nsenter", f"--net=/proc/{self.network.pid}/ns/net", *command)

    def _run(self, *command):
        sandbox.run(*self.inside(*command))

    def plug(self):
        self.network = Process("unshare", "--net", "sleep", "infinity")
        ours = os.readlink("/proc/self/ns/net")
        sandbox.until(lambda: os.readlink(f"/proc/{self.network.pid}/ns/net") != ours, "a network")
        sandbox.run("ip", "link", "add", "d0", "address", MAC, "type", "veth", "peer", "name", "d0-br")
        sandbox.run("ip", "link", "set", "d0-br", "mtu", 9000, "master", "br0", "up")
        sandbox.run("ip", "link", "set", "d0", "netns", self.network.pid)
        self._run("ip", "link", "set", "lo", "up")
        self._run("ip", "link", "set", "d0", "up")
        for address in ADDRESSES:
            self._run("ip", "address", "add", address, "dev", "d0", *(["nodad"] if ":" in address else []))
        sandbox.await_forwarding("d0-br")

    def unplug(self):
        sandbox.delete_link("d0-br")
        self.network.stop()

    def daemon(self, build, folder, mtu):
        self._run("ip", "link", "set", "d0", "mtu", mtu)
        daemon = Daemon(build, folder, "daemon", 0, "udp", ADDRESSES)
        del daemon.config["eal"]["vdevs"]
        daemon.config["ports"] = [{"device": "udp"}]
        daemon.inside = self.inside("setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")
        return daemon

    def relayed(self, relayed):
        """A relay takes frames as the wire has them."""
        way = "off" if relayed else "on"
        self._run("ethtool", "-K", "d0", "tx", way, "gso", way)
