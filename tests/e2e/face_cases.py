# SPDX-License-Identifier: BSD-3-Clause
"""What programs see that are written to another interface than libndclient's own."""

import concurrent.futures
import os
import struct
import sys
import time

from cases import program
from links import Memif
from relay import DREQ, MRA, RTU, Relayed, cm_attribute
from sandbox import Failure, run, scratch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import icrc  # noqa: E402

_BTH = 42
_ACK, _SEND_LAST_INVALIDATE, _SEND_ONLY_INVALIDATE, _NOBODY_KNOWS = 0x11, 0x16, 0x17, 0x1F


def scenario(link, name):
    """Of NetworkDirect's interfaces (tests/e2e/spi). Figures, if it has some."""
    done = run(link.build.spitest, name, link.a.socket_path, link.a.addresses[0],
               link.b.socket_path, link.b.addresses[0], link.b.process.pid, timeout=60)
    return done.stdout.strip() or None


def dispatch(link, name, *more):
    """Of NDK's dispatch tables (tests/e2e/kpi)."""
    run(link.build.kpitest, name, link.a.socket_path, link.a.addresses[0], link.b.socket_path,
        link.b.addresses[0], *more, timeout=120)


def daemon_dies(build):
    with scratch() as folder, Memif(build, folder) as link:
        dispatch(link, "daemon-dies", link.a.process.pid)


def by_face(link, face, name):
    """What is the same by each interface (tests/e2e/faces)."""
    run(link.build.facetest, face, name, link.a.socket_path, link.a.addresses[0], link.b.socket_path,
        link.b.addresses[0], link.b.process.pid, timeout=120)


def faces(build, where):
    """The scenarios that run there (tests/e2e/faces/main.cpp), each by each face."""
    for words in run(build.facetest, "--list").stdout.splitlines():
        face, name, place = words.split()
        if place == where:
            yield face, name


# checks R-LIFE-13[1]
def library_closed(link, face, library):
    """Objects of a library that the program has closed."""
    run(program(link.build.folder, "tests/e2e/loadedtest"), face, program(link.build.folder, library),
        link.a.socket_path, link.a.addresses[0])


def by_two_processes(link, name, port, *arguments):
    """An example that is a server with -s and a client with -c."""
    example = program(link.build.folder, "doc/examples/" + name)
    with link.b.popen(example, "-s", link.b.addresses[0], port) as server:
        server.expect("listening")
        done = link.a.run(example, "-c", *arguments, timeout=60)
        if server.wait():
            raise Failure(f"the server: exit {server.wait()}\n{server.text}")
    return done.stdout.strip()


def pingpong(link, name):
    """Version 2 with a completion port, version 1 with events."""
    return by_two_processes(link, name, 4000, link.b.addresses[0], 4000, 2000)


def smb_direct(link):
    """NDK's tables: fast registration, remote invalidation and DEFER."""
    return by_two_processes(link, "ndk_smb_direct", 4001, link.a.addresses[0], link.b.addresses[0], 4001, 100)


def rpc(link):
    """libndclient's calls: windows that the server reads, writes and closes."""
    return by_two_processes(link, "rpc", 4002, link.b.addresses[0], 4002, 1000)


def cases(link):
    yield "nd rpc", lambda: rpc(link)
    for name in ("nd1_pingpong", "nd2_pingpong"):
        yield f"spi {name}", lambda n=name: pingpong(link, n)
    for name in run(link.build.spitest, "--list").stdout.split():
        yield f"spi {name}", lambda n=name: scenario(link, n)
    yield "kpi smb-direct", lambda: smb_direct(link)
    for name in run(link.build.kpitest, "--list").stdout.split():
        yield f"kpi {name}", lambda n=name: dispatch(link, n)
    yield "kpi silent-peer", lambda: dispatch(link, "silent", link.a.process.pid)
    for face, library in (("spi", "ndspi"), ("spi1", "ndspi"), ("kpi", "ndkpi")):
        yield f"face {face} library_closed", lambda f=face, n=library: library_closed(
            link, f, f"lib/{n}/lib{n}.so")
    for face, name in faces(link.build, "link"):
        yield f"face {face} {name}", lambda f=face, n=name: by_face(link, f, n)


