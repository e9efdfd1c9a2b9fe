# SPDX-License-Identifier: BSD-3-Clause
"""Programs of verbs, Debian's own, on the daemons that ndperf is measured on: what the face costs."""

import os

import readings
import sandbox
from cases import Skip
from our_probes import ADDRESS, Ends
from sandbox import Failure, Process, run

SIZES = {"64 KiB": 64 << 10, "1 MiB": 1 << 20}
TURNS = 3
OPERATIONS = ("write", "send", "read")
PORT = 18515
UCX_PORT = 13337
UCX_ENVIRONMENT = {"UCX_TLS": "rc_verbs,ud_verbs:aux", "UCX_NET_DEVICES": "ndd0:1"}


class Programs(Ends):
    """Each end shares a CPU with its daemon's lcore, as ndperf's do."""

    def __init__(self, place):
        super().__init__(place, ("server", "client"))
        self.ndd_verbs = os.path.join(place.build.folder, "app/ndd-verbs/ndd-verbs")

    def probes(self):
        for size, number in SIZES.items():
            for operation in OPERATIONS:
                yield f"verbs/{operation} {size}", lambda o=operation, s=size, n=number: self.by_turns(o, s, n)
            yield f"verbs/ucx put {size}", lambda s=size, n=number: self.ucx_stream(s, n)
        yield "verbs/ucx put 8 B rate", self.ucx_rate
        for operation in ("write", "send"):
            yield f"verbs/{operation} 8 B latency", lambda o=operation: self.latency(o)

    def under(self, role, *command):
        number = ("server", "client").index(role)
        return ("taskset", "-c", self.place.cpus[number], self.ndd_verbs, "--quiet", "--socket",
                self.daemon[role].socket_path, *command)

    def pair(self, program, port, *options, environment=None):
        """What the client printed."""
        if not os.access(self.ndd_verbs, os.X_OK):
            raise Skip("no-verbs")
        if not self.place.has(program):
            raise Skip("not-installed")
        env = {**os.environ, **(environment or {})}
        command = (program, *options, "-p", str(port))
        with Process(*self.under("server", *command), name=program, env=env) as server:
            sandbox.until(lambda: sandbox.listens(port) or not server.running(), f"{program} listens")
            done = run(*self.under("client", *command, "localhost"), check=False, env=env)
            if done.returncode or server.wait(30):
                raise Failure(f"{program}: exit {done.returncode}\n{done.stdout}\nserver:\n{server.text}")
        return done.stdout

    def perftest(self, operation, number):
        count = (1 << (27 if self.place.quick else 29)) // number
        told = self.pair(f"ib_{operation}_bw", PORT, "-d", "ndd0", "-s", str(number), "-n", str(count), "--report_gbits")
        return readings.perftest(told, number) / 1e9

    def beside(self, operation, number):
        """ndperf, which is there for no longer than that."""
        with self.daemon["server"].popen("taskset", "-c", self.place.cpus[0], self.place.build.ndperf, "-s",
                                         "--once") as server:
            server.expect("listening")
            row = self.ndperf("client", self.place.cpus[1], ADDRESS["server"], "-t", operation, "--size", number,
                              *self.duration(0.25))
        return row["gb_per_s"]

    def by_turns(self, operation, size, number):
        """The best of some turns of each: from one second to the next, the host may place the CPUs far apart, and
        only what met the same machine can be compared."""
        ours, theirs = [], []
        for _ in range(1 if self.place.quick else TURNS):
            ours.append(self.beside(operation, number))
            theirs.append(self.perftest(operation, number))
        return {f"verbs/{operation} {size}": (max(theirs), "GB/s"),
                f"verbs/ndperf {operation} {size}": (max(ours), "GB/s")}

    def latency(self, operation):
        told = self.pair(f"ib_{operation}_lat", PORT, "-d", "ndd0", "-s", "8", "-n", "2000" if self.place.quick else "50000")
        return {f"verbs/{operation} 8 B latency": (readings.perftest_latency(told, 8), "us")}

    def ucx(self, number, count):
        if self.place.quick:
            count //= 10
        return readings.ucx(self.pair("ucx_perftest", UCX_PORT, "-t", "ucp_put_bw", "-s", str(number), "-n", str(count),
                                      "-w", str(count // 10), "-f", "-v", environment=UCX_ENVIRONMENT))

    def ucx_stream(self, size, number):
        _, rate, _ = self.ucx(number, (1 << 30) // number)
        return {f"verbs/ucx put {size}": (rate / 1e9, "GB/s")}

    def ucx_rate(self):
        _, _, rate = self.ucx(8, 300000)
        return {"verbs/ucx put 8 B rate": (rate / 1e6, "M/s")}
