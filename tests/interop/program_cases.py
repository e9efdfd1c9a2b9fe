# SPDX-License-Identifier: BSD-3-Clause
"""ping, and nddping beside rping in every option that they share (doc/nddping.md), in both roles."""

from bench import FAMILIES, OURS, PEER, Case
from sandbox import Failure, until

CONTENTS = "the program's own look at the data"
PORT = 7301
CLIENTS = 3


def ping(bench, family):
    bench.guest.run(f"ping -c 3 -i 0.2 -W 5 {OURS[family]}")
    # Fragments are the daemon's to refuse; the largest packet of the link is not one.
    payload = bench.mtu - (28 if family == "v4" else 48)
    bench.guest.run(f"ping -M do -c 2 -i 0.2 -W 5 -s {payload} {OURS[family]}")


def rping_in(bench, family, size, count, *more, server=("-V",)):
    """more: options of rping."""
    return bench.captured(lambda: bench.ours_waits(
        bench.daemon.ping_server("-a", OURS[family], *server),
        f"rping -c -v -V -a {OURS[family]} -S {size} -C {count} {' '.join(more)}"))


def rping_ended(server):
    """Its two threads race at its end: the one that waits for events of connections may find their channel closed by
    the other, and exits with that. All pings are over by then, and nddping has compared what came back."""
    return server.wait(30) == 0 or (
        "server DISCONNECT EVENT..." in server.text and "rdma_get_cm_event: Bad file descriptor" in server.text)


def rping_out(bench, family, size, count, *more, server=""):
    """more: options of nddping; server: of rping."""
    return bench.captured(lambda: bench.guest_waits(
        f"rping -s -v -V -a {PEER[family]} -S {size} -C {count} {server}",
        lambda: bench.daemon.ping("-a", PEER[family], "-S", size, "-C", count, *more), well=rping_ended))


def verbose_in(bench, family):
    """-v prints what is pinged at both ends: it is the same."""
    def act():
        with bench.daemon.ping_server("-v", "-V", "-a", OURS[family]) as server:
            said = bench.guest.run(f"rping -c -v -V -d -a {OURS[family]} -S 40 -C 3").text
            if server.wait():
                raise Failure(f"nddping -s: exit {server.wait()}\n{server.text}")
        for n in range(3):
            ping = f"ping data: rdma-ping-{n}: "
            if ping not in said or "server " + ping not in server.text:
                raise Failure(f"without {ping!r}\n{said}\n{server.text}")

    return bench.captured(act)


def persistent_in(bench, family):
    """Several of the guest's at once, at a server that goes on."""
    def act():
        with bench.daemon.ping_server("-P", "-V", "-a", OURS[family], "-p", PORT) as server:
            line = f"rping -c -V -a {OURS[family]} -p {PORT} -S 3000 -C 10"
            clients = [bench.guest.popen(line) for _ in range(CLIENTS)]
            if [c.wait() for c in clients] != [0] * CLIENTS:
                raise Failure("\n".join(c.text for c in clients))
            server.stop()

    return bench.captured(act)


def persistent_out(bench, family):
    def act():
        with bench.guest.popen(f"rping -s -P -v -a {PEER[family]} -p {PORT} -S 3000") as server:
            until(lambda: bench.guest_listens() or server.status is not None, "rping -s -P listens")
            for _ in range(CLIENTS):
                bench.daemon.ping("-a", PEER[family], "-p", PORT, "-S", 3000, "-C", 5)
            if server.status is not None:
                raise Failure(f"rping -s -P: exit {server.status}\n{server.text}")

    return bench.captured(act)


def cases(bench):
    for f in FAMILIES:
        yield Case(f"ping {f}", "in", "answers, also to the largest packet", lambda f=f: ping(bench, f))
        # 20000 bytes: several packets a message; 26 and 65535: the ends of -S.
        for title, size, count, whole in (("rping", 100, 10, False), ("rping -S 20000", 20000, 5, False),
                                          ("rping -S 26", 26, 5, True), ("rping -S 65535", 65535, 3, True)):
            yield Case(f"{title} {f}", "in", CONTENTS,
                       lambda f=f, s=size, c=count: rping_in(bench, f, s, c), whole)
            yield Case(f"{title} {f}", "out", CONTENTS,
                       lambda f=f, s=size, c=count: rping_out(bench, f, s, c), whole)
        whole = f == "v6"
        yield Case(f"rping -q {f}", "in", CONTENTS, lambda f=f: rping_in(bench, f, 100, 5, "-q"), whole)
        yield Case(f"rping -q {f}", "out", CONTENTS, lambda f=f: rping_out(bench, f, 100, 5, server="-q"), whole)
        yield Case(f"rping -I -p -d {f}", "in", CONTENTS, lambda f=f: rping_in(
            bench, f, 100, 5, "-d", "-I", PEER[f], "-p", str(PORT), server=("-V", "-v", "-p", PORT)), whole)
        yield Case(f"rping -I -p -d {f}", "out", CONTENTS, lambda f=f: rping_out(
            bench, f, 100, 5, "-d", "-I", OURS[f], "-p", PORT, server=f"-d -p {PORT}"), whole)
        yield Case(f"rping -v {f}", "in", "what both print", lambda f=f: verbose_in(bench, f), whole)
        yield Case(f"rping -P {f}", "in", CONTENTS, lambda f=f: persistent_in(bench, f), whole)
        yield Case(f"rping -P {f}", "out", CONTENTS, lambda f=f: persistent_out(bench, f), whole)
