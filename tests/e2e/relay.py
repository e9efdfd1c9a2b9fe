# SPDX-License-Identifier: BSD-3-Clause
"""Two daemons and a cable that this process carries frames along, so that it can leave some out."""

import select
import socket
import struct
import threading

import sandbox
from cases import Skip
from links import FAR_INDEX, Link, Veth

# Attributes of the CM's messages.
REQ, MRA, REJ, REP, RTU, DREQ, DREP = 0x0010, 0x0011, 0x0012, 0x0013, 0x0014, 0x0015, 0x0016
SIDR_REQ, SIDR_REP = 0x0017, 0x0018
_ETH_P_ALL, _PACKET_OUTGOING = 3, 4
_ETH, _IPV4, _UDP, _BTH, _DETH = 14, 20, 8, 12, 8
_BTH_AT = _ETH + _IPV4 + _UDP
_ATTRIBUTE_AT = _BTH_AT + _BTH + _DETH + 16


def cm_attribute(frame):
    """What message of the CM it is (over IPv4); None: none."""
    if len(frame) < _ATTRIBUTE_AT + 2 or frame[12:14] != b"\x08\x00" or frame[_ETH] != 0x45 \
            or frame[_BTH_AT - 6:_BTH_AT - 4] != struct.pack("!H", 4791) \
            or frame[_BTH_AT + 5:_BTH_AT + 8] != b"\0\0\1":
        return None
    return struct.unpack_from("!H", frame, _ATTRIBUTE_AT)[0]


def cm_id(frame):
    """The first id of such a message: its sender's, or that of a lookup."""
    return struct.unpack_from("!I", frame, _ATTRIBUTE_AT + 8)[0]


def cm_peer_id(frame):
    """The second: its receiver's, of all but requests."""
    return struct.unpack_from("!I", frame, _ATTRIBUTE_AT + 12)[0]


def req_private_data(frame):
    """What the application says in a REQ, behind rdma_cm's header."""
    return frame[_ATTRIBUTE_AT + 8 + 176:_ATTRIBUTE_AT + 8 + 232]


class Relay(threading.Thread):
    """Between two interfaces; frames for which leave_out(frame) says so end here, and are counted;
    the others leave as alter(frame)."""

    def __init__(self, interfaces, leave_out, alter=lambda frame: frame):
        super().__init__(daemon=True)
        self.leave_out, self.left_out, self.stopped = leave_out, 0, False
        self.alter = alter
        self.ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
                     for _ in interfaces]
        for end, interface in zip(self.ends, interfaces):
            end.bind((interface, 0))

    def _carry(self, source, target):
        frame, address = source.recvfrom(65536)
        if address[2] == _PACKET_OUTGOING:
            return
        if self.leave_out(frame):
            self.left_out += 1
        else:
            target.send(self.alter(frame))

    def run(self):
        while not self.stopped:
            for end in select.select(self.ends, [], [], 0.1)[0]:
                self._carry(end, self.ends[1 - self.ends.index(end)])

    def stop(self):
        self.stopped = True
        self.join()
        for end in self.ends:
            end.close()


class Relayed(Veth):
    """with Relayed(build, folder, leave_out, networked) as link: ... link.relay.left_out"""

    name = "relayed"

    def __init__(self, build, folder, leave_out, networked, *alter, rc=None):
        super().__init__(build, folder, networked, rc=rc)
        self.leave_out, self.alter, self.relay = leave_out, alter, None

    def __enter__(self):
        if not self.networked:
            raise Skip("no-network")
        sandbox.veth("veth-a", "veth-a-br")
        sandbox.veth("veth-b", "veth-b-br", index=FAR_INDEX)
        self.relay = Relay(("veth-a-br", "veth-b-br"), self.leave_out, *self.alter)
        self.relay.start()
        try:
            return Link.__enter__(self)
        except BaseException:
            self.unplug()
            raise

    def unplug(self):
        self.relay.stop()
        super().unplug()
