# SPDX-License-Identifier: BSD-3-Clause
"""Attacks by a third station on the network: it sees no frame of others, but knows all standards, and
sends from whatever address it likes."""

import os
import random
import socket
import struct
import time

import frames
from client_attacks import attacker
from relay import REQ, cm_attribute
from sandbox import Failure
from station import ETH_P_ALL, EVERYBODY, REPLY, REQUEST, arp, echo_request, mad, tag

SECONDS = 0.4
MAC_A, MAC_B, MAC_OWN = (bytes.fromhex(f"02000000{end}") for end in ("7701", "7702", "7799"))
A, B, OWN = "192.0.2.1", "192.0.2.2", "192.0.2.77"
A6, OWN6 = "2001:db8::1", "2001:db8::77"
FRAMES = 1600  # different ones of an attack
MESSAGE_AT = 14 + 20 + 8 + 12 + 8 + 24
REP, MRA, REJ, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP, LAP, APR = (
    0x13, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A)

rng = random.Random(15)


def some(make, count=FRAMES):
    return [make() for _ in range(count)]


def stranger():
    return f"192.0.2.{rng.randrange(3, 250)}"


def strange_mac():
    return b"\x02" + rng.randbytes(5)


def bytes_up_to(most):
    return rng.randbytes(rng.randrange(most))


# ---- the host: ARP, neighbour discovery, echo, groups ------------------------------------------------

def solicitation(source, target):
    body = bytes(4) + socket.inet_pton(socket.AF_INET6, target) + b"\x01\x01" + strange_mac()
    return frames.icmpv6(source, target, 135, body)


def advertisement(of, to):
    body = struct.pack(">I", 0x20000000) + socket.inet_pton(socket.AF_INET6, of) + b"\x02\x01" + strange_mac()
    return frames.icmpv6(of, to, 136, body)


def stranger6():
    return f"2001:db8::{rng.randrange(0x100, 0xffff):x}"


def igmp_query():
    text = struct.pack(">BBH4s", 0x11, 1, 0, bytes(4))
    text = text[:2] + struct.pack(">H", frames.checksum(text)) + text[4:]
    return frames.frame4(frames.ipv4(OWN, "224.0.0.1", frames.IGMP, text, ttl=1))


def echo6(body):
    return frames.icmpv6(OWN6, A6, 128, b"\0\7\0\1" + body)


HOST = {
    "arp-requests": lambda: arp(REQUEST, strange_mac(), stranger(), A),
    "arp-replies-unasked": lambda: arp(REPLY, strange_mac(), stranger(), A, MAC_A),
    "arp-claims-peer": lambda: arp(REPLY, strange_mac(), B, A, MAC_A),
    "arp-gratuitous-of-peer": lambda: arp(REQUEST, strange_mac(), B, B),
    "arp-claims-own-address": lambda: arp(REQUEST, strange_mac(), A, A),
    "arp-garbage": lambda: struct.pack(">H", 0x0806) + bytes_up_to(64),
    "nd-solicitations": lambda: solicitation(stranger6(), A6),
    "nd-advertisements-unasked": lambda: advertisement(stranger6(), A6),
    "nd-claims-peer": lambda: advertisement("2001:db8::2", A6),
    "nd-garbage": lambda: frames.icmpv6(OWN6, A6, rng.randrange(133, 138), bytes_up_to(80)),
    "echo-requests": lambda: echo_request(OWN, A),
    "echo-requests-spoofed": lambda: echo_request(stranger(), A),
    "echo-requests-v6": lambda: echo6(bytes_up_to(1000)),
    "igmp-queries": igmp_query,
    "icmp-errors": lambda: frames.frame4(frames.ipv4(OWN, A, frames.ICMP, b"\x03\x04" + bytes_up_to(64))),
}

# ---- IP and UDP ------------------------------------------------------------------------------------

