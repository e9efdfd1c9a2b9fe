# SPDX-License-Identifier: BSD-3-Clause
"""What the machine, and DPDK on it, can do at most."""

import os
import re
import time

import readings
from cases import Skip, program
from daemon import memif
from sandbox import Failure, Process, run, until

FRAMES = (64, 4200)  # bytes; the second carries 4096 of a message
# As many buffers as a daemon of one port and one lcore has, and as large. Before the size of frames, which
# is judged by them, and not heeded if they are too small.
BUFFERS = ("--total-num-mbufs=6144", "--mbuf-size=8320")


def probes(place):
    yield "limits/memory and cores", lambda: limits(place)
    for size in FRAMES:
        yield f"testpmd/{size} B tx to rx", lambda s=size: testpmd(place, s, "rxonly", "txonly")
        yield f"testpmd/{size} B echo", lambda s=size: testpmd(place, s, "io", "io")


def limits(place):
    """On the first CPU, and across the two."""
    command = ["taskset", "-c", place.cpus[0], program(place.build.folder, "tests/bench/limits"),
               "--us", 3000 if place.quick else 20000]
    if place.two_cores:
        command[1:3] = ["-c", "%d,%d" % place.cpus]
        command += ["--cpus", "%d,%d" % place.cpus]
    found = {}
    for name, ns in readings.limits(run(*command).stdout).items():
        what, _, size = name.partition(" ")
        named = f"{what} {size.replace(' ', ' B ', 1) if ' ' in size else size + ' B'}" \
            if what in ("copy", "crc", "copy+crc") else name
        found["limits/" + named] = (ns, "ns")
    return found


class Testpmd(Process):
    """One end, forwarding on the CPU that a daemon's lcore has there, and doing as it is told. Into a pipe it
    would say nothing until there are pages of it."""

    def __init__(self, place, folder, role, cpu, mode, size):
        super().__init__("stdbuf", "-oL", "dpdk-testpmd", "--no-huge", "--no-pci", "--no-telemetry", "-m", 256,
                         f"--file-prefix=ndd-bench-{os.getpid()}-{role}", f"--lcores=0@{cpu},1@{cpu}",
                         "--vdev=" + memif(role, folder), "--", "-i",
                         "--port-topology=loop", "--no-lsc-interrupt", "--disable-link-check",
                         f"--forward-mode={mode}", *BUFFERS, f"--txpkts={size}", name="testpmd " + role, stdin=-1,
                         env={**os.environ, "RUNTIME_DIRECTORY": folder, "XDG_RUNTIME_DIR": folder})
        self.expect("testpmd> ")

    def linked(self):
        begin = len(self.text)
        self.told("show port info 0")
        until(lambda: "testpmd> " in self.text[begin:] or not self.running(), self.name + " answers")
        return "Link status: up" in self.text[begin:]

    def told(self, command):
        if not self.running():
            raise Failure(f"{self.name} ended by itself (exit {self.wait(5)})\n{self.text[-2000:]}")
        self.say(command + "\n")


def asked_after(server, seconds, size):
    """Frames a second that came in since it was asked last."""
    begin = len(server.text)
    time.sleep(seconds)
    server.told("show port stats 0")
    until(lambda: re.search(r"Tx-pps[^#]*#{20}", server.text[begin:]), "testpmd's figures")
    return readings.testpmd(server.text[begin:], size)


def testpmd(place, size, server_mode, client_mode):
    if not place.has("dpdk-testpmd"):
        raise Skip("not-installed")
    seconds = 0.3 if place.quick else 1
    with place.scratch() as folder, \
            Testpmd(place, folder, "server", place.cpus[0], server_mode, size) as server, \
            Testpmd(place, folder, "client", place.cpus[1], client_mode, size) as client:
        for end in (server, client):
            until(end.linked, end.name + " has a link", every=0.1)
        server.told("start")
        # Frames that are echoed for ever: half of what the rings hold.
        begin = "start tx_first 4" if client_mode == "io" else "start"
        client.told(begin)
        for asked in range(20):  # the first answer is of the time before; frames may wait for a crowd
            rate = asked_after(server, seconds, size)
            if asked > 1 and rate:
                break
            if asked > 1:  # echoed frames that found a full queue are lost for good
                client.told("stop")
                client.told(begin)
        client.told("stop")
    if not rate:
        raise Failure("no frames came in")
    return {f"testpmd/{size} B {'echo' if client_mode == 'io' else 'tx to rx'}": (rate / 1e6, "M/s")}
