# SPDX-License-Identifier: BSD-3-Clause
"""What lies below the transport: traffic classes, VLANs, routes."""

import struct

import icrc
from failure_cases import scenario
from links import Memif, Veth
from sandbox import Failure, scratch
from station import REPLY, REQUEST, Station, arp, behind_tags, echo_request, tag
from transfer_cases import perf

TCLASS = 26 << 2
VLAN = 100
VLAN_ADDRESSES = {"a": ["198.51.100.1/24", "2001:db8:100::1/64"],
                  "b": ["198.51.100.2/24", "2001:db8:100::2/64"]}


# ---- captures ------------------------------------------------------------------------------------

def packets(path):
    """RoCEv2 packets of a capture: (frame, IP packet, UDP offset)."""
    for frame, _ in icrc.frames(path):
        found = icrc.roce_packet(frame)
        if found:
            yield frame, *found


def traffic_class_of(ip):
    return ip[1] if ip[0] >> 4 == 4 else (ip[0] << 4 | ip[1] >> 4) & 0xFF


def of_both(seen, what):
    """Of both families, both ends, data and CM."""
    if len(seen) != 8:
        raise Failure(f"{what}: not of both families, both ends, data and CM: {seen}")


def classed_reads(link):
    return [perf(link, "-T", TCLASS, "--size", "5000", "-n", 8, "-t", "read", address=address)
            for address in (0, 1)]


def traffic_class(link):
    """checks W-CM-73: every packet of both ends, the CM's too, has the class that the active side
    asked for, and no ECN bit."""
    note = link.captured(lambda: classed_reads(link))
    seen = set()
    for frame, ip, udp in packets(link.capture_path()):
        if traffic_class_of(ip) != TCLASS:
            raise Failure(f"traffic class {traffic_class_of(ip)}, not {TCLASS}: {frame.hex()}")
        seen.add((ip[0] >> 4, frame[6:12], ip[udp + 8] == 0x64))
    of_both(seen, "traffic class")
    return note


def captured_cases(link):
    yield "traffic class captured", lambda: traffic_class(link)


# ---- VLANs ---------------------------------------------------------------------------------------

def into_vlan(link, **more):
    """Move the daemons' addresses into a VLAN, before they start."""
    for daemon in (link.a, link.b):
        port = daemon.config["ports"][0]
        port["addresses"] = []
        port["vlans"] = [{"id": VLAN, "addresses": VLAN_ADDRESSES[daemon.name], **more}]
        daemon.addresses = [a.split("/")[0] for a in VLAN_ADDRESSES[daemon.name]]


def transfers(link):
    for operation in ("write", "send", "read"):
        for address in (0, 1):
            perf(link, "-t", operation, "--size", "100000", "-n", 50, address=address)


def in_vlan(build):
    """Every operation between two daemons in a VLAN, with the largest packets."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        into_vlan(link)
        with link:
            transfers(link)
            scenario(link, "numbers", 0)
            link.judge()


def tagged(link):
    """Each frame has the VLAN's tag, with the priority that its traffic class stands for."""
    link.captured(lambda: classed_reads(link))
    seen = set()
    for frame, ip, udp in packets(link.capture_path()):
        kind, tci = struct.unpack_from(">HH", frame, 12)
        if (kind, tci) != (0x8100, TCLASS >> 5 << 13 | VLAN):
            raise Failure(f"tag {kind:04x} {tci:04x}: {frame.hex()}")
        seen.add((ip[0] >> 4, frame[6:12], ip[udp + 8] == 0x64))
    of_both(seen, "VLAN tag")


def is_reply(frame, tags, start):
    what, got = behind_tags(frame)
    return got == tags and what.startswith(start)


def stranger_in_vlan(link):
    """checks W-PKT-02: a station in the VLAN gets answers of ARP and ping, in the VLAN, behind a tag of
    VLAN 0, too; one that is in none, in another one, or in a VLAN inside another gets none."""
    address, here = link.a.addresses[0], tag(VLAN)
    with Station("veth-s", "02:00:00:00:77:99") as station:
        ask = arp(REQUEST, station.mac, "198.51.100.9", address)
        told = struct.pack(">H", 0x0806) + struct.pack(">HHBBH", 1, 0x0800, 6, 4, REPLY)
        for tags in (here, tag(6 << 13) + here):
            station.send(ask, tags=tags)
            answer = station.hears(lambda f: is_reply(f, here, told), 5)
            if not answer:
                raise Failure(f"no answer to ARP behind {tags.hex()}")
        mac = answer[6:12]
        station.send(echo_request("198.51.100.9", address), mac, here)
        if not station.hears(lambda f: is_reply(f, here, b"\x08\x00\x45") and f[38] == 0, 5):
            raise Failure("no answer to a ping in the VLAN")
        for tags in (b"", tag(VLAN + 1), tag(VLAN + 1) + here, here + here):
            station.send(ask, tags=tags)
            station.send(echo_request("198.51.100.9", address), mac, tags)
        # Behind those an answer to this, and to nothing else.
        station.send(arp(REQUEST, station.mac, "198.51.100.10", address), tags=here)
        heard = []
        last = station.hears(lambda f: is_reply(f, here, told) and b"\xc6\x33\x64\x0a" in f, 5,
                             also=heard.append)
        extra = [f.hex() for f in heard if f[6:12] == mac and f[:6] == station.mac and f != last]
        if not last or extra:
            raise Failure(f"answers to frames of other VLANs: {extra}")


def vlan_on_the_wire(build, networked):
    with scratch("ndd-e2e-") as folder:
        link = Veth(build, folder, networked)
        into_vlan(link)
        with link:
            tagged(link)
            stranger_in_vlan(link)
            link.judge()


# ---- routes --------------------------------------------------------------------------------------

FAR = ["203.0.113.1", "2001:db8:f::1"]


def routed(build):
    """An address of b's that is on none of a's prefixes is reached by a static route."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        link.a.config["ports"][0]["routes"] = [{"to": "203.0.113.0/24", "via": "192.0.2.2"},
                                               {"to": "2001:db8:f::/48", "via": "2001:db8::2"}]
        link.b.config["ports"][0]["addresses"] += [FAR[0] + "/24", FAR[1] + "/64"]
        with link:
            for far in FAR:
                with link.b.ping_server("-a", far):
                    link.a.ping("-a", far, "-C", 3, "-S", 4000)
            link.judge()


def lone_cases(build, networked):
    """Cases with daemons of their own, whose ports are configured for them."""
    yield "in a VLAN", lambda: in_vlan(build)
    yield "VLAN on the wire", lambda: vlan_on_the_wire(build, networked)
    yield "static routes", lambda: routed(build)