IP = {
    "ip-fragments": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, rng.randbytes(64), offset=0x2000 | rng.randrange(0x1FFF))),
    "ip-fragments-v6": lambda: frames.frame6(frames.ipv6(
        OWN6, A6, frames.FRAGMENT6, b"\x11\0\0\1" + bytes_up_to(64))),
    "ip-options": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, frames.udp(bytes(40)), options=rng.randbytes(4 * rng.randrange(1, 10)))),
    "ip-lengths": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, frames.udp(bytes(40)), length=rng.randrange(65536))),
    "ip-versions": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, frames.udp(bytes(40)), first=rng.randrange(256))),
    "ip-cut": lambda: frames.frame4(frames.ipv4(OWN, A, frames.UDP, frames.udp(bytes(40))))[:2 + rng.randrange(48)],
    "ip-cut-v6": lambda: frames.frame6(frames.ipv6(OWN6, A6, frames.UDP, frames.udp(bytes(40))))[:2 + rng.randrange(64)],
    "ip-protocols": lambda: frames.frame4(frames.ipv4(OWN, A, rng.randrange(256), bytes_up_to(200))),
    "ip-from-itself": lambda: frames.roce(A, A, frames.bth(0x04, rng.randrange(1 << 24)) + bytes(8)),
    "ip-to-everybody": lambda: frames.roce(OWN, "255.255.255.255", frames.bth(0x04, rng.randrange(1 << 24))),
    "udp-lengths": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, frames.udp(bytes(40), length=rng.randrange(65536)))),
    "udp-garbage": lambda: frames.frame4(frames.ipv4(OWN, A, frames.UDP, frames.udp(bytes_up_to(1400)))),
    "udp-other-ports": lambda: frames.frame4(frames.ipv4(
        OWN, A, frames.UDP, frames.udp(bytes_up_to(200), port=rng.randrange(65536)))),
    "vlan-tags": lambda: tag(rng.randrange(65536)) + echo_request(OWN, A),
    "vlan-tags-twice": lambda: tag(rng.randrange(4096)) + tag(rng.randrange(4096)) + echo_request(OWN, A),
    "ether-types": lambda: struct.pack(">H", rng.randrange(65536)) + bytes_up_to(1400),
}

# ---- RoCEv2 ----------------------------------------------------------------------------------------

def packet(opcode=None, qpn=None, body=None, **more):
    opcode = rng.randrange(256) if opcode is None else opcode
    qpn = rng.randrange(1 << 24) if qpn is None else qpn
    return frames.bth(opcode, qpn, rng.randrange(1 << 24), **more) + (bytes_up_to(256) if body is None else body)


def write_to(key):
    return frames.reth(rng.randrange(1 << 47), key, 64) + bytes(64)


ROCE = {
    "roce-opcodes": lambda: frames.roce(OWN, A, packet()),
    "roce-opcodes-of-peer": lambda: frames.roce(B, A, packet()),
    "roce-wrong-icrc": lambda: frames.roce(B, A, packet(), good=False),
    "roce-writes": lambda: frames.roce(B, A, packet(0x0A, body=write_to(rng.randrange(1 << 32)))),
    "roce-reads": lambda: frames.roce(B, A, packet(0x0C, body=frames.reth(0, rng.randrange(1 << 32), 1 << 30))),
    "roce-atomics": lambda: frames.roce(B, A, packet(rng.choice((0x13, 0x14)), body=rng.randbytes(28))),
    "roce-acks": lambda: frames.roce(B, A, packet(0x11, body=rng.randbytes(4))),
    "roce-read-responses": lambda: frames.roce(B, A, packet(rng.choice((0x0D, 0x0E, 0x0F, 0x10)))),
    "roce-cnps": lambda: frames.roce(B, A, packet(0x81, body=bytes(16), flags=0x40)),
    "roce-marked": lambda: frames.roce(B, A, packet(0x0A, body=write_to(1)), tos=3),
    "roce-to-qp-0": lambda: frames.roce(OWN, A, packet(0x64, 0)),
    "roce-to-last-qp": lambda: frames.roce(OWN, A, packet(0x64, 0xFFFFFF)),
    "roce-datagrams": lambda: frames.roce(OWN, A, packet(0x64, body=rng.randbytes(8) + bytes(64))),
    "roce-datagrams-to-group": lambda: frames.roce(OWN, "239.1.2.3", packet(0x64, 0xFFFFFF, rng.randbytes(72))),
    "roce-partitions": lambda: frames.roce(OWN, A, packet(0x64, 1, pkey=rng.randrange(65536))),
    "roce-header-flags": lambda: frames.roce(B, A, packet(flags=rng.randrange(256))),
    "roce-cut": lambda: frames.frame4(frames.ipv4(
        B, A, frames.UDP, frames.udp(packet(rng.randrange(0x18), body=b"")[:rng.randrange(13)]))),
    "roce-pads": lambda: frames.roce(B, A, packet(0x0A, body=write_to(1)[:rng.randrange(80)], flags=0x70)),
}

