# SPDX-License-Identifier: BSD-3-Clause
"""What lies below the transport: traffic classes, VLANs, routes."""

import collections
import socket
import struct

import icrc
from cases import cpus
from failure_cases import nothing_left, scenario
from links import Memif, Veth
from relay import cm_attribute
from sandbox import Failure, run, scratch
from station import REPLY, REQUEST, Station, arp, behind_tags, echo_request, mad, tag
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


# checks W-CM-73[2,3]: every packet of both ends, the CM's too, has the class that the active side
# asked for, and no ECN bit.
def traffic_class(link):
    note = link.captured(lambda: classed_reads(link))
    seen = set()
    for frame, ip, udp in packets(link.capture_path()):
        if traffic_class_of(ip) != TCLASS:
            raise Failure(f"traffic class {traffic_class_of(ip)}, not {TCLASS}: {frame[:80].hex()}")
        seen.add((ip[0] >> 4, frame[6:12], ip[udp + 8] == 0x64))
    of_both(seen, "traffic class")
    return note


REQ, REP = 0x0010, 0x0013
GUID_AT = {REQ: 16, REP: 28}  # in the message


def eui_64(mac):
    return bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:]


# checks W-GID-04[1,2]: the node of either end names itself in REQ and REP by a number that is not 0 and
# not the other's, made from its port's MAC.
def guids(link):
    def pings():
        for one, other in ((link.a, link.b), (link.b, link.a)):
            with other.ping_server():
                one.ping("-a", other.addresses[0], "-C", 1)

    link.captured(pings)
    told = collections.defaultdict(set)
    for frame, ip, udp in packets(link.capture_path()):
        mad = ip[udp + 28:]  # behind UDP, BTH and DETH
        if ip[udp + 8] == 0x64 and struct.unpack_from(">H", mad, 16)[0] in GUID_AT:
            kind, = struct.unpack_from(">H", mad, 16)
            told[frame[6:12]].add((kind, mad[24 + GUID_AT[kind]:32 + GUID_AT[kind]]))
    nodes = [{guid for _, guid in said} for said in told.values()]
    if len(nodes) != 2 or any(len(said) != 2 for said in told.values()) \
            or any(len(node) != 1 or bytes(8) in node for node in nodes) or nodes[0] & nodes[1] \
            or any(eui_64(mac) not in {guid for _, guid in said} for mac, said in told.items()):
        raise Failure(f"GUIDs by MAC, in REQ and REP: {dict(told)}")


Mad = collections.namedtuple("Mad", "kind sender own_id body")


def said_by_cm(path):
    """The messages of the CM in a capture."""
    for frame, ip, udp in packets(path):
        mad = ip[udp + 28:]
        if ip[udp + 8] == 0x64:
            yield Mad(*struct.unpack_from(">H", mad, 16), frame[6:12], mad[24:28], mad[24:])


def flow_port(label):
    return 0xC000 | (label & 0x3FFF) ^ label >> 14


def promised_ports(mads):
    """What each REQ says of its path is right; the source port of packets to each queue pair."""
    ports = {}
    for req in (m for m in mads if m.kind == REQ):
        source, service = (struct.unpack_from(">H", req.body, at)[0] for at in (142, 14))
        label, mtu = int.from_bytes(req.body[88:91], "big") >> 4, 128 << (req.body[50] >> 4)
        if label != (source * 31 + service) & 0xFFFFF or mtu != 1024:
            raise Failure(f"ports {source}, {service}: flow label {label:#x}; path MTU {mtu}")
        reps = {m.body[12:15] for m in mads if m.kind == REP and m.body[4:8] == req.own_id}
        ports.update({qpn: flow_port(label) for qpn in (req.body[32:35], *reps)})
    return ports


