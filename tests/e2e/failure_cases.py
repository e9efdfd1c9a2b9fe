# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong: requests, connections, processes. Each case ends with a proof that the rest works."""

import collections
import os
import re
import signal

from links import Memif
from relay import DREQ, REQ, RTU, SIDR_REP, SIDR_REQ, Relayed, cm_attribute, cm_id, cm_peer_id
from sandbox import Failure, run, scratch, until
from transfer_cases import perf

SCENARIOS = """
    flush flush-connected close-deep flush-race
    deep-receives deep-flush deep-srq deep-limits
    full-cq full-receive-cq grants no-receive late-receive long-send wrong-key out-of-bounds no-right dead-key
    region-again many-regions region-rights region-flags read-into-read-only foreign-memory
    foreign-rights foreign-gone foreign-fork lost-memory
    region-domains deferred
    notify
    no-listener no-neighbour no-route reject private-data port-in-use disconnect
    numbers numbers-refused numbers-taken keepalive events events-queues events-srq
    adapters bound-listener bound-and-left bind wildcard host-ports bound-connect port-kept shared-endpoint
    states read-limits read-rights passive-first one-connection when-asked same-adapter vanished crossing storm
    listener-calls listener-closes listener-pends
    any-order told-first profiles broken last-word crossing-ends closed-while-connected undrained hands-off process-dies
    cancel cancels abandoned queue-pair-closed closed-while-pending port callbacks
    datagrams services
    srq srq-empty srq-notify srq-callback
    resize resize-load atomics immediates
    multicast
    fast-register fast-register-inline fast-register-fails fast-register-ends
    read-local-invalidate privileged-token
    window window-refuses window-not-local window-misuse window-rebind window-of-another
    window-busy window-region-closed window-region-left window-ends window-limit
    invalidated invalidate-under-way invalidate-unbound
    remote-invalidate remote-invalidate-then-write remote-invalidate-first
    remote-invalidate-bad-token remote-invalidate-solicited
""".split()


def scenario(link, name, family, *more, timeout=150):
    done = run(link.build.ndtest, name, link.a.socket_path, link.a.addresses[family],
               link.b.socket_path, link.b.addresses[family], *more, timeout=timeout)
    return done.stdout.rpartition("; ")[0] or None  # figures, if it has some


def still_works(link):
    perf(link, "-t", "write", "--size", "100K", "-n", 50)


def nothing_left(daemon):
    """All that sessions had is given back."""
    try:
        until(lambda: not daemon.usage(), "all given back", 40, every=0.2)  # a DREQ: 10 s
    except Failure:
        raise Failure(f"daemon {daemon.name} still has {daemon.usage()}") from None


# More than ndperf exchanges with its peer before a transfer begins: queue pairs are there when it
# still connects, and a client that loses its peer then prints another message.
HANDSHAKE = 32


