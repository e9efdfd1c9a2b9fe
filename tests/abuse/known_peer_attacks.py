# SPDX-License-Identifier: BSD-3-Clause
"""Attacks by a station that sees all that passes, and says the next word in a peer's name. What it does not use is the
peer's UDP source port: the daemons check that."""

import re
import struct
import time

import frames
from network_attacks import A, B, MAC_A, MAC_B, MAC_OWN, SECONDS, Sniffer
from sandbox import Failure

LEAST, SECONDS_AT_MOST = 100, 10  # forged packets; if the victim says so little
AHEAD = 4  # packets that it forges for each that it sees
ACK = 0x11
NAK_REMOTE_ACCESS = 0x62
END_A, END_B = (A, MAC_A), (B, MAC_B)  # the victim's requests go from here to there


def refusal(qpn, psn):
    return frames.bth(ACK, qpn, psn, ack=1) + struct.pack(">I", NAK_REMOTE_ACCESS << 24)


def is_request(opcode):
    return opcode < 0x0D or opcode in (0x13, 0x14)


def is_response(opcode):
    return 0x0D <= opcode < 0x13


class KnownPeer:
    """For each packet between two ends that follows() takes, the next ones, which end the connection if one is taken."""

    bulk = False

    def __init__(self, follows, say, source, target):
        self.follows, self.say, self.source, self.target = follows, say, source, target

    def run(self, rig):
        rig.victim.figures()
        daemon = rig.link.a if self.target == END_A else rig.link.b
        dropped, sent, begin = wrong_ports(daemon), 0, time.monotonic()
        with Sniffer(rig.link.captured_at) as sniffer:
            while (elapsed := time.monotonic() - begin) < SECONDS or sent < LEAST and elapsed < SECONDS_AT_MOST:
                for frame in self.forged(sniffer.next()):
                    sent += rig.station.socket.send(frame) > 0
        dropped = wrong_ports(daemon) - dropped
        if not dropped:
            raise Failure("nothing was dropped for its UDP source port")
        return f"{dropped} packets dropped"

    def forged(self, frame):
        (source, from_mac), (target, to_mac) = self.source, self.target
        words = frames.roce_words(frame) if frame.startswith(to_mac + from_mac) else None
        if words is None or not self.follows(words[1]):
            return
        port, _, qpn, psn = words
        for ahead in range(1, AHEAD + 1):
            yield to_mac + MAC_OWN + frames.roce(source, target, self.say(qpn, psn + ahead), source_port=port ^ 1)


def wrong_ports(daemon):
    return sum(map(int, re.findall(r"engine:.* rx_wrong_source_port=(\d+)", daemon.counters())))


def attacks():
    yield "known-peer-requests", KnownPeer(is_request, frames.write_without_key, END_A, END_B)
    yield "known-peer-answers", KnownPeer(is_response, refusal, END_B, END_A)
