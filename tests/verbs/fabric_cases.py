# SPDX-License-Identifier: BSD-3-Clause
"""UCX, libfabric, Open MPI and MPICH, which look for devices in /sys and /dev before they ask libibverbs. Each is confined
to verbs, and both daemons must have carried out requests: nothing went by shared memory or TCP."""

import os
import re
import shutil

from cases import Skip
from links import Link
from port_links import Udp
from sandbox import Failure, Process, listens, run, until
from verbs import PORT, under

PROGRAMS = ("ucx_info", "ucx_perftest", "fi_pingpong", "mpirun.openmpi", "mpiexec.hydra")
RELIABLE, DATAGRAMS = "rc_verbs", "ud_verbs"
# Streams are messages of several packets, the last one short: where a peer has no receive ready, they are sent again.
SIZES = {"ucp_fadd": 8, "stream_bw": 100000}
# name: (launcher, what the program is built for, environment). Ranks on one host reach each other by UCX alone, too.
MPI = {
    "Open MPI": ("mpirun.openmpi", "ompi-c",
                 {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                  "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx",
                  "OMPI_MCA_btl": "self"}),
    "MPICH": ("mpiexec.hydra", "mpich", {"MPIR_CVAR_NOLOCAL": "1"}),
}


def confined(transport):
    """UCX with that transport alone; datagrams may set up its connections, and it may reach itself."""
    return {**os.environ, "UCX_TLS": f"{transport},{DATAGRAMS}:aux,self", "UCX_NET_DEVICES": "ndd0:1"}


def carried_out(link, function):
    """What the function says, if the daemons of both ends had requests of it."""
    before = link.a.requests(), link.b.requests()
    told = function()
    if link.a.requests() <= before[0] or link.b.requests() <= before[1]:
        raise Failure(f"a daemon had nothing to do with it\n{told}")
    return told


def pair(link, command, serving, to="localhost", **options):
    """The command on both daemons: on a's with these arguments more, on b's as a client of that host. Its text."""
    with Process(*under(link.a, *command, *serving), name="server", **options) as server:
        until(lambda: listens(PORT) or not server.running(), "server listens")
        client = run(*under(link.b, *command, to), timeout=60, check=False, **options)
        if client.returncode:
            server.kill()
        status = server.wait(60)
    if client.returncode or status:
        raise Failure(f"server: exit {status}\n{server.text}\nclient: exit {client.returncode}\n{client.stdout}")
    return client.stdout


def ucx_finds(link):
    said = run(*under(link.a, "ucx_info", "-d")).stdout
    for transport in (RELIABLE, DATAGRAMS):
        if not re.search(rf"Transport: {transport}\n#\s+Device: ndd0:1\n", said):
            raise Failure(f"no {transport}\n{said}")


def ucx(link, transport, test, size, count):
    command = ("ucx_perftest", "-p", str(PORT), "-t", test, "-s", str(size), "-n", str(count))
    told = carried_out(link, lambda: pair(link, command, (), env=confined(transport)))
    final = re.search(r"Final:.*", told)
    if not final:
        raise Failure(told)
    return " ".join(final[0].split())


def libfabric(link, endpoint, provider, largest):
    """-c: contents are compared."""
    command = ("fi_pingpong", "-c", "-P", str(PORT), "-e", endpoint, "-p", provider)
    told = carried_out(link, lambda: pair(link, command, ("-B", str(PORT)), link.a.addresses[0]))
    if not re.search(rf"^{largest}\s", told, re.M):
        raise Failure(told)
    return " ".join(told.splitlines()[-1].split())


def mpi(link, name, transport):
    """Two ranks, each with a daemon of its own, as if on hosts of their own."""
    launcher, implementation, more = MPI[name]
    program = link.a.build.mpi_exchange(implementation)
    ranks = [("-n", "1", *under(daemon, program)) for daemon in (link.a, link.b)]
    said = carried_out(link, lambda: run(launcher, *ranks[0], ":", *ranks[1], timeout=100,
                                         env={**confined(transport), **more}).stdout)
    if "2 ranks, 0 wrong bytes" not in said:
        raise Failure(said)


def on_one_daemon(link, name):
    """All of it by one word in front of the launcher."""
    launcher, implementation, more = MPI[name]
    program, before = link.a.build.mpi_exchange(implementation), link.a.requests()
    said = run(*under(link.a, launcher, "-n", "3", program), timeout=100, env={**confined(RELIABLE), **more}).stdout
    if "3 ranks, 0 wrong bytes" not in said or link.a.requests() <= before:
        raise Failure(said)


def needs_programs(link):
    built = [link.a.build.mpi_exchange(implementation) for _, implementation, _ in MPI.values()]
    if not all(shutil.which(name) for name in PROGRAMS) or not all(os.access(path, os.X_OK) for path in built):
        raise Skip("no-fabric")


def checked(link, function, *arguments):
    def case():
        needs_programs(link)
        return function(link, *arguments)
    return case


def cases(link):
    def case(function, *arguments):
        return checked(link, function, *arguments)

    yield "ucx_info", case(ucx_finds)
    for transport in (RELIABLE, DATAGRAMS):
        for test in ("tag_bw", "stream_bw", "ucp_put_bw", "ucp_get", "ucp_fadd"):
            size = SIZES.get(test, 65536)
            yield f"ucx_perftest {test} {transport}", case(ucx, transport, test, size, 300)
    for name in MPI:
        yield name, case(mpi, name, RELIABLE)
        yield name + " datagrams", case(mpi, name, DATAGRAMS)
        yield name + " one daemon", case(on_one_daemon, name)


class Interface(Udp):
    """Addresses of an interface that is not the loopback: libfabric looks for connections at those alone."""

    name = "interface"
    near, far = "near0", "far0"

    def __init__(self, build, folder, networked):
        super().__init__(build, folder, networked)
        for number, daemon in enumerate((self.a, self.b), 1):
            daemon.config["ports"][0]["addresses"] = [f"10.77.9.{number}/24"]
            daemon.addresses = [f"10.77.9.{number}"]

    def __enter__(self):
        if not self.networked:
            raise Skip("no-network")
        run("ip", "link", "add", self.near, "type", "veth", "peer", "name", self.far)
        for name in (self.near, self.far):
            run("ip", "link", "set", name, "up")
        for daemon in (self.a, self.b):
            run("ip", "address", "add", daemon.addresses[0] + "/24", "dev", self.near)
        return Link.__enter__(self)

    def __exit__(self, *error):
        Link.__exit__(self, *error)
        run("ip", "link", "delete", self.near)


def interface_cases(link):
    for endpoint, provider, largest in (("msg", "verbs", "1m"), ("rdm", "verbs;ofi_rxm", "1m"),
                                        ("rdm", "verbs;ofi_rxd", "1m"), ("dgram", "verbs", "1k")):
        yield f"fi_pingpong {endpoint} {provider}", checked(link, libfabric, endpoint, provider, largest)
