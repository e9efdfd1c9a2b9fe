# SPDX-License-Identifier: BSD-3-Clause
"""Frames by hand, wrong ones too: from the type field on, as a Station sends them."""

import socket
import struct

import icrc  # of tests/interop

ROCE_PORT = 4791
WRITE_ONLY, NO_KEY = 0x0A, 1
_UDP_AT, _BTH_AT = 14 + 20, 14 + 20 + 8
UDP, ICMP, IGMP, ICMPV6, FRAGMENT6 = 17, 1, 2, 58, 44


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def ipv4(source, target, protocol, payload, first=0x45, tos=0, offset=0x4000, ttl=64, length=None, options=b""):
    header = struct.pack(">BBHHHBBH", first + len(options) // 4, tos,
                         20 + len(options) + len(payload) if length is None else length, 1, offset, ttl, protocol, 0) \
        + socket.inet_aton(source) + socket.inet_aton(target) + options
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return header + payload


def ipv6(source, target, protocol, payload, length=None):
    return struct.pack(">IHBB", 0x60000000, len(payload) if length is None else length, protocol, 255) \
        + socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, target) + payload


def udp(payload, port=ROCE_PORT, source=0xC000, length=None):
    return struct.pack(">HHHH", source, port, 8 + len(payload) if length is None else length, 0) + payload


def bth(opcode, qpn, psn=0, flags=0x40, pkey=0xFFFF, ack=0):
    return struct.pack(">BBHII", opcode, flags, pkey, qpn & 0xFFFFFF, (psn & 0xFFFFFF) | ack << 31)


def reth(address, key, length):
    return struct.pack(">QII", address, key, length)


def write_without_key(qpn, psn):
    """The WRITE of 8 bytes that ends the connection which takes it: there is no such key."""
    return bth(WRITE_ONLY, qpn, psn, ack=1) + reth(0, NO_KEY, 8) + bytes(8)


def roce_words(frame):
    """(UDP source port, opcode, queue pair number, PSN) of a RoCEv2 packet over plain IPv4; None: it is none."""
    if frame[12:15] != b"\x08\x00\x45" or len(frame) < _BTH_AT + 12:
        return None
    port, = struct.unpack_from(">H", frame, _UDP_AT)
    opcode, qpn, psn = struct.unpack_from(">B3xII", frame, _BTH_AT)
    return port, opcode, qpn & 0xFFFFFF, psn & 0xFFFFFF


def roce(source, target, packet, tos=0, good=True, source_port=0xC000):
    """A RoCEv2 packet over IPv4 with the ICRC that it must have, or another."""
    whole = ipv4(source, target, UDP, udp(packet + bytes(4), source=source_port), tos=tos)
    check = icrc.icrc(whole, 20)
    return frame4(whole[:-4] + (check if good else bytes(b ^ 0x5A for b in check)))


def frame4(packet):
    return struct.pack(">H", 0x0800) + packet


def frame6(packet):
    return struct.pack(">H", 0x86DD) + packet


def icmpv6(source, target, kind, body):
    text = struct.pack(">BBH", kind, 0, 0) + body
    pseudo = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, target) \
        + struct.pack(">II", len(text), ICMPV6)
    whole = pseudo + text + b"\0" * (len(text) % 2)
    return frame6(ipv6(source, target, ICMPV6, text[:2] + struct.pack(">H", checksum(whole)) + text[4:]))