# checks W-CM-32[1,2], W-CM-40[1], W-CM-53[1], W-CM-70[1-3], W-CM-71[1,4], W-CM-74[2]: what the REQs of
# both ends, over both families, say of a path, and the packets that go over it; and that two daemons
# begin with other numbers.
def paths(link):
    def pings():
        for one, other in ((link.a, link.b), (link.b, link.a)):
            for address in other.addresses[:2]:
                with other.ping_server("-a", address):
                    one.ping("-a", address, "-C", 2)

    link.captured(pings)
    mads = list(said_by_cm(link.capture_path()))
    ports, numbers = promised_ports(mads), collections.defaultdict(set)
    for m in mads:
        if m.kind in (REQ, REP):
            at = 32 if m.kind == REQ else 12
            numbers[m.sender] |= {m.own_id, m.body[at:at + 3]}
    if len(ports) != 8 or len(numbers) != 2 or set.intersection(*numbers.values()):
        raise Failure(f"queue pairs and IDs of two daemons, by MAC: {dict(numbers)}")
    towards = set()
    for frame, ip, udp in packets(link.capture_path()):
        qpn = ip[udp + 13:udp + 16]
        if ip[8 if ip[0] >> 4 == 4 else 7] != 64:
            raise Failure(f"hop limit: {frame[:80].hex()}")
        if qpn in ports:
            towards.add(qpn)
            if struct.unpack_from(">H", ip, udp)[0] != ports[qpn]:
                raise Failure(f"source port, not {ports[qpn]:#x}: {frame[:80].hex()}")
    if towards != set(ports):
        raise Failure(f"packets to {towards}, connections of {set(ports)}")


def captured_cases(link):
    yield "paths captured", lambda: paths(link)
    yield "traffic class captured", lambda: traffic_class(link)
    yield "GUIDs captured", lambda: guids(link)


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


def datagrams(link):
    """To the other daemon, and to itself, where no wire carries the tag."""
    for far in (link.b, link.a):
        for address in (0, 1):
            run(link.build.ndtest, "datagrams", link.a.socket_path, link.a.addresses[address],
                far.socket_path, far.addresses[address], timeout=60)


def groups(link):
    for address in (0, 1):
        scenario(link, "multicast", address)


def groups_of_two_lcores(build):
    """Members on both lcores of a daemon: one owns the port, the other gets frames from it."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        link.a.config["lcores"] = cpus(2)
        with link:
            groups(link)
            nothing_left(link.a)
            link.judge()


def in_vlan(build):
    """Every operation between two daemons in a VLAN, with the largest packets."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        into_vlan(link)
        with link:
            transfers(link)
            scenario(link, "numbers", 0)
            datagrams(link)
            groups(link)
            link.judge()


def tagged(link):
    """Each frame has the VLAN's tag, with the priority that its traffic class stands for."""
    link.captured(lambda: classed_reads(link))
    seen = set()
    for frame, ip, udp in packets(link.capture_path()):
        kind, tci = struct.unpack_from(">HH", frame, 12)
        if (kind, tci) != (0x8100, TCLASS >> 5 << 13 | VLAN):
            raise Failure(f"tag {kind:04x} {tci:04x}: {frame[:80].hex()}")
        seen.add((ip[0] >> 4, frame[6:12], ip[udp + 8] == 0x64))
    of_both(seen, "VLAN tag")


def tagged_by_hand(link):
    """Queue pairs that no connection brought up are in the VLAN, too."""
    link.captured(lambda: scenario(link, "numbers", 0))
    for frame, _, _ in packets(link.capture_path()):
        kind, tci = struct.unpack_from(">HH", frame, 12)
        if (kind, tci) != (0x8100, VLAN):
            raise Failure(f"tag {kind:04x} {tci:04x}: {frame[:80].hex()}")


def is_reply(frame, tags, start):
    what, got = behind_tags(frame)
    return got == tags and what.startswith(start)


# checks W-PKT-02: a station in the VLAN gets answers of ARP and ping, in the VLAN, behind a tag of
# VLAN 0, too; one that is in none, in another one, or in a VLAN inside another gets none.
def stranger_in_vlan(link):
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
            tagged_by_hand(link)
            stranger_in_vlan(link)
            link.judge()


