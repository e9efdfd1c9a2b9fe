# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces that the kernel keeps: it goes on with all but RoCEv2, and its addresses, neighbours and
routes are the daemon's. The kernels at both ends share one set of addresses with the daemons."""

import os
import re
import signal
import socket
import sys

import change_cases
import icrc
import port_cases
import sandbox
from capture import Capture
from failure_cases import scenario
from links import ADDRESSES
from port_cases import pings
from sandbox import Failure, until
from transfer_cases import perf

A4, A6 = (a.split("/")[0] for a in ADDRESSES["a"])
B4, B6 = (a.split("/")[0] for a in ADDRESSES["b"])
FAR = "203.0.113.9"
NOBODY = "02:00:00:00:77:99"


def endless(link):
    return link.a.popen(link.build.ndperf, B4, "-t", "send", "--size", "64K", "-D", 600)


# ---- the kernel beside it ----------------------------------------------------------------------------

# In b's network. A datagram to the port of RoCEv2 of one packet, which the daemon gets, and of
# fragments, which the kernel puts together: neither may be answered with an error.
ODDITIES = f"""
import socket, time
for family, address in ((socket.AF_INET, "{A4}"), (socket.AF_INET6, "{A6}")):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.connect((address, 4791))
    for size in (64, 9000, 64, 9000):
        s.send(bytes(size))
        time.sleep(0.1)
"""
# Echo requests of both families, from b's network.
PING = f"""
import os, socket, struct
for family, protocol, kind, reply, to in ((socket.AF_INET, 1, 8, 0, "{A4}"),
                                          (socket.AF_INET6, 58, 128, 129, "{A6}")):
    s = socket.socket(family, socket.SOCK_RAW, protocol)
    s.settimeout(10)
    for number in range(3):
        data = struct.pack(">HH", os.getpid() & 0xFFFF, number) + bytes(40)
        checksum = 0xFFFF - sum(struct.unpack(">22H", data), kind << 8) % 0xFFFF
        s.sendto(struct.pack(">BBH", kind, 0, checksum) + data, (to, 0))
        while True:
            packet = s.recv(2048)
            icmp = packet[20:] if family == socket.AF_INET else packet
            if icmp[0] == reply and icmp[4:] == data:
                break
"""
SERVER = f"""
import socket
s = socket.create_server(("{B4}", 5201))
print("listening", flush=True)
c, _ = s.accept()
n = 0
while data := c.recv(65536):
    n += len(data)
c.close()
print("received", n, flush=True)
"""
TCP_BYTES = 4 << 20


def kernels_traffic(link):
    """TCP, and ping of both families."""
    with sandbox.Process(*link.other(sys.executable, "-c", SERVER), name="TCP server") as server:
        server.expect("listening")
        with socket.create_connection((B4, 5201), timeout=20) as s:
            s.sendall(bytes(TCP_BYTES))
        server.expect(f"received {TCP_BYTES}")
    sandbox.run(*link.other(sys.executable, "-c", PING))


def is_icmp_error(frame):
    """Destination unreachable of either family, behind an Ethernet header."""
    if frame[12:14] == b"\x08\x00":
        return frame[23] == 1 and frame[14 + 4 * (frame[14] & 15)] == 3
    return frame[12:14] == b"\x86\xdd" and frame[20] == 58 and frame[54] == 1


def count(path, **kinds):
    seen = dict.fromkeys(kinds, 0)
    for frame, _ in icrc.frames(path):
        for kind, is_one in kinds.items():
            seen[kind] += is_one(frame)
    return seen


