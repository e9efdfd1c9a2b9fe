# SPDX-License-Identifier: BSD-3-Clause
"""What lies below the transport: traffic classes."""

import icrc
from sandbox import Failure
from transfer_cases import perf

TCLASS = 26 << 2


def packets(path):
    """RoCEv2 packets of a capture: (frame, IP packet, UDP offset)."""
    for frame, _ in icrc.frames(path):
        found = icrc.roce_packet(frame)
        if found:
            yield frame, *found


def traffic_class_of(ip):
    return ip[1] if ip[0] >> 4 == 4 else (ip[0] << 4 | ip[1] >> 4) & 0xFF


def traffic_class(link):
    """checks W-CM-73: every packet of both ends, the CM's too, has the class that the active side
    asked for, and no ECN bit."""
    note = link.captured(lambda: [perf(link, "-T", TCLASS, "--size", "5000", "-n", 8, "-t", "read",
                                       address=address) for address in (0, 1)])
    seen = set()
    for frame, ip, udp in packets(link.capture_path()):
        if traffic_class_of(ip) != TCLASS:
            raise Failure(f"traffic class {traffic_class_of(ip)}, not {TCLASS}: {frame.hex()}")
        seen.add((ip[0] >> 4, frame[6:12], ip[udp + 8] == 0x64))
    if len(seen) != 8:
        raise Failure(f"not of both families, both ends, data and CM: {seen}")
    return note


def captured_cases(link):
    yield "traffic class captured", lambda: traffic_class(link)