# What a port of the kernel's UDP sockets has to do with itself: which IPv4 identification it was, who has a path that
# changes packets, whose runs come. By one peer, and by many who each send a little.
UDP = {
    "roce-wrong-icrc-of-strangers": lambda: frames.roce(stranger(), A, packet(), good=False),
    "roce-of-strangers": lambda: frames.roce(stranger(), A, packet()),
    "roce-wrong-icrc-v6": lambda: frames.frame6(frames.ipv6(OWN6, A6, frames.UDP, frames.udp(packet()))),
    "roce-longest": lambda: frames.roce(B, A, packet(body=rng.randbytes(rng.randrange(1400, 1440)))),
    "udp-shortest": lambda: frames.frame4(frames.ipv4(OWN, A, frames.UDP, frames.udp(bytes_up_to(13)))),
}

# ---- the connection manager --------------------------------------------------------------------------

def message(kind, source=OWN, target=A, body=None):
    return mad(source, target, kind, rng.randbytes(232) if body is None else body)


# In a REQ's message: ids, service, GUID, queue pair; then the two ends of each of what names them.
_SERVICE, _GUID, _QPN = slice(8, 16), slice(16, 24), slice(32, 35)
_SOURCES, _TARGETS = (slice(68, 72), slice(156, 160)), (slice(84, 88), slice(172, 176))  # GIDs, rdma_cm's header


def req(template, service, source=OWN, target=A, same_queue_pair=False):
    """A REQ like one that was seen, of another connection."""
    m = bytearray(template)
    m[0:4] = rng.randbytes(4)
    m[_SERVICE] = struct.pack(">Q", service)
    if not same_queue_pair:
        m[_GUID], m[_QPN] = rng.randbytes(8), rng.randbytes(3)
    for places, address in ((_SOURCES, source), (_TARGETS, target)):
        for place in places:
            m[place] = socket.inet_aton(address)
    return message(REQ, source, target, bytes(m))


CLOSED_PORT, DEAF_PORT = (0x0000000001060000 | port for port in (7, 7007))  # 7007: of listener-stands


