# SPDX-License-Identifier: BSD-3-Clause
"""The other end of a shared-memory link (memif 2.0), by hand: just enough for a server to take it."""

import array
import fcntl
import os
import socket
import struct

BYTES, VERSION = 128, 0x0200
ACK, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED = range(1, 8)
TO_SERVER, LOG2_RING, REGION_BYTES = 1, 8, 4 << 20
COOKIE, RING_HEADER = 0x3E31F20, 128


class MemifPeer:
    """with MemifPeer(path) as peer: the client end of a link to the server of that socket. peer.region is the file
    of the memory that it shares: it says that there are REGION_BYTES of it, and there are so many bytes. The file
    can not become shorter if it is sealed."""

    def __init__(self, address, sealed=True, region_bytes=REGION_BYTES):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.address, self.region_bytes = address, region_bytes
        self.sealed, self.connected = sealed, False
        self.region, self.files = None, []

    def __enter__(self):
        return self

    def offer(self):
        """All that comes before the server takes the memory."""
        self.socket.connect(self.address)
        self._hear(HELLO)
        self._say(INIT, struct.pack("<HIB", VERSION, 0, 0))
        self._hear(ACK)
        self.region = os.memfd_create("memif", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.region, self.region_bytes)
        if self.sealed:
            fcntl.fcntl(self.region, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self._say(ADD_REGION, struct.pack("<HQ", 0, REGION_BYTES), self.region)
        self._hear(ACK)
        for flags, offset in ((TO_SERVER, 0), (0, REGION_BYTES // 4)):
            os.pwrite(self.region, struct.pack("<IHH", COOKIE, 0, 0), offset)
            self.files.append(os.eventfd(0, os.EFD_NONBLOCK))
            self._say(ADD_RING, struct.pack("<HHHIBH", flags, 0, 0, offset, LOG2_RING, 0), self.files[-1])
            self._hear(ACK)
        self._say(CONNECT, b"test")

    def is_taken(self):
        """Whether the server takes the memory that was offered."""
        try:
            self._hear(CONNECTED)
            self.connected = True
        except ConnectionError:
            pass
        return self.connected

    def connect(self):
        self.offer()
        if not self.is_taken():
            raise ConnectionError("memif: the memory is not taken")

    def __exit__(self, *_):
        for file in (self.region, *self.files):
            if file is not None:
                os.close(file)
        self.socket.close()

    def _say(self, kind, body, file=None):
        message = (struct.pack("<H", kind) + body).ljust(BYTES, b"\0")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))] if file is not None else []
        self.socket.sendmsg([message], rights)

    def _hear(self, kind):
        got = self.socket.recv(BYTES)
        if len(got) < 2 or struct.unpack_from("<H", got)[0] != kind:
            raise ConnectionError(f"memif: {got[:80]!r} instead of message {kind}")
