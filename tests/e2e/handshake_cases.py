# SPDX-License-Identifier: BSD-3-Clause
"""What a connection's ends are ready for when a message of the handshake passes. The cable holds each of
them back, asks the end that sent it, in the other end's name, and sends it on when it knows."""

import os
import struct
import sys
import threading

from relay import DREQ, REP, REQ, RTU, Relayed, cm_attribute
from sandbox import Failure, scratch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import icrc  # noqa: E402

_IP, _UDP, _BTH = 14, 34, 42
_MESSAGE = _BTH + 12 + 8 + 24
_WRITE_ONLY, _LAST_REQUEST, _ACK = 0x0A, 0x0C, 0x11
_PSN_MASK = 0xFFFFFF
_ANSWER_S, _SILENCE_S = 20, 0.3


def _u24(frame, at):
    return int.from_bytes(frame[at:at + 3], "big")


def _checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class End:
    """What the handshake says of one end."""

    def __init__(self):
        self.qpn = self.psn = self.first = None
        self.answers = []

    def told(self, frame, qpn_at, psn_at):
        self.mac, self.ip = frame[6:12], frame[_IP + 12:_IP + 16]
        self.qpn, self.psn = _u24(frame, _MESSAGE + qpn_at), _u24(frame, _MESSAGE + psn_at)


def _old_write(source, target):
    """A write of no bytes from one end to the other, as old as can be: an end that is ready
    acknowledges it, and it changes nothing."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 60, 1, 0x4000, 64, 17, 0, source.ip, target.ip)
    ip = ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:]
    udp = struct.pack("!HHHH", 0xC000, 4791, 40, 0)
    bth = struct.pack("!BBHII", _WRITE_ONLY, 0x40, 0xFFFF, target.qpn,
                      1 << 31 | (target.psn - 1) & _PSN_MASK)
    packet = ip + udp + bth + bytes(16)
    return target.mac + source.mac + b"\x08\x00" + packet + icrc.icrc(packet + bytes(4), 20)


class Witness:
    """The relay's leave_out(): True for what is held back."""

    def __init__(self):
        self.relay, self.a, self.b = None, End(), End()
        self.said, self.passed = {}, set()
        self.lock = threading.Lock()

    def _ask(self, kind, frame, sender, other, patience):
        """Hold the message back until its sender has answered, or its time is over."""
        answered = threading.Event()
        with self.lock:
            sender.answers.append(answered)
        ends = self.relay.ends
        towards_sender, onwards = (ends if sender is self.a else ends[::-1])

        def wait():
            self.said[kind] = answered.wait(patience)
            self.passed.add(kind)
            onwards.send(frame)

        threading.Thread(target=wait, daemon=True).start()
        towards_sender.send(_old_write(other, sender))

    def _data(self, frame):
        for sender, other in ((self.a, self.b), (self.b, self.a)):
            if other.qpn is None or _u24(frame, _BTH + 5) != other.qpn:
                continue
            if frame[_BTH] <= _LAST_REQUEST and sender.first is None:
                sender.first = _u24(frame, _BTH + 9)
            if frame[_BTH] == _ACK:
                with self.lock:
                    for answered in sender.answers:
                        answered.set()

    def __call__(self, frame):
        kind = cm_attribute(frame)
        if kind is None:
            if len(frame) >= _BTH + 12 and frame[12:14] == b"\x08\x00" and \
                    frame[_UDP + 2:_UDP + 4] == struct.pack("!H", 4791):
                self._data(frame)
            return False
        if kind == REQ:
            self.a.told(frame, 32, 44)
        elif kind == REP:
            self.b.told(frame, 12, 20)
        if kind not in (REP, RTU, DREQ) or kind in self.passed:
            return False
        if kind not in self.said:
            self.said[kind] = None
            with self.lock:
                self.a.answers, self.b.answers = [], []
            from_a = frame[6:12] == self.a.mac
            sender, other = (self.a, self.b) if from_a else (self.b, self.a)
            self._ask(kind, frame, sender, other, _SILENCE_S if kind == DREQ else _ANSWER_S)
        return True


# checks W-CM-31[1,2], W-CM-35[1,2], W-CM-51[3], W-PSN-04[2,3]
def ready_in_time(build, networked):
    """An end that sends a REP or an RTU serves the other already; an end that sends a DREQ does not any
    more. And each end's first request has the PSN that the other end's message asked for."""
    witness = Witness()
    with scratch() as folder:
        link = Relayed(build, folder, witness, networked)
        with link:
            witness.relay = link.relay
            with link.b.ping_server() as server:
                link.a.ping("-a", link.b.addresses[0], "-C", 1, timeout=60)
                server.stop()
    if witness.said != {REP: True, RTU: True, DREQ: False}:
        raise Failure(f"answers when REP, RTU and DREQ were on their way: {witness.said}")
    for sender, receiver in ((witness.a, witness.b), (witness.b, witness.a)):
        if sender.first != receiver.psn:
            raise Failure(f"first PSN {sender.first}, the other end asked for {receiver.psn}")


def lone_cases(build, networked):
    yield "ready in time", lambda: ready_in_time(build, networked)
