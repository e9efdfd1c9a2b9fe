# SPDX-License-Identifier: BSD-3-Clause
"""What else moves messages between two ends of this machine: Debian's programs, over TCP, each end in a
network of its own with a cable (veth) between them."""

import os

import readings
import sandbox
from cases import Skip
from sandbox import Failure, Process, run

ADDRESS = "192.0.2.1"
SIZES = {"64 KiB": 64 << 10, "1 MiB": 1 << 20}
# A network is seen in sysfs as it was when that was mounted: each end has one of its own.
_HOLD = "mount -t sysfs none /sys && echo ready && exec sleep infinity"


class Networks:
    """with Networks(place) as peers: ...  The server's end is in this network, the client's elsewhere. The
    cable keeps its offloads: TCP is to be as good as it can be."""

    def __init__(self, place):
        self.place = place

    def __enter__(self):
        if not self.place.networked:
            raise Skip("no-network")
        self.near = Process("unshare", "--net", "--mount", "sh", "-c", _HOLD, name="network of the server")
        self.far = Process("unshare", "--net", "--mount", "sh", "-c", _HOLD, name="network of the client")
        try:
            for end in (self.near, self.far):
                end.expect("ready")
            run("ip", "link", "add", "server0", "netns", self.near.pid, "type", "veth", "peer", "name",
                "client0", "netns", self.far.pid)
            for end, name, address in ((self.near, "server0", ADDRESS), (self.far, "client0", "192.0.2.2")):
                run(*self.inside(end), "ip", "link", "set", "lo", "up")
                run(*self.inside(end), "ip", "address", "add", address + "/24", "dev", name)
                run(*self.inside(end), "ip", "link", "set", name, "mtu", 9000, "up")
            for end, name in ((self.near, "server0"), (self.far, "client0")):
                sandbox.until(lambda e=end, n=name: self.operates(e, n), f"{name} is up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for end in (self.far, self.near):
            end.stop(9)

    def operates(self, end, name):
        return run(*self.inside(end), "cat", f"/sys/class/net/{name}/operstate").stdout.strip() == "up"

    @staticmethod
    def inside(end):
        return ("nsenter", "--mount", "--net", "--target", end.pid)

    def pair(self, server, client, port, environment=lambda end: {}):
        """What the client printed, run against a server of one client, once that listens."""
        with Process(*self.inside(self.near), "taskset", "-c", self.place.cpus[0], *server,
                     env={**os.environ, **environment("server0")}) as process:
            self.listening(process, port)
            done = run(*self.inside(self.far), "taskset", "-c", self.place.cpus[1], *client, check=False,
                       env={**os.environ, **environment("client0")})
            if done.returncode:
                raise Failure(f"{client[0]}: exit {done.returncode}\n{done.stdout}\nserver:\n{process.text}")
        return done.stdout

    def listening(self, process, port):
        """Wait until a TCP socket of the server's network listens there."""
        def listens():
            if not process.running():
                raise Failure(f"{process.name}: ended\n{process.text}")
            out = run(*self.inside(self.near), "ss", "-Hltn", f"sport = :{port}").stdout
            return out.strip() != ""
        sandbox.until(listens, f"{process.name} listens")

    def needs(self, program):
        if not self.place.has(program):
            raise Skip("not-installed")

    def probes(self):
        for size, number in SIZES.items():
            yield f"peers/iperf3 {size}", lambda s=size, n=number: self.iperf3(s, n)
            yield f"peers/ucx tag {size}", lambda s=size, n=number: self.ucx_stream("tag_bw", "tag", s, n)
            yield f"peers/ucx put {size}", lambda s=size, n=number: self.ucx_stream("ucp_put_bw", "put", s, n)
            yield f"peers/libfabric {size}", lambda s=size, n=number: self.libfabric(s, n)
            yield f"peers/qperf {size}", lambda s=size, n=number: self.qperf(s, n)
        for test, name in (("tag", "tag"), ("ucp_put", "put")):
            yield f"peers/ucx {name} 8 B rate", lambda t=test, n=name: self.ucx_rate(t + "_bw", n)
            yield f"peers/ucx {name} 8 B latency", lambda t=test, n=name: self.ucx_latency(t + "_lat", n)
        yield "peers/libfabric 8 B latency", lambda: self.libfabric("8 B latency", 8)
        yield "peers/qperf 8 B latency", lambda: self.qperf("8 B latency", 8)

    def iperf3(self, size, number):
        self.needs("iperf3")
        out = self.pair(("iperf3", "-s", "-1", "-p", 5201),
                        ("iperf3", "-c", ADDRESS, "-p", 5201, "-J", "-l", number, "-t", 1), 5201)
        return {f"peers/iperf3 {size}": (readings.iperf3(out) / 1e9, "GB/s")}

    def ucx(self, test, number, iterations):
        self.needs("ucx_perftest")
        if self.place.quick:
            iterations = max(iterations // 10, 20)
        return readings.ucx(self.pair(
            ("ucx_perftest", "-p", 13337),
            ("ucx_perftest", ADDRESS, "-p", 13337, "-t", test, "-s", number, "-n", iterations,
             "-w", iterations // 10, "-f", "-v"),
            13337, lambda end: {"UCX_TLS": "tcp", "UCX_NET_DEVICES": end}))

    def ucx_stream(self, test, name, size, number):
        _, rate, _ = self.ucx(test, number, (1 << 30) // number // (1 if name == "tag" else 4))
        return {f"peers/ucx {name} {size}": (rate / 1e9, "GB/s")}

    def ucx_rate(self, test, name):
        _, _, rate = self.ucx(test, 8, 300000)
        return {f"peers/ucx {name} 8 B rate": (rate / 1e6, "M/s")}

    def ucx_latency(self, test, name):
        typical, _, _ = self.ucx(test, 8, 30000)
        return {f"peers/ucx {name} 8 B latency": (typical, "us")}

    def libfabric(self, what, number):
        """A ping-pong is what the package has, for bandwidth, too: one message is under way."""
        self.needs("fi_pingpong")
        common = ("fi_pingpong", "-p", "tcp", "-e", "msg", "-S", number, "-I",
                  200 if self.place.quick or number > 64 << 10 else 4000)
        rate, us = readings.fi_pingpong(self.pair(common, (*common, ADDRESS), 47592,
                                                  lambda end: {"FI_TCP_IFACE": end}))
        if number == 8:
            return {"peers/libfabric 8 B latency": (us, "us")}
        return {f"peers/libfabric {what}": (rate / 1e9, "GB/s")}

    def qperf(self, what, number):
        self.needs("qperf")
        client = ("qperf", ADDRESS, "-lp", 19765, "-t", 1, "-m", number, "-uu")
        if number == 8:
            out = self.pair(("qperf", "-lp", 19765), (*client, "tcp_lat"), 19765)
            return {"peers/qperf 8 B latency": (readings.qperf_latency(out), "us")}
        out = self.pair(("qperf", "-lp", 19765), (*client, "tcp_bw"), 19765)
        return {f"peers/qperf {what}": (readings.qperf_bandwidth(out) / 1e9, "GB/s")}