CM = {
    "cm-req-garbage": lambda t: message(REQ),
    "cm-req-closed-port": lambda t: req(t, CLOSED_PORT),
    "cm-req-spoofed": lambda t: req(t, CLOSED_PORT, stranger()),
    "cm-req-of-peer": lambda t: req(t, CLOSED_PORT, B),
    "cm-req-of-live-queue-pair": lambda t: req(t, CLOSED_PORT, A, B, same_queue_pair=True),
    "cm-req-to-listener": lambda t: req(t, DEAF_PORT),
    "cm-req-to-listener-spoofed": lambda t: req(t, DEAF_PORT, stranger()),
    "cm-req-to-listener-of-peer": lambda t: req(t, DEAF_PORT, B),
    "cm-rep": lambda t: message(REP, B),
    "cm-rtu": lambda t: message(RTU, B),
    "cm-rej": lambda t: message(REJ, B),
    "cm-mra": lambda t: message(MRA, B),
    "cm-dreq": lambda t: message(DREQ, B),
    "cm-drep": lambda t: message(DREP, B),
    "cm-lap": lambda t: message(rng.choice((LAP, APR)), B),
    "cm-sidr-req": lambda t: message(SIDR_REQ),
    "cm-sidr-req-spoofed": lambda t: message(SIDR_REQ, stranger()),
    "cm-sidr-rep": lambda t: message(SIDR_REP, B),
    "cm-attributes": lambda t: message(rng.randrange(65536)),
    "cm-cut": lambda t: message(REQ)[:rng.randrange(40, 300)],
    "mad-classes": lambda t: bytes_changed(message(REQ), 2 + 20 + 8 + 12 + 8, 8),
}


def bytes_changed(frame, at, count):
    """Other bytes there; with an ICRC that is right again."""
    whole = frame[2:at] + rng.randbytes(count) + frame[at + count:-4] + bytes(4)
    return frame[:2] + whole[:-4] + frames.icrc.icrc(whole, 20)


class NetworkAttack:
    """FRAMES frames, again and again, at a rate far below that of a cable."""

    bulk = False

    def __init__(self, make, per_second, to=MAC_A):
        self.make, self.per_second, self.to = make, per_second, to  # make(rig) returns what makes a frame

    def run(self, rig):
        rig.victim.figures()
        whole = [(self.to + MAC_OWN + what).ljust(60, b"\0")[:1514] for what in some(self.make(rig))]
        child = os.fork()
        if child == 0:
            try:
                flood(rig.station.socket, whole, self.per_second)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return ""


class ToListener(NetworkAttack):
    """The same while there is a listener that never answers."""

    def run(self, rig):
        with attacker(rig, "listener-stands", ms=5000):
            return super().run(rig)


def flood(sock, whole, per_second):
    begin, sent = time.monotonic(), 0
    while (elapsed := time.monotonic() - begin) < SECONDS:
        while sent < elapsed * per_second:
            sock.send(whole[sent % len(whole)])
            sent += 1
        time.sleep(0.0005)


class Sniffer:
    """Frames that pass an interface of the bridge; a station that attacks would have to guess them."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((interface, 0))
        self.socket.settimeout(5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def next(self):
        try:
            return self.socket.recv(65536)
        except TimeoutError:
            raise Failure("nothing of the victim seen") from None

    def first_req(self):
        """The message of the first REQ that has passed."""
        while cm_attribute(frame := self.next()) != REQ:
            pass
        return frame[MESSAGE_AT:MESSAGE_AT + 232]


def cm_attacks():
    for name, make in CM.items():
        to = MAC_B if name == "cm-req-of-live-queue-pair" else MAC_A
        kind = ToListener if "listener" in name else NetworkAttack
        yield name, kind(lambda rig, m=make: lambda: m(rig.seen_req), 4000, to)


def attacks():
    for table, per_second in ((HOST, 5000), (IP, 10000), (ROCE, 10000)):
        for name, make in table.items():
            to = EVERYBODY if "everybody" in name or "group" in name else MAC_A
            yield name, NetworkAttack(lambda rig, m=make: m, per_second, to)
    yield from cm_attacks()


def attacks_on_udp():
    """Those that the kernel lets through to a UDP port: ARP, neighbours and IP itself are the kernel's."""
    for table in ({name: IP[name] for name in ("ip-fragments", "ip-options", "udp-lengths", "udp-garbage")}, ROCE, UDP):
        for name, make in table.items():
            to = EVERYBODY if "group" in name else MAC_A
            yield name, NetworkAttack(lambda rig, m=make: m, 10000, to)
    yield from cm_attacks()