class Transfer:
    """A transfer without end between the daemons, under way."""

    def __init__(self, link, operation="write"):
        nothing_left(link.a)  # or what an earlier case had would pass for this transfer
        nothing_left(link.b)
        before = link.a.requests()
        self.server = link.b.popen(link.build.ndperf, "-s")
        self.server.expect("listening")
        self.client = link.a.popen(link.build.ndperf, link.b.addresses[0], "-t", operation, "--size",
                                   "256K", "-D", 600)
        until(lambda: link.a.requests() > before + HANDSHAKE, "transfer under way", every=0.2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.stop(signal.SIGKILL)
        self.server.stop(signal.SIGKILL)


def kill_client(link, operation):
    with Transfer(link, operation) as transfer:
        transfer.client.kill()
        nothing_left(link.a)
        # Its server notices, and takes another client.
        link.a.run(link.build.ndperf, link.b.addresses[0], "-n", 50)
        transfer.server.kill()
    nothing_left(link.b)
    still_works(link)


def kill_server(link, operation):
    with Transfer(link, operation) as transfer:
        transfer.server.kill()
        status = transfer.client.wait(60)
        if status != 4:
            raise Failure(f"ndperf: exit {status} after its peer was killed\n{transfer.client.text}")
    nothing_left(link.a)
    nothing_left(link.b)
    still_works(link)


def stopped_client(link):
    """One that moves its own memory is stopped in mid-transfer: its peer waits, others of the same
    daemons go on; then it goes on too."""
    with link.b.popen(link.build.ndperf, "-s", "--once", "--memory", "heap", "-p", 7001) as server:
        server.expect("listening")
        with link.a.popen(link.build.ndperf, link.b.addresses[0], "-p", 7001, "-D", 3,
                          "--size", "1M") as client:
            server.expect("begins")
            until(lambda: link.b.usage().get("qps", 0) >= 2, "the transfer's queue pairs")
            server.kill(signal.SIGSTOP)
            still_works(link)
            server.kill(signal.SIGCONT)
            if client.wait(60) or server.wait(60):
                raise Failure(f"after going on: {client.text}\n{server.text}")


def kill_holder(link):
    """A client with bound windows."""
    with link.a.popen(link.build.ndtest, "hold", link.a.socket_path, link.a.addresses[0],
                      link.b.socket_path, link.b.addresses[0]) as holder:
        holder.expect("holding")
        if (link.a.usage().get("mws"), link.b.usage().get("mws")) != (1, 2):
            raise Failure(f"windows in use: {link.a.usage()}, {link.b.usage()}")
        holder.kill()
        nothing_left(link.a)
        nothing_left(link.b)


def end_daemon(build, number, daemon_name, survivor_name):
    """End a daemon in mid-transfer: its client is told so, the other daemon lives on and serves a
    daemon that takes the place of the first."""
    with scratch() as folder, Memif(build, folder) as link:
        victim, survivor = getattr(link, daemon_name), getattr(link, survivor_name)
        with Transfer(link) as transfer:
            victim.process.kill(number)
            status = victim.process.wait(30)
            if number == signal.SIGTERM and status:
                raise Failure(f"the daemon's exit status after SIGTERM: {status}")
            own, far = transfer.client, transfer.server
            if victim is link.b:
                own, far = far, own
            if own.wait(60) == 0:
                raise Failure(f"{own.name}: exit 0 without its daemon")
            # A daemon that ends in good order may end the connection before the session.
            if number == signal.SIGKILL and "ND_DEVICE_REMOVED" not in own.text:
                raise Failure(f"{own.name}: no ND_DEVICE_REMOVED\n{own.text}")
            if victim is link.b:  # the client at the other end: its requests fail
                if far.wait(60) != 4:
                    raise Failure(f"ndperf: exit {far.wait()} after its peer's daemon ended\n{far.text}")
        nothing_left(survivor)
        victim.start()
        still_works(link)


def client_side_first(build):
    """The end of a shared memory link that is to connect is there before the other."""
    with scratch() as folder:
        link = Memif(build, folder)
        with link.b, link.a:
            still_works(link)


def daemon_of_a_ends(build, name):
    with scratch() as folder, Memif(build, folder) as link:
        scenario(link, name, 0, link.a.process.pid)
        nothing_left(link.b)


class NoRtu:
    """Leaves out the last message of each handshake, however often it is sent. One that has not left yet is not sent
    any more when the peer's DREQ comes, which answers the first data."""

    def __init__(self):
        self.asked, self.ready, self.ended = set(), set(), set()  # their ids at the end that asks

    def __call__(self, frame):
        kind = cm_attribute(frame)
        if kind == REQ:
            self.asked.add(cm_id(frame))
        elif kind == RTU:
            self.ready.add(cm_id(frame))
        elif kind == DREQ and cm_peer_id(frame) in self.asked - self.ready:
            self.ended.add(cm_peer_id(frame))
        return kind == RTU

    def note(self):
        if len(self.asked) < 20 or not self.ready or self.asked - self.ready - self.ended:
            raise Failure(f"{len(self.asked)} connections, {len(self.ready)} RTUs left out, "
                          f"{len(self.ended)} ended before")
        return f"{len(self.ready)} RTUs left out, {len(self.ended)} not sent"


def data_first(build, networked, name):
    rtu = NoRtu()
    with scratch() as folder, Relayed(build, folder, rtu, networked) as link:
        scenario(link, name, 0)
    return rtu.note()


def lookups_lost(build, networked):
    """Of each lookup's messages the first two are lost, on either way."""
    seen = collections.Counter()

    def leave_out(frame):
        attribute = cm_attribute(frame)
        if attribute not in (SIDR_REQ, SIDR_REP):
            return False
        seen[attribute, cm_id(frame)] += 1
        return seen[attribute, cm_id(frame)] <= 2

    with scratch() as folder, Relayed(build, folder, leave_out, networked,
                                           rc={"cm_retries": 15}) as link:
        scenario(link, "lookups", 0)
        lost = [a for (a, _), n in seen.items() if n > 2]
        if lost.count(SIDR_REQ) < 3 or lost.count(SIDR_REP) < 3:
            raise Failure(f"lookups whose messages were lost: {seen}")
        return f"{link.relay.left_out} messages left out"


def forked(build):
    """A child that lives on does not keep its parent's session."""
    with scratch() as folder, Memif(build, folder) as link:
        read_end, write_end = os.pipe()
        try:
            with link.a.popen(build.ndtest, "fork", link.a.socket_path, link.a.addresses[0],
                              link.b.socket_path, link.b.addresses[0], stdin=read_end) as parent:
                parent.expect("child ")
                until(lambda: re.search(r"child (\d+)\n", parent.text), "pid of the child")
                child = int(re.search(r"child (\d+)\n", parent.text).group(1))
                parent.kill()
                nothing_left(link.a)
                nothing_left(link.b)
                os.kill(child, 0)  # it is still there
        finally:
            os.close(read_end)
            os.close(write_end)


def ping_words(link):
    """What nddping says when it can't: the reason, in words, and its exit status."""
    unused = link.b.addresses[0][:-1] + "77"
    for arguments, words in (
            (["-a", unused], "ND_HOST_UNREACHABLE"),
            (["-a", "198.51.100.1"], "ND_NETWORK_UNREACHABLE"),
            (["-a", link.b.addresses[0], "-p", "7999"], "ND_CONNECTION_REFUSED")):
        done = link.a.ping("-C", 1, *arguments, check=False)
        if done.returncode != 3 or words not in done.stdout:
            raise Failure(f"nddping {' '.join(arguments)}: exit {done.returncode}, no {words} in\n"
                          f"{done.stdout}")


def no_daemon(link):
    done = run(link.build.nddping, "-c", "-a", "192.0.2.2", "--socket", link.folder + "/none.sock",
               check=False)
    if done.returncode != 2 or "none.sock" not in done.stdout:
        raise Failure(f"nddping without a daemon: exit {done.returncode}\n{done.stdout}")


def cases(link):
    for name in SCENARIOS:
        yield name, lambda n=name: scenario(link, n, 0)
    for name in ("numbers", "datagrams", "services", "multicast", "late-receive", "no-listener", "no-neighbour",
                 "no-route", "disconnect", "port-kept"):
        yield name + " v6", lambda n=name: scenario(link, n, 1)
    for name in ("affinity", "region-cancel", "silent-peer", "keepalive-connection", "cancel-disconnect", "hands-off-given-up"):
        yield name, lambda n=name: scenario(link, n, 0, link.a.process.pid)
    yield "nddping says why", lambda: ping_words(link)
    yield "nddping without a daemon", lambda: no_daemon(link)
    for operation in ("write", "send", "read"):
        yield f"kill -9 client, {operation}", lambda o=operation: kill_client(link, o)
        yield f"kill -9 peer, {operation}", lambda o=operation: kill_server(link, o)
    yield "kill -9 client with windows", lambda: kill_holder(link)
    yield "stopped client that moves its memory", lambda: stopped_client(link)
    yield "nothing is left", lambda: (nothing_left(link.a), nothing_left(link.b)) and None


def lone_cases(build, networked):
    """Cases that need daemons of their own, because they end them."""
    for number, word in ((signal.SIGKILL, "kill -9"), (signal.SIGTERM, "SIGTERM")):
        yield f"{word} daemon of the client", lambda n=number: end_daemon(build, n, "a", "b")
        yield f"{word} daemon of the peer", lambda n=number: end_daemon(build, n, "b", "a")
    yield "memif client first", lambda: client_side_first(build)
    for name in ("device-removed", "daemon-dies", "full-cq-daemon-dies", "port-daemon-dies", "callback-daemon-dies",
                 "events-daemon-dies"):
        yield name, lambda n=name: daemon_of_a_ends(build, n)
    yield "lookups lost", lambda: lookups_lost(build, networked)
    yield "data first", lambda: data_first(build, networked, "data-first")
    yield "fatal message first", lambda: data_first(build, networked, "fatal-first")
    yield "fork does not keep a session", lambda: forked(build)
