# SPDX-License-Identifier: BSD-3-Clause
"""Two daemons by each kind of port that needs no network card, and TCP over the same cable (veth) between two
networks. Daemons are configured as they come."""

import readings
import sandbox
from abilities import needs_xdp
from cases import Skip, program
from daemon import Daemon, af_packet
from figures import UDP_PAYLOADS, port_figure, udp_limit
from peer_probes import ADDRESS, SIZES, Networks
from sandbox import Process

HEADERS = 16  # BTH and ICRC: what a segment has beside its payload
LIMIT_PORT = 4792
# For stations of the daemons' own: the kernel has the others.
OWN = {"server": "192.0.2.11", "client": "192.0.2.12"}


class Ports(Networks):
    """with Ports(place) as ports: ..."""

    def __init__(self, place):
        super().__init__(place)
        self.devices = {
            "udp": lambda _: "udp",
            "af_packet": af_packet,
            "af_xdp": lambda interface: f"net_af_xdp0,iface={interface}",
        }

    def probes(self):
        # An AF_XDP frame lies in one page: 2200 is what is best for it.
        for mtu, kinds in ((9000, ("udp", "af_packet")), (2200, ("af_xdp",)), (1500, ("udp", "af_packet", "af_xdp"))):
            for kind in kinds:
                yield f"ports/{kind}, MTU {mtu}", lambda k=kind, m=mtu: self.port(k, m)
            if mtu != 2200:
                yield f"ports/iperf3, MTU {mtu}", lambda m=mtu: self.tcp(m)
                yield f"ports/limit of UDP, MTU {mtu}", lambda m=mtu: self.limit(m)

    def set_mtu(self, mtu):
        for end, name in ((self.near, "server0"), (self.far, "client0")):
            sandbox.run(*self.inside(end), "ip", "link", "set", name, "mtu", mtu)

    def daemon(self, folder, kind, role, mtu):
        number, end = (0, self.near) if role == "server" else (1, self.far)
        daemon = Daemon(self.place.build, folder, role, number, self.devices[kind](role + "0"),
                        [OWN[role] + "/24"], mtu)
        if kind == "udp":
            daemon.config["ports"] = [{"device": "udp"}]
            del daemon.config["eal"]["vdevs"]
        daemon.inside = self.inside(end)
        return daemon

    def port(self, kind, mtu):
        if kind == "af_xdp":
            needs_xdp()
        self.set_mtu(mtu)
        with self.place.scratch() as folder, self.daemon(folder, kind, "server", mtu) as server, \
                self.daemon(folder, kind, "client", mtu) as client, \
                server.popen("taskset", "-c", self.place.cpus[0], self.place.build.ndperf, "-s") as ndperf:
            ndperf.expect("listening")
            return {port_figure(kind, size, mtu): (self.write(client, kind, number), "GB/s")
                    for size, number in SIZES.items()}

    def write(self, client, kind, number):
        to = ADDRESS if kind == "udp" else OWN["server"]
        done = client.run("taskset", "-c", self.place.cpus[1], self.place.build.ndperf, to, "-t", "write", "--size",
                          number, "-D", 0.1 if self.place.quick else 0.5, "--json", "-")
        return readings.ndperf(done.stdout)["gb_per_s"]

    def tcp(self, mtu):
        if not self.place.has("iperf3"):
            raise Skip("not-installed")
        self.set_mtu(mtu)
        found = {}
        for size, number in SIZES.items():
            found[port_figure("iperf3", size, mtu)], = self.iperf3(size, number).values()
        return found

    def limit(self, mtu):
        """What the kernel carries from the one network to the other by runs of such segments."""
        self.set_mtu(mtu)
        program_ = program(self.place.build.folder, "tests/bench/udp_limit")
        with Process(*self.inside(self.near), "taskset", "-c", self.place.cpus[0], program_, ADDRESS,
                     LIMIT_PORT) as receiver:
            receiver.expect("listening")
            receiver.hear()
            sandbox.run(*self.inside(self.far), "taskset", "-c", self.place.cpus[1], program_, ADDRESS, LIMIT_PORT,
                        UDP_PAYLOADS[mtu] + HEADERS)
            return {udp_limit(mtu): (float(receiver.hear()), "GB/s")}
