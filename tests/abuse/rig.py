# SPDX-License-Identifier: BSD-3-Clause
"""Two daemons under attack, their victim, and what may not change by an attack."""

import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import time

from cases import program
from daemon import Build
from effects import CALLS, Turns
from links import Memif, Veth
from network_attacks import MAC_A, MAC_B, Sniffer
from port_links import UdpNetwork
from sandbox import Failure, Process, run, until
from station import Station

GIVEN_BACK_S = 30  # a DREQ that a dead peer does not answer: 10 s
BASELINE_S, BASELINE_KEPT = 0.3, 8  # how long it is measured, and for how many attacks
BASELINE_BESIDE_S = 2  # ... beside something: a neighbour's share of the CPUs evens out in seconds


class AbuseBuild(Build):
    def __init__(self, folder, daemon=None):
        super().__init__(folder)
        self.ndvictim = program(self.folder, "tests/abuse/ndvictim")
        self.ndattack = program(self.folder, "tests/abuse/ndattack")
        self.ndkilled = program(self.folder, "tests/abuse/ndkilled")
        self.ndgaps = program(self.folder, "tests/abuse/ndgaps")
        if daemon:
            self.daemon = os.path.abspath(daemon)


class Victim:
    """A client that behaves, and says how it is served."""

    def __init__(self, link):
        self.process = Process(link.build.ndvictim, link.a.socket_path, link.a.addresses[0],
                               link.b.socket_path, link.b.addresses[0], stdin=subprocess.PIPE)
        self.process.expect("ready")
        self.process.hear()

    def ask(self, word, timeout=15):
        try:
            self.process.say(word + "\n")
        except OSError:
            raise Failure(f"the victim has ended\n{self.process.text[-1000:]}") from None
        return self.process.hear(timeout)

    def go(self, bulk):
        self.ask("go")
        if bulk:
            self.ask("bulk")
        self.figures()

    def figures(self):
        return json.loads(self.ask("figures"))

    def quiet(self):
        """Nothing changes any more: what it has is the same each time."""
        if self.ask("quiet", 25) != "quiet":
            figures = self.figures()
            ms, call = max((figures[c]["max_us"] / 1000, c) for c in ("ping",) + CALLS)
            raise Failure(f"{call} of the victim takes {ms:.0f} ms {figures['complaint']}")


def shared_mappings(pid):
    """How many mappings of clients' and ports' memory a process has."""
    with open(f"/proc/{pid}/maps") as f:
        return sum("/memfd:" in line for line in f)


