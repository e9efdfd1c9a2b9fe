# SPDX-License-Identifier: BSD-3-Clause
"""Each call fails once that a daemon makes with a port of the kernel's sockets alone, from its start to its end."""

import os

from cases import cpus
from sandbox import scratch
from start_cases import FaultyDaemon, must_live_well, of_sites


def over_udp(daemon):
    """At an address of loopback that other runs do not have, with sockets for two lcores."""
    net = os.getpid() % 65536
    daemon.addresses = [f"127.{net >> 8}.{net & 255}.1"]
    del daemon.config["eal"]["vdevs"]
    daemon.config["lcores"] = cpus(2)
    daemon.config["ports"] = [{"device": "udp", "addresses": [daemon.addresses[0] + "/8"]}]
    return daemon


def sites_of(daemon):
    must_live_well(daemon)
    return {(site.function, site.place): site for site in daemon.page.sites()}


def cases(build, whole):
    with scratch("ndd-faults-") as folder, FaultyDaemon(build, folder) as daemon:
        others = sites_of(daemon)
    with scratch("ndd-faults-") as folder, over_udp(FaultyDaemon(build, folder)) as daemon:
        sites = [site for key, site in sites_of(daemon).items() if key not in others]
        yield from of_sites(daemon, sites, whole)
