# SPDX-License-Identifier: BSD-3-Clause
"""A station on the bridge that sends and reads whole frames: ARP and ICMP by hand, with tags or without.
It shares no line with the daemon, nor with the kernel's idea of a VLAN."""

import select
import socket
import struct
import time

import frames
import sandbox

_SOL_PACKET, _PACKET_AUXDATA = 263, 8
_VLAN_VALID = 0x10  # of tpacket_auxdata.tp_status: the kernel took a tag away
ETH_P_ALL = 3
EVERYBODY = b"\xff" * 6
NOBODY = bytes(6)
REQUEST, REPLY = 1, 2


def tag(tci):
    return struct.pack(">HH", 0x8100, tci)


def arp(operation, mac, ip, target_ip, target_mac=NOBODY):
    return struct.pack(">HHHBBH", 0x0806, 1, 0x0800, 6, 4, operation) + mac + socket.inet_aton(ip) \
        + target_mac + socket.inet_aton(target_ip)


def echo_request(ip, target_ip):
    icmp = struct.pack(">BBHHH", 8, 0, 0, 7, 1) + b"dpdk-ndd" * 4
    icmp = icmp[:2] + struct.pack(">H", frames.checksum(icmp)) + icmp[4:]
    return frames.frame4(frames.ipv4(ip, target_ip, frames.ICMP, icmp, offset=0))


def mad(ip, target_ip, kind, message):
    """A message of the CM, from its attribute and what is behind the MAD's header."""
    data = struct.pack(">BBBBIQHHI", 1, 7, 2, 3, 0, 0x1234, kind, 0, 0) + message.ljust(232, b"\0")
    deth = struct.pack(">II", 0x80010000, 1)
    return frames.roce(ip, target_ip, frames.bth(0x64, 1, psn=7) + deth + data)


class Station:
    """with Station("veth-s", "02:...") as s: one more cable in the bridge, and what is on it."""

    def __init__(self, name, mac, bridge="bridge"):
        self.name, self.bridge = name, bridge
        self.mac = bytes.fromhex(mac.replace(":", ""))

    def __enter__(self):
        sandbox.veth(self.name, self.name + "-br", master=self.bridge)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((self.name, 0))
        self.socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        return self

    def __exit__(self, *_):
        self.socket.close()
        sandbox.delete_link(self.name)

    def send(self, what, to=EVERYBODY, tags=b""):
        """what: from the type field on."""
        self.socket.send((to + self.mac + tags + what).ljust(60, b"\0"))

    def _read(self):
        data, aux, _, address = self.socket.recvmsg(16384, 256)
        for level, kind, value in aux:
            if level == _SOL_PACKET and kind == _PACKET_AUXDATA:
                status, tci = struct.unpack_from("=I12xH", value)
                if status & _VLAN_VALID:
                    data = data[:12] + tag(tci) + data[12:]
        return data if address[2] != socket.PACKET_OUTGOING else b""

    def hears(self, wanted, seconds, also=None):
        """The first frame that wanted() takes, within that time; else None. also() sees each frame."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left)[0]:
                break
            frame = self._read()
            if also and frame:
                also(frame)
            if frame and wanted(frame):
                return frame
        return None


def behind_tags(frame):
    """What is behind the tags of a frame, and the tags."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return frame[at:], frame[12:at]