def by_lossy_cable(build, networked, face, name):
    """The last message of each handshake is lost, however often it is sent."""
    with scratch() as folder, Relayed(build, folder, lambda frame: cm_attribute(frame) == RTU,
                                      networked) as link:
        by_face(link, face, name)
        if link.relay.left_out < 10:
            raise Failure(f"{link.relay.left_out} RTUs were left out: fewer than connections made")


def as_if_older(frame):
    """What a peer sees that does not know sends that invalidate: an opcode of the same kind that is none."""
    if len(frame) < _BTH + 16 or frame[36:38] != struct.pack("!H", 4791) or \
            frame[_BTH] not in (_SEND_LAST_INVALIDATE, _SEND_ONLY_INVALIDATE):
        return frame
    packet = frame[14:_BTH] + bytes([_NOBODY_KNOWS]) + frame[_BTH + 1:-4]
    return frame[:14] + packet + icrc.icrc(packet + bytes(4), 20)


class Overtaker:
    """The relay's leave_out(): acknowledgements of a's wait for its goodbye, and come a while behind it: later
    than at once, and long before the daemon's grace of 10 ms is over."""

    BEHIND_S = 0.002

    def __init__(self, a_mac):
        self.a_mac, self.relay, self.held, self.overtaken = a_mac, None, [], 0

    def __call__(self, frame):
        if frame[6:12] != self.a_mac:
            return False
        kind = cm_attribute(frame)
        if kind is None and frame[36:38] == struct.pack("!H", 4791) and frame[_BTH] == _ACK:
            self.held.append(bytes(frame))
            return True
        if kind != DREQ:
            return False
        self.relay.ends[1].send(frame)
        time.sleep(self.BEHIND_S)
        for late in self.held:
            self.relay.ends[1].send(late)
        self.overtaken += len(self.held)
        self.held = []
        return True


def by_overtaken_answers(build, networked, face, name):
    """A cable that was not run in time is later than the grace: a daemon without it fails each time."""
    overtaker = Overtaker(bytes.fromhex("020000007701"))
    with scratch() as folder, Relayed(build, folder, overtaker, networked) as link:
        overtaker.relay = link.relay
        for tries in range(3):
            try:
                by_face(link, face, name)
                break
            except Failure:
                if tries == 2:
                    raise
    if overtaker.overtaken == 0:
        raise Failure("no acknowledgement was overtaken")


def by_cable_to_older_one(build, networked, face, name):
    with scratch() as folder, Relayed(build, folder, lambda _: False, networked, as_if_older) as link:
        by_face(link, face, name)


# checks R-CONN-06[4]
def by_slow_programs(build, networked):
    """Each waiting side is kept waiting by a message, and would not wait for long without one. All faces at
    once, as they mostly wait."""
    extended = set()

    def witness(frame):
        if cm_attribute(frame) == MRA:
            extended.add(bytes(frame[6:12]))
        return False

    with scratch() as folder, Relayed(build, folder, witness, networked, rc={"cm_retries": 0}) as link, \
            concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(by_face, link, *words) for words in faces(build, "slow")]:
            done.result()
    if len(extended) != 2:
        raise Failure(f"{len(extended)} of the two sides extended the other's time")


def by_silent_daemon(build, face, name):
    with scratch() as folder, Memif(build, folder, rc={"cm_retries": 0}) as link:
        by_face(link, face, name)


def lone_cases(build):
    """Cases that need daemons of their own, because they end one, or want little patience of them."""
    yield "kpi daemon-dies", lambda: daemon_dies(build)
    for face, name in faces(build, "silent"):
        yield f"face {face} {name}", lambda f=face, n=name: by_silent_daemon(build, f, n)


def relayed_cases(build, networked):
    """Cases whose cable does something."""
    for where, act in (("lossy", by_lossy_cable), ("older", by_cable_to_older_one),
                       ("overtaken", by_overtaken_answers)):
        for face, name in faces(build, where):
            yield f"face {face} {name}", lambda a=act, f=face, n=name: a(build, networked, f, n)
    yield "face slow_programs", lambda: by_slow_programs(build, networked)
