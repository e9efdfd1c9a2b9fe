# SPDX-License-Identifier: BSD-3-Clause
"""ping and rping of the guest with the daemon and nddping, in both roles."""

from bench import FAMILIES, OURS, PEER, Case

CONTENTS = "the program's own look at the data"


def ping(bench, family):
    bench.guest.run(f"ping -c 3 -i 0.2 -W 5 {OURS[family]}")
    # Fragments are the daemon's to refuse; the largest packet of the link is not one.
    payload = bench.mtu - (28 if family == "v4" else 48)
    bench.guest.run(f"ping -M do -c 2 -i 0.2 -W 5 -s {payload} {OURS[family]}")


def rping_in(bench, family, size, count):
    return bench.captured(lambda: bench.ours_waits(
        bench.daemon.ping_server("-V", "-a", OURS[family]),
        f"rping -c -v -V -a {OURS[family]} -S {size} -C {count}"))


def rping_out(bench, family, size, count):
    return bench.captured(lambda: bench.guest_waits(
        f"rping -s -v -V -a {PEER[family]} -S {size} -C {count}",
        lambda: bench.daemon.ping("-a", PEER[family], "-S", size, "-C", count)))


def cases(bench):
    for f in FAMILIES:
        yield Case(f"ping {f}", "in", "answers, also to the largest packet", lambda f=f: ping(bench, f))
        # 20000 bytes: several packets a message.
        for name, size, count in (("rping", 100, 10), ("rping 20000 bytes", 20000, 5)):
            yield Case(f"{name} {f}", "in", CONTENTS, lambda f=f, s=size, c=count: rping_in(bench, f, s, c))
            yield Case(f"{name} {f}", "out", CONTENTS, lambda f=f, s=size, c=count: rping_out(bench, f, s, c))
