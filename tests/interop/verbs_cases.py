# SPDX-License-Identifier: BSD-3-Clause
"""The same programs of verbs at both ends: in the guest on its kernel's device, here under ndd-verbs on the daemon's."""

from bench import FAMILIES, HOST, OURS, PEER, Case
from program_cases import rping_ended
from sandbox import Failure, Process, listens, run, until
from verbs import under

CONTENTS = "every byte of every message"
SOURCES = "number, length and source of messages"
ROW = "the whole test, in step to its end"
MADE = "each connection made, and ended by both"
DEVICES = {"v4": "ndd0", "v6": "ndd1"}  # in the order of the daemon's addresses
PORT = 18516
GUEST_LISTENS = f"grep -q ':{PORT:04X} 0*:0000 0A ' /proc/net/tcp /proc/net/tcp6"


def guest_calls(bench, ours, theirs, ready):
    """The guest's program begins; ours is ready for it when ready()."""
    def act():
        server = Process(*under(bench.daemon, *ours.split()), name=ours.split()[0])
        until(lambda: ready() or not server.running(), f"{ours} waits")
        if not server.running():
            raise Failure(f"{ours}: exit {server.wait()}\n{server.text}")
        bench.ours_waits(server, theirs)

    return bench.captured(act)


def we_call(bench, ours, theirs, ready, **how):
    """Our program begins; the guest's is ready for it when ready(). how: of Bench.guest_waits()."""
    return bench.captured(lambda: bench.guest_waits(
        theirs, lambda: run(*under(bench.daemon, *ours.split()), timeout=60, check=False), ready, **how))


# ---- ends that meet by rdma_cm ------------------------------------------------------------------------

def by_cm(bench, family, line, direction):
    """line: of the program, with {} for what tells the server's address and that it is one, or where it is."""
    serves, calls = line
    if direction == "in":
        return guest_calls(bench, serves.format(OURS[family]), calls.format(OURS[family]),
                           lambda: bench.daemon.usage().get("listeners"))
    how = {"well": rping_ended} if serves.startswith("rping") else {}
    return we_call(bench, calls.format(PEER[family]), serves.format(PEER[family]), bench.guest_listens, **how)


CM_PROGRAMS = (
    ("rping -V", CONTENTS, ("rping -s -V -a {} -S 3000 -C 10", "rping -c -V -a {} -S 3000 -C 10")),
    ("ucmatose -c 4", MADE, ("ucmatose -b {} -c 4 -C 20 -S 3000", "ucmatose -s {} -c 4 -C 20 -S 3000")),
    ("udaddy", SOURCES, ("udaddy -b {} -C 10 -S 100", "udaddy -s {} -C 10 -S 100")),
)
# perftest 4.5 has -R over IPv4 alone. Its client connects for the second time without a word from the server, which may
# not listen yet (2 of 9 guests were refused), so the guest's program is the server.
CM_PERFTESTS = (
    ("ib_write_bw -R", "-s 4000 -n 100"),
    ("ib_read_bw -R", "-s 4000 -n 100 -q 2"),
    ("ib_send_lat -R", "-s 64 -n 100"),
)

# ---- ends that meet by TCP ----------------------------------------------------------------------------

def by_tcp(bench, family, name, options, guest_options, direction):
    """The programs tell each other by TCP, over the host's address and the guest's."""
    ours = f"{name} -d {DEVICES[family]} {options} -p {PORT}"
    theirs = f"{name} -d rxe0 {guest_options} -p {PORT}"
    if direction == "in":
        return guest_calls(bench, ours, f"{theirs} {HOST}", lambda: listens(PORT))
    return we_call(bench, f"{ours} {PEER['v4']}", theirs,
                   lambda: bench.guest.run(GUEST_LISTENS, check=False).status == 0)


PINGPONGS = (
    ("ibv_rc_pingpong -c", CONTENTS, "-c -n 100 -s 4096 -m 1024"),
    ("ibv_rc_pingpong -e -c", CONTENTS, "-e -c -n 50 -s 9001 -m 512"),
    ("ibv_srq_pingpong -c", CONTENTS, "-c -n 200 -s 2000 -q 8"),
)
# Each asks for as many reads under way as its peer's device takes, and rdma_rxe takes more than the daemon: -o.
PERFTESTS = (
    ("ib_write_bw", "-s 4000 -n 100 -q 2"),
    ("ib_read_bw", "-s 4000 -n 100 -o 16"),
    ("ib_send_bw", "-s 3000 -n 100 -b"),
    ("ib_send_bw -e", "-s 3000 -n 100 -e"),
    ("ib_atomic_bw", "-n 100 -o 16"),
    ("ib_write_lat", "-s 64 -n 100"),
    ("ib_write_bw -b -c UC", "-b -c UC -s 4000 -n 100"),
    ("ib_write_lat -c UC", "-c UC -s 64 -n 100"),
    ("ib_send_lat -c UC", "-c UC -s 3000 -n 100"),
)


def tcp_cases(bench, family, direction):
    gid = bench.gid_index(family)
    for title, verified, options in PINGPONGS:
        yield title, verified, lambda n=title, o=options: by_tcp(
            bench, family, n.split()[0], f"-g 0 {o}", f"-g {gid} {o}", direction)
    for title, options in PERFTESTS:
        yield title, ROW, lambda n=title, o=options: by_tcp(
            bench, family, n.split()[0], f"-F {o}", f"-F -x {gid} {o}", direction)


def cm_cases(bench, family, direction):
    for title, verified, line in CM_PROGRAMS:
        yield title, verified, lambda l=line: by_cm(bench, family, l, direction)
    for title, options in CM_PERFTESTS if (family, direction) == ("v4", "out") else ():
        line = f"{title} -F {options} -p {PORT}"
        yield title, ROW, lambda l=line: by_cm(bench, family, (l, l + " {}"), direction)


def cases(bench):
    for family in FAMILIES:
        for direction in ("in", "out"):
            for of in (cm_cases, tcp_cases):
                for title, verified, act in of(bench, family, direction):
                    yield Case(f"ndd-verbs {title} {family}", direction, verified, act, family == "v6")
