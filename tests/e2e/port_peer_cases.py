# SPDX-License-Identifier: BSD-3-Clause
"""Peers of ports that take away memory which both ends use: their own link ends, and nothing else."""

import os
import signal

from links import Memif
from memif_peer import REGION_BYTES, MemifPeer
from port_links import Vhost
from sandbox import Failure, scratch, until
from transfer_cases import perf


class TwoMemifs(Memif):
    """Daemon a has a second memif, with a peer of the test's."""

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.second = os.path.join(folder, "second.sock")
        self.a.config["eal"]["vdevs"].append(
            f"net_memif1,role=server,id=0,socket-abstract=no,socket={self.second}")
        self.a.config["ports"].append({"device": "net_memif1", "addresses": ["198.51.100.1/24"], "dad": "off"})


def memif_refused(build, reason, **flaw):
    """The peer's memory is not taken, and it and the log are told why; a connection of another port goes on."""
    with scratch("ndd-e2e-") as folder, TwoMemifs(build, folder) as link:
        server = link.b.popen(build.ndperf, "-s")
        server.expect("listening")
        with server, link.a.popen(build.ndperf, link.b.addresses[0], "-D", 2) as client:
            until(lambda: link.a.requests() > 100, "transfer under way")
            with MemifPeer(link.second, **flaw) as peer:
                try:
                    peer.connect()
                    raise Failure("the memory is taken")
                except ConnectionError as refusal:
                    if reason not in str(refusal):
                        raise Failure(f"not told {reason}: {refusal}") from None
                if not peer.sealed:
                    os.ftruncate(peer.region, 0)
                if client.wait(60):
                    raise Failure(f"the transfer of the other port: {client.text}")
        # The next peer is judged by its own memory.
        with MemifPeer(link.second) as peer:
            peer.connect()
            link.a.process.expect("net_memif1: link up")
        link.judge()
        if reason not in link.a.process.text:
            raise Failure("no word in the log of memory that was not taken")


def memory_of(process):
    """The files that a daemon without huge pages has its memory in."""
    fds = f"/proc/{process.pid}/fd"
    return [os.path.join(fds, fd) for fd in os.listdir(fds)
            if "memfd:nohuge" in os.readlink(os.path.join(fds, fd))]


def vhost_guest(build):
    """A guest that stands still loses its memory: its host lives, and serves the next one."""
    with scratch("ndd-e2e-") as folder, Vhost(build, folder) as link:
        link.a.process.expect("net_vhost0: link up")
        perf(link, "-t", "write", "--size", "64K", "-n", 50)
        link.b.process.kill(signal.SIGSTOP)
        for path in memory_of(link.b.process):
            os.truncate(path, 0)
        link.a.process.expect("taken away memory")
        link.a.process.expect("net_vhost0: link down")
        link.b.process.kill()
        link.b.process.wait()
        link.b.start()
        until(lambda: link.a.process.text.count("net_vhost0: link up") == 2, "the link up again")
        perf(link, "-t", "write", "--size", "64K", "-n", 50)
        if " memory_lost=1 " not in link.a.counters():
            raise Failure("the loss is not counted once")
        link.judge()


def lone_cases(build):
    yield "memif peer whose memory is unsealed", lambda: memif_refused(build, "F_SEAL_SHRINK", sealed=False)
    yield "memif peer whose memory is short", lambda: memif_refused(
        build, "not as large as the peer says", region_bytes=REGION_BYTES // 2)
    yield "vhost-user guest whose memory is cut off", lambda: vhost_guest(build)