ROUTER, BEYOND = "192.0.2.9", "203.0.113.9"
DREQ, DREP = 0x0015, 0x0016


# checks W-CM-02[1,3,4]: the answer to a host behind a router goes to the router's address, though the
# question came from another one.
def answered_by_route(build, networked):
    with scratch("ndd-e2e-") as folder:
        link = Veth(build, folder, networked)
        link.a.config["ports"][0]["routes"] = [{"to": "203.0.113.0/24", "via": ROUTER}]
        with link, Station("veth-s", "02:00:00:00:77:99") as station:
            address = link.a.addresses[0]
            asked = arp(REQUEST, station.mac, ROUTER, address)
            told = struct.pack(">HHHBBH", 0x0806, 1, 0x0800, 6, 4, REPLY)
            station.send(asked)
            here = station.hears(lambda f: f[12:].startswith(told) and f[:6] == station.mac, 5)
            if not here:
                raise Failure("no answer to ARP")
            dreq = mad(BEYOND, address, DREQ, struct.pack(">III", 0x11, 0x22, 0x3300))
            station.socket.send(here[6:12] + bytes.fromhex("020000006666") + dreq)

            def router(frame):
                wanted = struct.pack(">HHHBBH", 0x0806, 1, 0x0800, 6, 4, REQUEST)
                if frame[12:].startswith(wanted) and frame[38:42] == socket.inet_aton(ROUTER):
                    station.send(arp(REPLY, station.mac, ROUTER, address, here[6:12]), here[6:12])

            drep = station.hears(lambda f: cm_attribute(f) == DREP, 5, also=router)
            if not drep or drep[:6] != station.mac or drep[26:34] != \
                    socket.inet_aton(address) + socket.inet_aton(BEYOND):
                raise Failure(f"the DREP: {drep and drep[:34].hex()}")
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


def way_of_the_route(build):
    """A client that names no source gets that of the route, though another address is nearer by its bits."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        for daemon in (link.a, link.b):
            daemon.config["ports"][0]["vlans"] = [
                {"id": VLAN, "addresses": VLAN_ADDRESSES[daemon.name][:1]}]
        link.a.config["ports"][0]["vlans"][0]["routes"] = [{"to": "192.0.3.0/24", "via": "198.51.100.2"}]
        link.b.config["ports"][0]["vlans"][0]["addresses"].append("192.0.3.1/24")
        with link:
            with link.b.ping_server("-a", "192.0.3.1") as server:
                link.a.ping("-a", "192.0.3.1", "-C", 1)
                server.expect("198.51.100.1")
            nowhere = link.a.run(build.nddping, "-c", "-a", "192.0.4.1", "-C", 1, check=False)
            if not nowhere.returncode or "ND_NETWORK_UNREACHABLE" not in nowhere.stdout:
                raise Failure(f"a way to where no route leads\n{nowhere.stdout}")
            link.judge()


def many_addresses(build):
    """More of them than one message has room for: clients see them all."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        link.a.config["ports"][0]["vlans"] = [
            {"id": VLAN + v, "addresses": [f"10.{v}.{k}.1/24" for k in range(8)]} for v in range(8)]
        with link:
            scenario(link, "listed", 0)
            link.judge()


def lone_cases(build, networked):
    """Cases with daemons of their own, with ports configured for them."""
    yield "in a VLAN", lambda: in_vlan(build)
    yield "groups of two lcores", lambda: groups_of_two_lcores(build)
    yield "VLAN on the wire", lambda: vlan_on_the_wire(build, networked)
    yield "answer by a route", lambda: answered_by_route(build, networked)
    yield "static routes", lambda: routed(build)
    yield "source of a route", lambda: way_of_the_route(build)
    yield "many addresses", lambda: many_addresses(build)
