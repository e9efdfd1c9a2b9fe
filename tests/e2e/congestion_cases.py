# SPDX-License-Identifier: BSD-3-Clause
"""A network that marks what is ECN-capable, between two daemons that react to that."""

import collections
import re
import signal

from relay import Relayed
from sandbox import Failure, scratch, until
from transfer_cases import perf

ECT0, CE = 2, 3
ACK, MAD, CNP = 0x11, 0x64, 0x81
MARK_EACH = 4
_IPV4, _UDP_PORT, _OPCODE = 14, 36, 42


class Switch:
    """Marks every fourth of the ECN-capable data frames (IPv4), and remembers what all of them said."""

    def __init__(self):
        self.said = collections.defaultdict(set)  # traffic classes by opcode
        self.data, self.marks = 0, 0

    def __call__(self, frame):
        if len(frame) <= _OPCODE or frame[12:15] != b"\x08\x00\x45" \
                or frame[_UDP_PORT:_UDP_PORT + 2] != b"\x12\xb7":
            return frame
        tos, opcode = frame[_IPV4 + 1], frame[_OPCODE]
        self.said[opcode].add(tos)
        if tos & 3 != ECT0 or opcode == CNP:
            return frame
        self.data += 1
        if self.data % MARK_EACH:
            return frame
        self.marks += 1
        marked = bytearray(frame)
        marked[_IPV4 + 1] |= CE
        total = (~int.from_bytes(frame[_IPV4 + 10:_IPV4 + 12], "big") & 0xFFFF) + 1
        marked[_IPV4 + 10:_IPV4 + 12] = (~(total + (total >> 16)) & 0xFFFF).to_bytes(2, "big")
        return bytes(marked)


def counters(daemon):
    """What the engine of a daemon has counted."""
    begin = len(daemon.process.text)
    daemon.process.kill(signal.SIGUSR1)
    until(lambda: re.search(r"sessions: \d+\n", daemon.process.text[begin:]), "counters")
    found = collections.Counter()
    for line in re.findall(r"shard \d+ engine:(.*)", daemon.process.text[begin:]):
        for name, number in re.findall(r"(\w+)=(\d+)", line):
            found[name] += int(number)
    return found


def marked(build, networked):
    """Data says ECT(0), and nothing else does; marks come back as CNPs, and slow the sender down."""
    switch = Switch()
    with scratch() as folder:
        link = Relayed(build, folder, lambda frame: False, networked, switch)
        for daemon in (link.a, link.b):
            daemon.config["ports"][0]["ecn"] = True
        with link:
            for operation in ("write", "read"):
                perf(link, "-t", operation, "--size", "100000", "-n", 30)
            judge(switch, counters(link.a), counters(link.b))


def judge(switch, a, b):
    for opcode, classes in switch.said.items():
        allowed = {CNP: {0xC2}, ACK: {0}, MAD: {0}}.get(opcode, {ECT0})
        if classes - allowed:
            raise Failure(f"opcode {opcode:#x} has the traffic classes {classes}")
    if not switch.marks or CNP not in switch.said:
        raise Failure(f"{switch.marks} marks, no CNP: {dict(switch.said)}")
    for sender, receiver in ((a, b), (b, a)):
        if not receiver["np_cnp_sent"] or not sender["rp_rate_cuts"] \
                or sender["rp_cnp_handled"] > receiver["np_cnp_sent"] or sender["rp_cnp_ignored"]:
            raise Failure(f"{switch.marks} marks; sender {dict(sender)}, receiver {dict(receiver)}")
    if a["np_ecn_marked"] + b["np_ecn_marked"] > switch.marks:
        raise Failure(f"{switch.marks} marks, {a} and {b}")


# checks W-CC-01[1,2,5], W-CC-02[4], W-CC-07[1,2]
def lone_cases(build, networked):
    yield "congestion", lambda: marked(build, networked)
