# SPDX-License-Identifier: BSD-3-Clause
"""perftest's programs in the guest against ndperf --peer perftest, in both roles: ends that meet by TCP and
by rdma_cm (-R, which perftest 4.5 has over IPv4 alone)."""

from bench import HOST, OURS, PEER, Case
from sandbox import Failure, until

PORT = 18515
TCP_LISTENS = f"grep -q ':{PORT:04X} 0*:0000 0A ' /proc/net/tcp"
OPERATIONS = ("send", "write", "read", "atomic")
ROW = "the whole test, in step to its end"
# Options that both have: ours, and the program's.
VARIANTS = (
    ("ib_send_bw -q -b", "-q 3 -b -n 100 --size 3000", "-q 3 -b -n 100 -s 3000"),
    ("ib_write_bw -q -b -R", "-q 2 -b -n 100 --size 3000 -R", "-q 2 -b -n 100 -s 3000 -R"),
    ("ib_read_bw -b -m", "-b -n 100 --size 3000 --mtu 512", "-b -n 100 -s 3000 -m 512"),
    ("ib_send_bw -D", "-D 2 --size 3000", "-D 2 -s 3000"),
    ("ib_write_bw -D", "-D 2 --size 3000", "-D 2 -s 3000"),
    ("ib_send_bw -a", "-a -n 5", "-a -n 5"),
    ("ib_send_lat -e", "-n 100 --event", "-n 100 -e"),
)


def guest_line(bench, operation, mode, family, options):
    """-F: a change of the CPU's clock is no reason to stop."""
    return f"ib_{operation}_{mode} -F -d rxe0 -x {bench.gid_index(family)} {options}"


def ours(bench, operation, mode, options, *more):
    return (bench.daemon.build.ndperf, "--peer", "perftest", "-t", operation, "-m", mode,
            *options.split(), *more)


def calls_in(bench, operation, mode, family, options, guest_options):
    """The guest's program is the client."""
    cm = "-R" in options
    where = OURS[family] if cm else HOST
    line = f"{guest_line(bench, operation, mode, family, guest_options)} {where}"

    def act():
        server = bench.daemon.popen(*ours(bench, operation, mode, options, "-s", "--bind", OURS[family]))
        server.expect("listening")
        bench.ours_waits(server, line)

    return bench.captured(act)


def calls_out(bench, operation, mode, family, options, guest_options):
    cm = "-R" in options

    def ready():
        return bench.guest_listens() if cm else bench.guest.run(TCP_LISTENS, check=False).status == 0

    return bench.captured(lambda: bench.guest_waits(
        guest_line(bench, operation, mode, family, guest_options),
        lambda: bench.daemon.run(*ours(bench, operation, mode, options, PEER["v4"], "--bind", OURS[family]),
                                 check=False), ready))


def cases(bench):
    for operation in OPERATIONS:
        for mode in ("bw", "lat"):
            size = "" if operation == "atomic" else " 4000" if mode == "bw" else " 64"
            for family, way in (("v4", ""), ("v6", ""), ("v4", " -R")):
                options = "-n 200" + (f" --size{size}" if size else "") + way
                guest_options = "-n 200" + (f" -s{size}" if size else "") + way
                title = f"ib_{operation}_{mode}{way} {family}"
                # The core has each program once by TCP and once with -R, and each way to begin.
                yield Case(title, "in", ROW, lambda a=(operation, mode, family, options, guest_options):
                           calls_in(bench, *a), way != "" or family != "v4")
                yield Case(title, "out", ROW, lambda a=(operation, mode, family, options, guest_options):
                           calls_out(bench, *a), way == "")
    for title, options, guest_options in VARIANTS:
        yield Case(f"{title} v4", "in", ROW, lambda t=title, o=options, g=guest_options: calls_in(
            bench, *t.split()[0].split("_")[1:3], "v4", o, g), True)
        yield Case(f"{title} v4", "out", ROW, lambda t=title, o=options, g=guest_options: calls_out(
            bench, *t.split()[0].split("_")[1:3], "v4", o, g), True)
