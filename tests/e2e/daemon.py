# SPDX-License-Identifier: BSD-3-Clause
"""Daemons under test: a configuration, a process, and the programs that talk to it."""

import collections
import json
import os
import re
import signal
import socket

from cases import cpus, program
from sandbox import Failure, Process, run, until


class Build:
    """Where the programs are."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.daemon = program(self.folder, "app/dpdk-ndd/dpdk-ndd")
        self.ndperf = program(self.folder, "app/ndperf/ndperf")
        self.nddping = program(self.folder, "app/nddping/nddping")
        self.ndtest = program(self.folder, "tests/e2e/ndtest")
        self.ndpeer = program(self.folder, "tests/interop/peers/ndpeer")
        self.ndabuse = program(self.folder, "tests/e2e/ndabuse")
        self.ndhoard = program(self.folder, "tests/e2e/ndhoard")
        self.spitest = program(self.folder, "tests/e2e/spitest")
        self.kpitest = program(self.folder, "tests/e2e/kpitest")
        self.facetest = program(self.folder, "tests/e2e/facetest")


def af_packet(interface):
    """DPDK device of an Ethernet interface. Frames of 8 KiB: an IP MTU of 4200 fits. No more of them
    than what a user may lock in memory (8 MiB by default)."""
    return f"net_af_packet0,iface={interface},blocksz=65536,framesz=8192,framecnt=256,qpairs=1"


def memif(role, folder):
    """DPDK device of one end of a shared memory link, with its socket in that folder."""
    return f"net_memif0,role={role},id=0,socket-abstract=no,socket={folder}/memif.sock,bsize=4352,rsize=8"


class Daemon:
    """with Daemon(build, folder, "a", 0, af_packet("a0"), ["192.0.2.1/24"]) as a: ..."""

    def __init__(self, build, folder, name, number, device, addresses, mtu=1500, huge=False, **more):
        self.build, self.name = build, name
        self.addresses = [a.split("/")[0] for a in addresses]
        self.socket_path = os.path.join(folder, name + ".sock")
        self.config_path = os.path.join(folder, name + ".json")
        self.config = {
            "eal": {"huge_pages": huge, "memory_mb": 256, "vdevs": [device],
                    "file_prefix": f"ndd-test-{os.getpid()}-{os.path.basename(folder)}-{name}"},
            "lcores": [cpus(2)[number]],
            # Without core dumps, root alone sees what files a process has open.
            "control": {"socket": self.socket_path, "core_dumps": os.geteuid() != 0},
            "ports": [{"device": device.split(",")[0], "addresses": list(addresses), "mtu": mtu,
                       "dad": "off",
                       "mac": f"02:00:00:00:77:{number + 1:02x}"}],
            **more,
        }
        self.process = None
        self.inside = ()  # a command that runs it somewhere else
        self.told = 0

    def start(self):
        with open(self.config_path, "w") as f:
            json.dump(self.config, f, indent=1)
        self.told = 0
        # EAL keeps its run-time files where root has no say: in the test's own folder.
        self.process = Process(*self.inside, self.build.daemon, "-v", "--config", self.config_path,
                               name="daemon " + self.name,
                               env={**os.environ, "RUNTIME_DIRECTORY": os.path.dirname(self.config_path),
                                    "XDG_RUNTIME_DIR": os.path.dirname(self.config_path)})
        try:
            until(lambda: self.answers() or not self.process.running(), self.process.name + " ready")
            if not self.process.running():
                raise Failure(f"{self.process.name} ended (exit {self.process.wait()})")
        except Failure as e:
            self.process.stop()
            raise Failure(f"{e}\n{self.process.text}") from None
        return self

    def sibling(self):
        """The configuration of a daemon for the same ports that has its own socket and files."""
        config = json.loads(json.dumps(self.config))
        config["control"]["socket"] += ".2"
        config["eal"]["file_prefix"] += "-2"
        path = self.config_path + ".2"
        with open(path, "w") as f:
            json.dump(config, f)
        return path

    def answers(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            try:
                s.connect(self.socket_path)
            except OSError:
                return False
            return True

    def news(self):
        """What it logged since this was asked last."""
        text = self.process.text if self.process else ""
        self.told, told = len(text), self.told
        return f"--- daemon {self.name}\n{text[told:]}"

    def counters(self):
        """The lines with its counters, as it tells them now."""
        begin = len(self.process.text)
        self.process.kill(signal.SIGUSR1)
        until(lambda: re.search(r"sessions: \d+\n", self.process.text[begin:]),
              f"counters of daemon {self.name}")
        return self.process.text[begin:]

    def requests(self):
        """How many requests of clients it has completed."""
        return sum(map(int, re.findall(r"engine:.* requests_completed=(\d+)", self.counters())))

    def usage(self, text=None):
        """What clients have of it, by kind: objects of all shards, connections, sessions; now, or by the text of
        its counters."""
        text = text or self.counters()
        used = collections.Counter()
        for line in re.findall(r"shard \d+ in use:(.*)", text):
            for kind, number in re.findall(r"(\w+)=(\d+)", line):
                used[kind] += int(number)
        for kind in ("connections", "timewait", "listeners"):
            used[kind] = int((re.findall(rf"CM:.* {kind}=(\d+)", text) or [0])[-1])
        used["connections"] -= used.pop("timewait")  # ids that rest belong to no connection
        used["sessions"] = int(re.findall(r"sessions: (\d+)\n", text)[-1])
        return {kind: number for kind, number in used.items() if number}

    def client_memory(self):
        """KiB of clients' memory: how much is mapped, and how much of that is resident."""
        sums, counts = [0, 0], False
        with open(f"/proc/{self.process.pid}/smaps") as f:
            for line in f:
                if re.match(r"[0-9a-f]+-", line):
                    counts = "/memfd:dpdk-ndd-" in line
                for i, kind in enumerate(("Size:", "Rss:")):
                    if counts and line.startswith(kind):
                        sums[i] += int(line.split()[1])
        return tuple(sums)

    def descriptors(self):
        """How many files it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # ---- its clients -----------------------------------------------------------------------------

    def environment(self):
        return {**os.environ, "NDD_SOCKET": self.socket_path}

    def run(self, *command, timeout=60, check=True):
        """A program that uses this daemon, until it ends."""
        return run(*command, timeout=timeout, check=check, env=self.environment())

    def popen(self, *command, **options):
        return Process(*command, env=self.environment(), **options)

    def ping_server(self, *options):
        server = self.popen(self.build.nddping, "-s", "-d", *options)
        server.expect("listening")
        return server

    def ping(self, *options, **how):
        return self.run(self.build.nddping, "-c", *options, **how)

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, _):
        self.process.stop()
        if isinstance(error, Failure):
            raise Failure(f"{error}\n{self.news()}") from None
