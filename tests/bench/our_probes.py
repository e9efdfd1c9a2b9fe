# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-ndd: its engine by itself, two daemons, one daemon."""

import readings
from cases import Skip, program
from daemon import Daemon, memif
from figures import WINDOW, deep
from sandbox import run

SIZES = {"8 B": "8", "64 B": "64", "4 KiB": "4K", "64 KiB": "64K", "1 MiB": "1M"}
OPERATIONS = ("write", "send", "read")
ADDRESS = {"server": "10.77.0.1", "client": "10.77.0.2"}
MTU = 4200  # path MTU 4096


# ---- the engine ----------------------------------------------------------------------------------

def engine(place, only, microseconds):
    """Cases of engine_bench, on the second CPU: interrupts come to the first."""
    done = run("taskset", "-c", place.cpus[1], program(place.build.folder, "tests/bench/engine_bench"),
               "--json", "--only", only, "--us", microseconds, timeout=120)
    return readings.engine(done.stdout)


def engine_messages(place):
    cases, _ = engine(place, "(floor|write|send|read|atomic)-[0-9]+M?", 5000 if place.quick else 100000)
    return {f"engine/{name}": (case["cycles"], "cycles") for name, case in cases.items()}


def engine_random(place):
    cases, _ = engine(place, "random-[0-9]+(-deep)?", 100000 if place.quick else 200000)
    return {f"engine/{name}": (case["cycles"], "cycles") for name, case in cases.items()}


def engine_connections(place):
    cases, told = engine(place, "connect", 5000 if place.quick else 200000)
    return {"engine/connections": (cases["connect"]["per_second"], "/s"),
            "engine/connection": (cases["connect"]["cycles"], "cycles"),
            "engine/idle queue pair": (told["idle_qp_bytes"], "bytes"),
            "engine/idle queue pair, reserved": (told["idle_qp_bytes_reserved"], "bytes")}


def engine_probes(place):
    yield "engine/messages", lambda: engine_messages(place)
    yield "engine/random queue pairs", lambda: engine_random(place)
    yield "engine/connections and memory", lambda: engine_connections(place)


# ---- daemons -------------------------------------------------------------------------------------

class Ends:
    """A daemon for each of some roles, and what is measured with them. Daemons live for some
    measurements of one round, as those that sleep beside others would be woken by them."""

    def __init__(self, place, roles):
        self.place, self.roles = place, roles

    def __enter__(self):
        self.holder = self.place.scratch()
        folder = self.holder.__enter__()
        self.daemon = {}
        try:
            for number, role in enumerate(self.roles):
                self.daemon[role] = Daemon(self.place.build, folder, role, number,
                                           memif(role, folder), [ADDRESS[role] + "/24"], MTU,
                                           rc={"window": WINDOW})
                self.daemon[role].start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemon.values():
            if daemon.process:
                daemon.process.stop()
        self.holder.__exit__(None, None, None)

    def ndperf(self, role, cpu, *options):
        """The row of figures of a client of that role's daemon."""
        done = self.daemon[role].run("taskset", "-c", cpu, self.place.build.ndperf, *options, "--json", "-")
        return readings.ndperf(done.stdout)

    def duration(self, seconds):
        return ("-D", 0.1 if self.place.quick else seconds)


class TwoDaemons(Ends):
    """Each side's lcore and client share a CPU, as the ends of the peers do."""

    def __init__(self, place):
        super().__init__(place, ("server", "client"))

    def __enter__(self):
        super().__enter__()
        try:
            self.server = self.daemon["server"].popen("taskset", "-c", self.place.cpus[0],
                                                      self.place.build.ndperf, "-s")
            self.server.expect("listening")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error):
        if hasattr(self, "server"):
            self.server.stop()
        super().__exit__(*error)

    def probes(self):
        for size, option in SIZES.items():
            for operation in OPERATIONS:
                yield f"ours/{operation} {size}", lambda o=operation, s=size, n=option: self.stream(o, s, n)
        # A request is a packet: as many as may be under way. Reads may be sixteen, however many wait.
        for operation in ("write", "send"):
            yield deep(operation), lambda o=operation: self.deep(o)
        for operation in OPERATIONS:
            yield f"ours/{operation} 8 B latency", lambda o=operation: self.latency(o)

    def stream(self, operation, size, option):
        row = self.ndperf("client", self.place.cpus[1], ADDRESS["server"], "-t", operation, "--size", option,
                          *self.duration(0.5))
        if row["bytes"] < 4096:  # what a message costs, rather than a byte
            return {f"ours/{operation} {size} rate": (row["messages_per_s"] / 1e6, "M/s")}
        return {f"ours/{operation} {size}": (row["gb_per_s"], "GB/s")}

    def deep(self, operation):
        row = self.ndperf("client", self.place.cpus[1], ADDRESS["server"], "-t", operation, "--size", "8",
                          "-d", WINDOW, *self.duration(0.5))
        return {deep(operation): (row["messages_per_s"] / 1e6, "M/s")}

    def latency(self, operation):
        row = self.ndperf("client", self.place.cpus[1], ADDRESS["server"], "-t", operation, "-m", "lat",
                          "--size", "8", "--poll", *self.duration(0.5))
        return {f"ours/{operation} 8 B latency": (row["t_typical_us"], "us")}


class OneDaemon(Ends):
    """One lcore, one client that is both ends: on the other core, or on the same one."""

    def __init__(self, place):
        super().__init__(place, ("server",))

    # name: options of ndperf, what counts of its figures, its unit, and as how much of that unit
    MEASURED = {
        "write 8 B latency": (("-m", "lat", "--size", "8", "--poll"), "t_typical_us", "us", 1),
        "write 8 B rate": (("--size", "8"), "messages_per_s", "M/s", 1e-6),
        "write 64 KiB": (("--size", "64K"), "gb_per_s", "GB/s", 1),
    }

    def probes(self):
        for name in self.MEASURED:
            for number, where in enumerate(("same core", "other core")):
                yield f"one daemon/{name}, {where}", lambda n=name, k=number, w=where: self.alone(n, k, w)

    def alone(self, name, number, where):
        if number and not self.place.two_cores:
            raise Skip("one-cpu")
        options, key, unit, scale = self.MEASURED[name]
        row = self.ndperf("server", self.place.cpus[number], "--loopback", ADDRESS["server"], *options,
                          *self.duration(0.5))
        return {f"one daemon/{name}, {where}": (row[key] * scale, unit)}