def is_tcp(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 6


def both_at_once(link):
    """The kernels talk by the same addresses at the same time, and no packet is answered by an error."""
    def act():
        with link.b.popen(link.build.ndperf, "-s") as server:
            server.expect("listening")
            with endless(link) as transfer:
                until(lambda: link.a.usage().get("connections", 0) >= 2, "the transfer", every=0.2)
                kernels_traffic(link)
                if not transfer.running():
                    raise Failure(f"the transfer ended\n{transfer.text}")
                transfer.stop(signal.SIGINT)

    note = link.captured(act)
    seen = count(link.capture_path(), error=is_icmp_error, tcp=is_tcp)
    if seen["error"] or not seen["tcp"]:
        raise Failure(f"frames on the wire: {seen}")
    return note


def is_igmp_of(group):
    return lambda frame: frame[12:14] == b"\x08\x00" and frame[23] == 2 and group in frame[34:]


def is_mld_of(group):
    return lambda frame: (frame[12:14] == b"\x86\xdd" and frame[20] == 0 and frame[54] == 58
                          and group in frame[62:])


def groups(link):
    """The kernels join groups in the daemons' name, and tell the network."""
    note = link.captured(lambda: [scenario(link, "multicast", family) for family in (0, 1)] and None)
    seen = count(link.capture_path(), igmp=is_igmp_of(socket.inet_aton("239.1.2.3")),
                 mld=is_mld_of(socket.inet_pton(socket.AF_INET6, "ff15::1:203")))
    if seen["igmp"] < 2 or seen["mld"] < 2:
        raise Failure(f"reports on the wire: {seen}")
    return note


def is_to_roce(frame):
    """A datagram to its port, or a fragment, of either family."""
    if frame[12:14] == b"\x08\x00":
        return frame[23] == 17
    return frame[12:14] == b"\x86\xdd" and frame[20] in (17, 44)


def silence(link):
    """What comes to RoCEv2's port and is none, or comes in fragments, is not answered."""
    path = os.path.join(link.folder, "silence.pcap")
    with Capture(link.captured_at, path):
        sandbox.run(*link.other(sys.executable, "-c", ODDITIES))
    seen = count(path, error=is_icmp_error, datagram=is_to_roce)
    if seen["error"] or seen["datagram"] < 8:
        raise Failure(f"frames on the wire: {seen}")


# ---- addresses ---------------------------------------------------------------------------------------

def address_goes(link):
    """Connections of an address that the kernel loses end, those of another do not; the address may come
    again."""
    extra = "192.0.2.7"
    sandbox.run("ip", "address", "add", extra + "/24", "dev", "veth-a")
    link.a.process.expect(extra + "/24")
    with link.b.popen(link.build.ndperf, "-s") as server:
        server.expect("listening")
        with endless(link) as stays, link.a.popen(
                link.build.ndperf, B4, "--bind", extra, "-t", "send", "--size", "64K", "-D", 600) as ends:
            until(lambda: link.a.usage().get("connections", 0) >= 4, "four connections", every=0.2)
            sandbox.run("ip", "address", "del", extra + "/24", "dev", "veth-a")
            if not ends.wait(20):
                raise Failure(f"a transfer from an address that has gone succeeds\n{ends.text}")
            link.a.process.expect(f"of {extra} to {B4} ends: the kernel has lost its address")
            if not stays.running():
                raise Failure(f"another address's transfer ended\n{stays.text}")
            stays.stop(signal.SIGINT)
    sandbox.run("ip", "address", "add", extra + "/24", "dev", "veth-a")
    until(lambda: link.a.process.text.count(extra + "/24") == 2, "the address again")
    with link.a.ping_server("-a", extra):
        link.b.ping("-a", extra, "-C", 2)
    sandbox.run("ip", "address", "del", extra + "/24", "dev", "veth-a")


# ---- neighbours and routes ---------------------------------------------------------------------------

def mac_of(text):
    return re.search(r"link/ether (\S+)", text).group(1)


def neighbour_moves(link):
    """A connection goes where the kernel says that its peer is."""
    right = mac_of(sandbox.run(*link.other("ip", "link", "show", "veth-b")).stdout)
    wrong = bytes.fromhex(NOBODY.replace(":", ""))

    def neighbour(mac):
        sandbox.run("ip", "neigh", "replace", B4, "lladdr", mac, "dev", "veth-a", "nud", "permanent")

    def act():
        with endless(link) as transfer:
            until(lambda: link.a.usage().get("connections", 0) >= 2, "two connections", every=0.2)
            neighbour(NOBODY)
            until(lambda: wrong in (f[:6] for f, _ in icrc.frames(link.capture_path())),
                  "a frame to the new MAC")
            neighbour(right)
            pings(link.a, link.b)
            sandbox.run("ip", "neigh", "del", B4, "dev", "veth-a")
            pings(link.a, link.b)
            if not transfer.running():
                raise Failure(f"the transfer ended\n{transfer.text}")
            transfer.stop(signal.SIGINT)

    with link.b.popen(link.build.ndperf, "-s") as server:
        server.expect("listening")
        link.captured(act)


def routed(link):
    """An address behind a router of the kernel's is reached by it, and not without a route."""
    sandbox.run(*link.other("ip", "address", "add", FAR + "/32", "dev", "veth-b"))
    link.b.process.expect(FAR + "/32")
    with link.b.ping_server("-a", FAR):
        done = link.a.ping("-a", FAR, "-C", 1, check=False)
        if done.returncode == 0 or "ND_NETWORK_UNREACHABLE" not in done.stdout:
            raise Failure(f"a connection without a route: {done.stdout}")
        sandbox.run("ip", "route", "add", "203.0.113.0/24", "via", B4, "dev", "veth-a")
        link.a.ping("-a", FAR, "-C", 2)
        sandbox.run("ip", "route", "del", "203.0.113.0/24")
    sandbox.run(*link.other("ip", "address", "del", FAR + "/32", "dev", "veth-b"))


def second_daemon(link):
    """Another one on the same interface is refused with a reason."""
    other = link.a.sibling()
    with sandbox.Process(link.build.daemon, "--config", other, name="second daemon") as second:
        if second.wait(20) == 0 or "UDP port 4791 is another's" not in second.text:
            raise Failure(f"no reason in\n{second.text}")


def reloaded(link):
    """A new configuration takes nothing of the kernel's away."""
    with link.b.popen(link.build.ndperf, "-s") as server:
        server.expect("listening")
        with endless(link) as transfer:
            until(lambda: link.a.usage().get("connections", 0) >= 2, "the transfer", every=0.2)
            change_cases.rewrite(link.a)
            pings(link.a, link.b)
            if not transfer.running():
                raise Failure(f"the transfer ended\n{transfer.text}")
            transfer.stop(signal.SIGINT)


def link_goes(link):
    """What the kernel says of the cable is said."""
    sandbox.run("ip", "link", "set", "veth-a-br", "down")
    link.a.process.expect("link down")
    ups = link.a.process.text.count("link up")
    sandbox.run("ip", "link", "set", "veth-a-br", "up")
    until(lambda: link.a.process.text.count("link up") > ups, "link up")
    pings(link.a, link.b)


def cases(link):
    yield from port_cases.captured_cases(link)
    yield "beside the kernel", lambda: both_at_once(link)
    # checks W-MC-01[10]
    yield "groups", lambda: groups(link)
    yield "silence", lambda: silence(link)
    yield "an address goes", lambda: address_goes(link)
    yield "a neighbour moves", lambda: neighbour_moves(link)
    yield "routes", lambda: routed(link)
    yield "second daemon", lambda: second_daemon(link)
    yield "reload", lambda: reloaded(link)
    yield "link goes", lambda: link_goes(link)
