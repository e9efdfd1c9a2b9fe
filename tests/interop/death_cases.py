# SPDX-License-Identifier: BSD-3-Clause
"""One side of a connection dies, at each step of its life: the other is told, packets of the dead side
that are left on the wire are answered, and a side that starts again can connect at once."""

import signal

from bench import Case
from cm_cases import PORT, connect, leave, works
from partners import EVENT_MS, SINK, SOURCE, guest_partner, our_partner, partners
from relay import RTU, cm_attribute
from sandbox import Failure

# What the survivor is told. The kernel, or our daemon, rejects or disconnects for a process that dies: with
# reason 4, "timeout", if it was the active side and has no reply yet; with 28 if it has the survivor's reply, which can
# be faster than the end of the process; with 28 if it was the passive side. Linux (6.1, 6.12) says nothing of the first
# to an application that has not accepted yet: what it does to accept fails then.
GONE = {
    "asking": ("refused 4", "refused 28", "CONNECTION_ABORTED", "CONNECTION_REFUSED", "rdma_accept refuses",
               "rdma_create_qp: Invalid argument"),
    "asked": ("refused 28",),
}


def kill(partner):
    """Without a farewell of its own."""
    partner.process.kill()
    partner.process.wait(20)


def told(survivor, step, name):
    """The survivor's outcome, or its end."""
    if step == "established":
        survivor.want("left", "left", name, EVENT_MS)
        return
    if step == "asking":
        survivor.tell("accept", name, 0, 0)
        word, _, rest = survivor.process.hear(40).partition(" ")
        got = rest if word == "error" else survivor.ask("outcome", name, EVENT_MS)
    else:
        got = survivor.ask("outcome", name, EVENT_MS)
    if not got.startswith(GONE[step]):
        raise Failure(f"{survivor.name}: {step}: {got!r}, not one of {GONE[step]}")


def process_dies(bench, direction, step, ours_dies):
    """The one that asks dies in "asking", the other in "asked", and both ways round."""
    def act():
        with our_partner(bench) as ours, guest_partner(bench) as peer:
            one, other = (peer, ours) if direction == "in" else (ours, peer)
            dead, survivor = (ours, peer) if ours_dies else (peer, ours)
            other.ask("listen", PORT)
            if step == "established":
                connect(one, other, "c")
                works(one, other, "c")
            else:
                one.ask("ask", "c", other.address, PORT, 0, 0)
                other.ask("asked", "c", EVENT_MS)
            kill(dead)
            told(survivor, step, "c")
        # Nothing of it is in the way of the next.
        with partners(bench) as pair:
            one, other = pair[::-1] if direction == "in" else pair
            other.ask("listen", PORT)
            connect(one, other, "c")
            leave(one, other, "c")

    return bench.captured(act)


def dies_before_rtu(bench):
    """The guest's program has accepted and not heard whether we are ready when it dies."""
    def act():
        with bench.relayed(lambda frame: cm_attribute(frame) == RTU), partners(bench) as (ours, peer):
            peer.ask("listen", PORT)
            ours.ask("ask", "c", peer.address, PORT, 0, 0)
            peer.ask("asked", "c", EVENT_MS)
            peer.ask("accept", "c", 0, 0)
            ours.want("established", "outcome", "c", EVENT_MS)
            kill(peer)
            ours.want("left", "left", "c", EVENT_MS)

    return bench.captured(act)


def daemon_dies(bench):
    """And starts again. The daemon knows nothing of the guest's connections then: requests on them are not
    answered (and rxe takes 7 retries, as rdma_cm gives them, for endless ones), but its DREQ is, and both can
    connect again."""
    def act():
        with guest_partner(bench) as peer:
            with our_partner(bench) as ours:
                peer.ask("listen", PORT)
                connect(ours, peer, "old")
                connect(ours, peer, "left")
                bench.daemon.process.stop(signal.SIGKILL)
            bench.daemon = bench.new_daemon().start()
            with our_partner(bench) as ours:
                connect(ours, peer, "new")
                works(ours, peer, "new")
                peer.ask("post", "old", "write", SOURCE, 8, ours.base + SINK, ours.key)
                peer.want("none", "take", 300)
                for name in ("old", "left"):
                    peer.ask("leave", name)
                    peer.want("left", "left", name, 3000)  # Linux repeats a farewell after 4 s
                if not (got := peer.ask("take", EVENT_MS)).startswith("FLUSH"):
                    raise Failure(f"a write to the daemon that died: {got}")
                works(ours, peer, "new")
                works(peer, ours, "new")
                leave(ours, peer, "new")

    return bench.captured(act)


def guest_stands_still(bench):
    """It answers nothing for a while, then it is there again, with all that it did not see."""
    def act():
        with partners(bench) as (ours, peer):
            peer.ask("listen", PORT)
            connect(ours, peer, "c")
            bench.guest.qemu.kill(signal.SIGSTOP)
            try:
                ours.ask("post", "c", "write", SOURCE, 8, peer.base + SINK, peer.key)
                if not (got := ours.ask("take", EVENT_MS)).startswith("IO_TIMEOUT"):
                    raise Failure(f"a write to a guest that stands still: {got}")
                ours.ask("ask", "d", peer.address, PORT, 0, 0)
                got = ours.ask("outcome", "d", 90000, timeout=120)
                if got not in ("IO_TIMEOUT", "HOST_UNREACHABLE"):
                    raise Failure(f"connect to a guest that stands still: {got}")
                ours.ask("leave", "c")
            finally:
                bench.guest.qemu.kill(signal.SIGCONT)
            peer.want("left", "left", "c", EVENT_MS)

    def again():
        with partners(bench) as (ours, peer):
            peer.ask("listen", PORT + 1)
            peer.ask("listen", PORT)
            connect(ours, peer, "e")
            works(ours, peer, "e")
            leave(ours, peer, "e")

    return bench.captured(lambda: (act(), again()))


def guest_starts_again(bench):
    """Its power fails: no farewell, and afterwards it knows nothing of us."""
    def act():
        with our_partner(bench) as ours:
            with guest_partner(bench) as peer:
                ours.ask("listen", PORT)
                connect(peer, ours, "c")
                bench.guest.stop()
            bench.guest.start()
            ours.ask("post", "c", "write", SOURCE, 8, peer.base + SINK, peer.key)
            if not (got := ours.ask("take", EVENT_MS)).startswith("IO_TIMEOUT"):
                raise Failure(f"a write to a guest that was started again: {got}")
            with guest_partner(bench) as peer:
                connect(peer, ours, "d")
                works(peer, ours, "d")
                works(ours, peer, "d")
                leave(peer, ours, "d")

    return bench.captured(act)


def cases(bench):
    for d in ("in", "out"):
        for ours, who in ((False, "peer"), (True, "client")):
            # The active side is the peer if it connects.
            step = "asking" if (d == "in") != ours else "asked"
            for s in (step, "established"):
                yield Case(f"{who} dies, {s} v4", d, "the other is told; the next connects",
                           lambda d=d, s=s, o=ours: process_dies(bench, d, s, o))
    yield Case("peer dies, accepted v4", "out", "we are told", lambda: dies_before_rtu(bench))
    yield Case("daemon dies v4", "both", "new connections, farewells of old ones", lambda: daemon_dies(bench))
    yield Case("guest stands still v4", "out", "we are told, it is told later",
               lambda: guest_stands_still(bench), True)
    yield Case("guest starts again v4", "in", "we are told; new connections",
               lambda: guest_starts_again(bench), True)
