# SPDX-License-Identifier: BSD-3-Clause
"""What a machine does to a daemon, or lets clients do to it: limits, signals, links, full disks."""

import os
import signal
import time

from cases import Skip
from client_attacks import ATTACK_MS, attacker
from daemon import Daemon, memif
from memif_peer import BYTES, REGION_BYTES, MemifPeer
from sandbox import Failure, Process, run, scratch, until

UNTIL_USED_UP_MS = 2500
CGROUP_BYTES = 600 << 20  # a daemon of 256 MB runs in it, and what honest clients share with it


class ByClient:
    """An attack of the client family where the machine is short of something."""

    bulk = False

    def __init__(self, name, *inside, ms=ATTACK_MS):
        self.name, self.inside, self.ms = name, inside, ms

    def run(self, rig):
        with attacker(rig, self.name, *self.inside, ms=self.ms) as process:
            process.wait(25)
        return ""


class UsesUpMemory(ByClient):
    """The kernel must not end the daemon for it."""

    def run(self, rig):
        super().run(rig)
        time.sleep(0.5)  # the end of a large process takes a while
        rig.must_live()


class Acts:
    """Something that is done again and again, and a pause behind it."""

    bulk = False

    def __init__(self, act, pause=0.02, patient=False):
        self.act, self.pause = act, pause
        self.patient = patient  # the victim can not be served meanwhile: it must be, afterwards

    def run(self, rig):
        rig.victim.figures()
        end = time.monotonic() + ATTACK_MS / 1000
        while time.monotonic() < end:
            self.act(rig)
            time.sleep(self.pause)
        if self.patient:
            time.sleep(1.5)  # retransmission timeouts
            rig.victim.figures()
            time.sleep(0.3)
        return ""


def flap(rig):
    for state in ("down", "up"):
        run("ip", "link", "set", "veth-a-br", state)
        time.sleep(0.02)


def stop_peer_daemon(rig):
    for number in (signal.SIGSTOP, signal.SIGCONT):
        rig.link.b.process.kill(number)
        time.sleep(0.05)


class StoppedClient:
    """A client that transfers, in both directions, is stopped in the middle, goes on, and is stopped for good."""

    bulk = False

    def __init__(self, name):
        self.name = name

    def run(self, rig):
        with attacker(rig, self.name) as process:
            for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGSTOP):
                process.kill(number)
                time.sleep(0.15)
        return ""


def truncate(peer):
    os.ftruncate(peer.region, 0)


def scribble(peer):
    """Random rings, and descriptors that lead anywhere."""
    for _ in range(50):
        os.pwrite(peer.region, os.urandom(64 << 10), 8)
        os.pwrite(peer.region, os.urandom(64 << 10), REGION_BYTES // 4 + 8)
        time.sleep(0.005)


def leave(peer):
    peer.socket.close()


def babble(peer):
    for _ in range(100):
        peer.socket.send(os.urandom(BYTES))


PORT_ATTACKS = {"truncates": truncate, "scribbles": scribble, "leaves": leave, "babbles": babble}


def by_port(build):
    """(name, function): the peer of a shared-memory port does that."""
    for name, act in PORT_ATTACKS.items():
        yield f"peer-of-port-{name}", lambda a=act: goes_on_without_port(build, a)


def goes_on_without_port(build, act):
    with scratch("ndd-abuse-") as folder, \
            Daemon(build, folder, "a", 0, memif("server", folder), ["192.0.2.1/24"], mtu=4200) as a:
        peer = MemifPeer(os.path.join(folder, "memif.sock"), sealed=act is not truncate)
        try:
            with peer:
                peer.connect()
                time.sleep(0.2)
                act(peer)
                time.sleep(0.3)
        except OSError:  # it has been cut off
            if peer.sealed and not peer.connected:
                raise Failure("a peer that keeps the rules is refused") from None
        if not a.process.running():
            raise Failure(f"the daemon died (exit {a.process.wait()})")
        with a.ping_server() as server:  # by no port: from this host to itself
            a.ping("-a", a.addresses[0], "-C", 3)
            server.stop()
        until(lambda: not a.usage(), "all given back")


# ---- daemons that are short of something -------------------------------------------------------------

def cgroup_of_memory():
    """A new cgroup with a limit of memory; Skip if this machine lets us make none."""
    for folder, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = f"{folder}/ndd-abuse-{os.getpid()}"
        try:
            os.mkdir(path)
        except OSError:
            continue
        try:
            with open(f"{path}/{limit}", "w") as f:
                f.write(str(CGROUP_BYTES))
            return path
        except OSError:
            os.rmdir(path)
    raise Skip("no-memory-cgroup")


def members(path):
    with open(f"{path}/cgroup.procs") as f:
        return f.read().split()


def in_cgroup(function):
    """function(command that runs a program inside of a cgroup with little memory)"""
    path = cgroup_of_memory()
    try:
        return function(("sh", "-c", f'echo $$ >{path}/cgroup.procs && exec "$@"', "sh"))
    finally:
        until(lambda: not members(path), "cgroup empty")
        os.rmdir(path)


FEW_FILES = "prlimit", "--nofile=256:256"
NO_LOCKS = "setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=0:0"


def memif_attacks():
    yield "client-few-files", ByClient("all-cqs", "prlimit", "--nofile=16:16")
    yield "client-no-memory", ByClient("memory-churn-large", "prlimit", "--as=67108864")
    yield "client-no-locks", ByClient("memory-churn", "prlimit", "--memlock=0:0")
    yield "client-stops-writing", StoppedClient("write-large")
    yield "client-stops-reading", StoppedClient("read-large")
    yield "peer-stops-writing", StoppedClient("peer-writes")
    yield "peer-stops-reading", StoppedClient("peer-reads")
    yield "daemon-of-peer-stops", Acts(stop_peer_daemon, patient=True)
    yield "reload-storm", Acts(lambda rig: rig.link.a.process.kill(signal.SIGHUP), 0.005)
    yield "counters-storm", Acts(lambda rig: rig.link.a.process.kill(signal.SIGUSR1), 0.005)


def veth_attacks():
    yield "link-flaps", Acts(flap, patient=True)


def short_of():
    """(name, command that daemon a runs inside of, attack)"""
    for name in ("silent-sockets", "all-cqs", "files-many"):
        yield f"daemon-few-files {name}", FEW_FILES, ByClient(name)
    yield "daemon-no-locks memory-churn", NO_LOCKS, ByClient("memory-churn")


def low_memory():
    for name in ("memory-untouched-kept", "memory-kept", "all-cqs"):
        yield f"daemon-low-memory {name}", UsesUpMemory(name, ms=UNTIL_USED_UP_MS)
