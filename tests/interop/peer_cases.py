# SPDX-License-Identifier: BSD-3-Clause
"""Programs of rdma-core in the guest and their peers (tests/interop/peers), in both roles."""

from bench import FAMILIES, HOST, OURS, PEER, Case
from sandbox import Failure, until

CONTENTS = "every byte of every message"
SOURCES = "number, length and source of messages"
COUNTS = "number and length of messages"
MADE = "each connection made, and ended by both"
NO_PORT = 7999  # no listener has it


def ours(bench, program, family, options):
    return (bench.daemon.build.ndpeer, program, "-b", OURS[family], *options.split())


def guest_calls(bench, program, family, options, line):
    """The guest's program begins, ours answers."""
    def act():
        server = bench.daemon.popen(*ours(bench, program, family, options))
        server.expect("listening")
        bench.ours_waits(server, line)

    return bench.captured(act)


def we_call(bench, program, family, options, line, ready=None):
    """Our program begins, the guest's answers."""
    return bench.captured(lambda: bench.guest_waits(
        line, lambda: bench.daemon.run(*ours(bench, program, family, options), check=False), ready))


def pingpong_in(bench, program, family, options):
    line = f"ibv_{program} -d rxe0 -g {bench.gid_index(family)} {options} {HOST}"
    return guest_calls(bench, program, family, options, line)


def pingpong_out(bench, program, family, options):
    """Ours tries until the TCP port is there."""
    line = f"ibv_{program} -d rxe0 -g {bench.gid_index(family)} {options}"
    return we_call(bench, program, family, f"{options} {PEER['v4']}", line, lambda: True)


def pingpongs(bench, family):
    for title, program, verified, options in (
            ("ud_pingpong", "ud_pingpong", SOURCES, "-n 100 -s 1024"),
            ("rc_pingpong", "rc_pingpong", CONTENTS, "-n 100 -s 4096 -m 1024 -c"),
            ("rc_pingpong by events", "rc_pingpong", CONTENTS, "-n 50 -s 9001 -m 512 -e -c"),
            ("srq_pingpong", "srq_pingpong", CONTENTS, "-n 200 -s 2000 -q 8 -c")):
        # checks W-PKT-07, W-PKT-13, W-UD-01, W-QP-05
        yield Case(f"{title} {family}", "in", verified,
                   lambda p=program, o=options: pingpong_in(bench, p, family, o), family == "v6")
        yield Case(f"{title} {family}", "out", verified,
                   lambda p=program, o=options: pingpong_out(bench, p, family, o), family == "v6")


def cm_programs(bench, family):
    """Programs whose clients take the server's address as -s; both sides get the same options."""
    for program, title, verified, options in (
            ("udaddy", "udaddy", SOURCES, "-C 10 -S 100"),
            ("ucmatose", "ucmatose", COUNTS, "-C 10 -S 100"),
            ("ucmatose", "ucmatose, 8 at once", COUNTS, "-c 8 -C 20 -S 3000 -t 32 -p 7500")):
        yield Case(f"{title} {family}", "in", verified, lambda p=program, o=options: guest_calls(
            bench, p, family, o, f"{p} -s {OURS[family]} {o}"))
        yield Case(f"{title} {family}", "out", verified, lambda p=program, o=options: we_call(
            bench, p, family, f"{o} -s {PEER[family]}", f"{p} -b {PEER[family]} {o}"))


def cmtime_out(bench, family, count):
    """The guest's server never ends by itself."""
    figures = []

    def act():
        with bench.guest.popen(f"cmtime -b {PEER[family]}") as server:
            until(lambda: bench.guest_listens() or server.status is not None, "cmtime listens")
            if server.status is not None:
                raise Failure(f"cmtime: exit {server.status}\n{server.text}")
            done = bench.daemon.run(*ours(bench, "cmtime", family, f"-c {count} -s {PEER[family]}"))
            figures.extend(done.stdout.splitlines())

    return "\n".join([bench.captured(act), *figures])


GROUP, GROUP_MAC = "239.1.2.3", "01:00:5e:01:02:03"


def guest_is_member(bench):
    return GROUP_MAC in bench.guest.run("ip maddress show dev eth0").text


def receive_of_group(bench, options):
    def act():
        server = bench.daemon.popen(*ours(bench, "mckey", "v4", options))
        server.expect("listening")
        bench.ours_waits(server, f"mckey -s -b {PEER['v4']} {options}")

    return bench.captured(act, senders=1)


def send_to_group(bench, options):
    def act():
        bench.guest_waits(f"mckey -b {PEER['v4']} {options}",
                          lambda: bench.daemon.run(*ours(bench, "mckey", "v4", "-s " + options), check=False),
                          lambda: guest_is_member(bench))

    return bench.captured(act, senders=1)


def groups(bench):
    """rdma_cm's groups, which are of IPv4 alone: joined by IGMP, with the Q_Key of its own."""
    options = f"-m {GROUP} -C 10 -S 1000"
    # checks W-MC-05[1], W-MC-07[1]
    yield Case("mckey v4", "in", SOURCES, lambda: receive_of_group(bench, options))
    # checks W-MC-05[1], W-MC-06[1,2]
    yield Case("mckey v4", "out", COUNTS, lambda: send_to_group(bench, options))


def nobody(bench, family):
    def act():
        done = bench.daemon.run(
            *ours(bench, "udaddy", family, f"-s {PEER[family]} -p {NO_PORT}"), check=False)
        if done.returncode != 3 or "no such service" not in done.stdout:
            raise Failure(f"udaddy to nobody: exit {done.returncode}\n{done.stdout}")

    return bench.captured(act)


def cases(bench):
    for f in FAMILIES:
        yield from pingpongs(bench, f)
        yield from cm_programs(bench, f)
        yield Case(f"cmtime, 50 at once {f}", "in", MADE, lambda f=f: guest_calls(
            bench, "cmtime", f, "-c 50", f"cmtime -s {OURS[f]} -c 50"))
        yield Case(f"cmtime, 50 at once {f}", "out", MADE, lambda f=f: cmtime_out(bench, f, 50))
    yield from groups(bench)
    yield Case("no datagram service v4", "out", "refused in the peer's words", lambda: nobody(bench, "v4"))
