#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""icrc.py FILE.pcap...: check the invariant CRC of every RoCEv2 frame in captures.

Written from the standard alone, with zlib's CRC-32: it shares no line with the engine, nor any idea
but the bytes on the wire. One line per file; exit status 1 if a frame fails."""

import collections
import struct
import sys
import zlib

ROCE_PORT = 4791
PCAP_MAGIC = {0xA1B2C3D4: "<", 0xA1B23C4D: "<", 0xD4C3B2A1: ">", 0x4D3CB2A1: ">"}


def frames(path):
    """Ethernet frames of a classic pcap file: (captured bytes, length on the wire)."""
    with open(path, "rb") as f:
        data = f.read()
    order = PCAP_MAGIC[struct.unpack_from("<I", data)[0]]
    at = 24
    while at + 16 <= len(data):
        captured, length = struct.unpack_from(order + "II", data, at + 8)
        if at + 16 + captured > len(data):
            break  # tcpdump was still writing this one
        yield data[at + 16:at + 16 + captured], length
        at += 16 + captured


def roce_packet(frame):
    """The IP packet without Ethernet padding, and its UDP offset; None if it is no RoCEv2."""
    at = 12
    (kind,) = struct.unpack_from(">H", frame, at)
    while kind in (0x8100, 0x88A8):
        at += 4
        (kind,) = struct.unpack_from(">H", frame, at)
    ip = frame[at + 2:]
    if kind == 0x0800 and len(ip) >= 28 and ip[9] == 17:
        if struct.unpack_from(">H", ip, 6)[0] & 0x3FFF:
            return None  # a fragment: RoCEv2 forbids them
        udp = (ip[0] & 15) * 4
        ip = ip[:struct.unpack_from(">H", ip, 2)[0]]
    elif kind == 0x86DD and len(ip) >= 48 and ip[6] == 17:
        udp = 40
        ip = ip[:40 + struct.unpack_from(">H", ip, 4)[0]]
    else:
        return None
    return (ip, udp) if struct.unpack_from(">H", ip, udp + 2)[0] == ROCE_PORT else None


def icrc(ip, udp):
    """Over 8 bytes of ones and the packet, with ones for what may change on the way."""
    masked = bytearray(ip[:-4])
    if ip[0] >> 4 == 4:
        masked[1] = 0xFF  # DSCP and ECN
        masked[8] = 0xFF  # time to live
        masked[10:12] = b"\xff\xff"  # header checksum
    else:
        masked[0] |= 0x0F  # traffic class, flow label
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF  # hop limit
    masked[udp + 6:udp + 8] = b"\xff\xff"  # UDP checksum
    masked[udp + 12] = 0xFF  # BTH: FECN, BECN, reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


Survey = collections.namedtuple("Survey", "frames bad senders opcodes")


def survey(path):
    """Count RoCEv2 frames and wrong ICRCs; count frames per source address and per BTH opcode."""
    total = bad = 0
    senders, opcodes = collections.Counter(), collections.Counter()
    for frame, length in frames(path):
        found = roce_packet(frame)
        if not found:
            continue
        ip, udp = found
        total += 1
        if len(frame) < length or len(ip) < udp + 24 or icrc(ip, udp) != ip[-4:]:
            bad += 1
        senders[bytes(ip[12:16] if ip[0] >> 4 == 4 else ip[8:24])] += 1
        opcodes[ip[udp + 8]] += 1
    return Survey(total, bad, senders, opcodes)


def main():
    status = 0
    for path in sys.argv[1:]:
        s = survey(path)
        print(f"{path}: {s.frames} RoCEv2 frames, {s.bad} with a wrong ICRC, {len(s.senders)} senders")
        status |= s.bad > 0
    return status


if __name__ == "__main__":
    sys.exit(main())
