# SPDX-License-Identifier: BSD-3-Clause
"""Links of two daemons over each kind of port that needs no network card."""

import os

import sandbox
from abilities import needs_tun, needs_xdp
from cases import Skip
from links import ADDRESSES, Link, Veth

# Frames of these wait for threads of the kernel as well, on a machine that may be crowded: peers that
# are silent for seconds are no failure here.
PATIENCE = {"timeout": 20}
XDP_MTU = 2200  # 2 KiB payloads: more does not fit a page


class Xdp(Veth):
    """AF_XDP on both ends; interfaces of the daemons' own."""

    name = "af_xdp"
    mtu = XDP_MTU
    cable_mtu = 3000
    needs = staticmethod(needs_xdp)

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, networked, rc=PATIENCE, **more)

    def device(self, name):
        return f"net_af_xdp0,iface=veth-{name}"

    def __enter__(self):
        if self.networked:
            self.needs()
        return super().__enter__()


class Shared(Xdp):
    """AF_XDP on interfaces that the kernel keeps, each end in a network of its own: two machines."""

    name = "shared"

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, networked, **more)
        self.elsewhere = None
        for daemon in (self.a, self.b):
            port = daemon.config["ports"][0]
            for kernels in ("addresses", "mac", "dad"):
                del port[kernels]
            port["shared"] = True

    def other(self, *command):
        """A command, as it is run in b's network."""
        return ("nsenter", "--net=/proc/%d/ns/net" % self.elsewhere.pid, *command)

    def address(self, name, change="add"):
        """Give the interface its addresses, or take them away."""
        for address in ADDRESSES[name]:
            more = ["nodad"] if ":" in address and change == "add" else []
            command = ("ip", "address", change, address, "dev", "veth-" + name, *more)
            sandbox.run(*(command if name == "a" else self.other(*command)))

    def __enter__(self):
        if not self.networked:
            raise Skip("no-network")
        self.needs()
        self.elsewhere = sandbox.Process("unshare", "--net", "sleep", "infinity")
        ours = os.readlink("/proc/self/ns/net")
        sandbox.until(lambda: os.readlink(f"/proc/{self.elsewhere.pid}/ns/net") != ours, "a network")
        self.b.inside = self.other()
        try:
            return super().__enter__()
        except BaseException:
            self.elsewhere.stop(9)
            raise

    def plug(self):
        # The bridge is in a's network, and Linux answers for an address at every interface it has.
        sandbox.sysctl("net.ipv4.conf.all.arp_ignore", 1)
        super().plug()
        sandbox.run("ip", "link", "set", "veth-b", "netns", self.elsewhere.pid)
        sandbox.sysctl("net.ipv6.conf.veth-a.disable_ipv6", 0)
        sandbox.run(*self.other("ip", "link", "set", "lo", "up"))
        sandbox.run(*self.other("ip", "link", "set", "veth-b", "up"))
        for name in "ab":
            self.address(name)

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            self.elsewhere.stop(9)


class Udp(Link):
    """The kernel's UDP sockets, over loopback: two hosts of 127.0.0.0/8 that other runs do not have."""

    name = "udp"

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, rc=PATIENCE, **more)
        self.networked = networked
        net = os.getpid() % 65536
        for daemon, host in ((self.a, 1), (self.b, 2)):
            addresses = [f"127.{net >> 8}.{net & 255}.{host}/8"]
            if networked:
                addresses.append(f"2001:db8::{host}/128")
            del daemon.config["eal"]["vdevs"]
            daemon.config["ports"] = [{"device": "udp", "addresses": addresses}]
            daemon.addresses = [a.split("/")[0] for a in addresses]

    def device(self, name):
        return "udp"

    def __enter__(self):
        if self.networked:
            sandbox.sysctl("net.ipv6.conf.lo.disable_ipv6", 0)
        for daemon in (self.a, self.b) if self.networked else ():
            sandbox.run("ip", "address", "add", daemon.addresses[1], "dev", "lo", "nodad")
        try:
            return super().__enter__()
        except BaseException:
            self.unplug()
            raise

    def unplug(self):
        for daemon in (self.a, self.b) if self.networked else ():
            sandbox.run("ip", "address", "del", daemon.addresses[1], "dev", "lo")

    def __exit__(self, *error):
        super().__exit__(*error)
        self.unplug()


class UdpNetwork(Shared):
    """The kernel's UDP sockets in two networks. What leaves them is segmented by the kernel, so that a capture has
    what a card would put on the wire."""

    name = "udp network"
    needs = staticmethod(lambda: None)

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, networked, **more)
        for daemon in (self.a, self.b):
            del daemon.config["eal"]["vdevs"]
            daemon.config["ports"] = [{"device": "udp"}]

    def plug(self):
        super().plug()
        whole = ("ip", "link", "set", "veth-a", "gso_max_segs", "1")
        sandbox.run(*whole)
        sandbox.run(*self.other(*("veth-b" if word == "veth-a" else word for word in whole)))


class Tap(Link):
    """Two interfaces that the daemons make, plugged into a bridge."""

    name = "tap"
    mtu = 1500

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, rc=PATIENCE, **more)
        self.networked, self.captures = networked, 0

    def device(self, name):
        return f"net_tap0,iface=tap-{name}"

    captured, capture_path = Veth.captured, Veth.capture_path
    captured_at = "tap-a"

    def __enter__(self):
        if not self.networked:
            raise Skip("no-network")
        needs_tun()
        sandbox.bridge("bridge")
        try:
            super().__enter__()
            for name in ("tap-a", "tap-b"):
                sandbox.run("ip", "link", "set", name, "master", "bridge", "up")
        except BaseException:
            sandbox.delete_link("bridge")
            raise
        return self

    def __exit__(self, *error):
        super().__exit__(*error)
        sandbox.delete_link("bridge")


class Vhost(Link):
    """vhost-user at one end, as a virtual switch has it; virtio-user at the other, as a guest has."""

    name = "vhost-user"

    def __init__(self, build, folder, **more):
        super().__init__(build, folder, rc=PATIENCE, **more)

    def device(self, name):
        path = os.path.join(self.folder, "vhost.sock")
        if name == "a":
            return f"net_vhost0,iface={path},queues=1,client=1"
        return f"net_virtio_user0,path={path},queues=1,queue_size=1024,server=1"

    def ends(self):
        """The guest first: virtio-user may abort a process that closes the port while the host goes (doc/ports.md)."""
        return self.b, self.a