class Look:
    """What the daemon has on behalf of all clients together, and how long its lcore's turns were so far."""

    def __init__(self, daemon):
        text, self.at = daemon.counters(), time.monotonic()
        self.holdings = {**daemon.usage(text), "files": daemon.descriptors(),
                         "mappings": shared_mappings(daemon.process.pid)}
        # Without what other threads had of the CPU.
        turns = re.search(r"shard 0 own turns:(.*)\n", text)
        turns = dict(re.findall(r"(\w+)=(\d+)", turns.group(1) if turns else ""))
        self.overlong = int(turns.pop("overlong", 0))
        self.lengths = {int(k[1:]): int(n) for k, n in turns.items()}
        stages = re.search(r"shard 0 overlong cycles:(.*)\n", text)
        self.stages = collections.Counter(
            {k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", stages.group(1) if stages else "") if k != "turns"})

    def turns_since(self, before):
        """Of the turns in between."""
        more = {k: n - before.lengths.get(k, 0) for k, n in self.lengths.items() if n > before.lengths.get(k, 0)}
        return Turns(more, self.overlong - before.overlong, cycles_per_us(), self.stages - before.stages,
                     self.at - before.at)


def cycles_per_us():
    with open("/proc/cpuinfo") as f:
        return float(re.search(r"cpu MHz\s*: ([\d.]+)", f.read()).group(1))


def told(daemon):
    """What it logged; of its counters, only those that the CM had at last."""
    lines = [line for line in daemon.news().splitlines()
             if not re.search(r" (shard|port|network:|sessions:|ready:)|^EAL:", line)]
    earlier = [line for line in lines if " CM:" in line][:-1]
    return "\n".join([line for line in lines if line not in earlier][-20:])


class AbusedLink:
    """Of a link: all users may connect, and lcores count their cycles."""

    more = {"telemetry": {"cycles": True}}

    @classmethod
    def of(cls, link_class, build, folder, *arguments, inside=(), port=None):
        """port: what the configuration says of the ports beside the usual."""
        os.chmod(folder, 0o755)
        link = link_class(build, folder, *arguments, **cls.more)
        for daemon in (link.a, link.b):
            daemon.config["control"]["mode"] = "0666"
            daemon.config["ports"][0].update(port or {})
        link.a.inside = inside
        return link


class Rig:
    """Daemons and victim, started anew after an attack that they have not withstood."""

    beside = None  # makes what runs while baselines are measured

    def __init__(self, make_link):
        self.make_link, self.link, self.victim = make_link, None, None
        self.before, self.baselines = None, {}
        self.turns = None  # daemon a's, between the last two looks

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def daemons(self):
        return self.link.a, self.link.b

    def start(self):
        self.link = self.make_link().__enter__()
        self.victim = self.begin_victim()
        self.victim.go(bulk=True)
        self.victim.quiet()
        for daemon in self.daemons:
            until(lambda d=daemon: not {"wqes", "timers"} & set(d.usage()), "nothing under way")
        self.before = [Look(d) for d in self.daemons]

    def begin_victim(self):
        return Victim(self.link)

    def stop(self):
        if self.victim:
            self.victim.process.kill()
            self.victim = None
        if self.link:
            for daemon in self.daemons:
                daemon.process.stop(signal.SIGKILL)  # one that hangs, too
            self.link.__exit__(None, None, None)
            self.link = None
        self.baselines = {}

    def ready(self):
        if self.link:
            return
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def _measure_baseline(self):
        with self.beside() if self.beside else contextlib.nullcontext():
            self.victim.figures()
            time.sleep(BASELINE_BESIDE_S if self.beside else BASELINE_S)
            return self.victim.figures()

    def baseline(self, bulk):
        """How the victim is served without an attack; measured now, or not long ago."""
        kept, figures = self.baselines.get(bulk, (0, None))
        self.victim.go(bulk)
        if not kept:
            kept, figures = BASELINE_KEPT, self._measure_baseline()
        self.baselines[bulk] = kept - 1, figures
        return figures

    def must_live(self):
        for daemon in self.daemons:
            if not daemon.process.running():
                raise Failure(f"daemon {daemon.name} died (exit {daemon.process.wait()})")

    def must_have_given_back(self):
        """What the daemons have is what they had before."""
        self.must_live()
        self.victim.quiet()
        for i, daemon in enumerate(self.daemons):
            before, looks = self.before[i], []

            def same(daemon=daemon, before=before, looks=looks):
                looks[:] = [Look(daemon)]
                return looks[0].holdings == before.holdings

            try:
                until(same, "given back", GIVEN_BACK_S, every=0.1)
            except Failure:
                had, has = before.holdings, looks[0].holdings
                more = {k: (had.get(k, 0), has.get(k, 0)) for k in {**had, **has} if had.get(k) != has.get(k)}
                raise Failure(f"daemon {daemon.name} has not what it had: (before, after) {more}") from None
            if daemon is self.link.a:
                self.turns = looks[0].turns_since(before)
            self.before[i] = looks[0]

    def news(self):
        """What the daemons logged since the last case began."""
        return "\n".join(map(told, self.daemons)) if self.link else ""


def memif_rig(build, folder, inside=()):
    return Rig(lambda: AbusedLink.of(Memif, build, folder, inside=inside))


class NetworkRig(Rig):
    """With a third station on the network of the daemons, and the REQ of the connection that the victim pings by."""

    link_class = Veth

    def __init__(self, build, folder, networked, **port):
        super().__init__(lambda: AbusedLink.of(self.link_class, build, folder, networked, port=port))
        self.station, self.seen_req = None, None

    def begin_victim(self):
        with Sniffer(self.link.captured_at) as sniffer:
            victim = super().begin_victim()
            self.seen_req = sniffer.first_req()
        return victim

    def start(self):
        super().start()
        self.station = Station("veth-s", "02:00:00:00:77:99").__enter__()

    def stop(self):
        if self.station:
            self.station.__exit__(None, None, None)
            self.station = None
        super().stop()


class UdpHosts(UdpNetwork):
    """Two machines whose interfaces have the MACs that the daemons' own ports have elsewhere."""

    def plug(self):
        super().plug()
        run("ip", "link", "set", "veth-a", "address", MAC_A.hex(":"))
        run(*self.other("ip", "link", "set", "veth-b", "address", MAC_B.hex(":")))


class UdpRig(NetworkRig):
    """The same where the daemons have the kernel's UDP sockets."""

    link_class = UdpHosts
