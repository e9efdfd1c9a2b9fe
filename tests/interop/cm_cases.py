# SPDX-License-Identifier: BSD-3-Clause
"""rdma_cm in both roles: what becomes of a connection, not what goes over it."""

import struct

from bench import FAMILIES, OURS, PEER, Case
from partners import EVENT_MS, SINK, SOURCE, partners
from relay import DREP, DREQ, REJ, REP, REQ, RTU, cm_attribute, cm_id, cm_peer_id, req_private_data
from sandbox import Failure, until

SILENT_PORT = 7999  # no listener has it
PORT = 7180
# What an application may say: in the request behind rdma_cm's header of 36 bytes, in the answer to it,
# in a refusal. And the field that the other side is shown, which is always whole.
ASK_MAX, ACCEPT_FIELD, REJECT_MAX = 56, 196, 148
ACCEPT_MAX = {"verbspartner": 196, "ndpartner": 148}  # ours has one limit for both, as ND has
CONSUMER = 28  # the reason of a rejection by rdma_reject() or nd_connector_reject()
GOLDEN = 0x9E3779B97F4A7C15


def pattern(size, seed):
    """As partner.c makes it."""
    eights = (((i + 1) * GOLDEN ^ seed << 40 ^ seed) % (1 << 64) for i in range((size + 7) // 8))
    return b"".join(struct.pack("<Q", e) for e in eights)[:size]


def shown(text, size, seed, field):
    """The private data that an end was shown, as hex: all of it, and zeros behind."""
    if text != (pattern(size, seed) + bytes(field - size)).hex():
        raise Failure(f"private data of {size} bytes in {field}: {text}")


def roles(ours, peer, direction):
    """The active side and the passive side."""
    return (peer, ours) if direction == "in" else (ours, peer)


def where(partner, family, other):
    """The other's address, as this one writes it."""
    return other.address + ("%eth0" if family == "link-local" and partner.name == "verbspartner" else "")


def connect(one, other, name, family="v4", sizes=(0, 0), seed=1):
    """From the request to both ends' outcome; `other` listens."""
    one.ask("ask", name, where(one, family, other), PORT, sizes[0], seed)
    shown(other.ask("asked", name, EVENT_MS), sizes[0], seed, ASK_MAX)
    other.ask("accept", name, sizes[1], seed + 1)
    shown(one.want("established", "outcome", name, EVENT_MS), sizes[1], seed + 1, ACCEPT_FIELD)
    other.want("established", "outcome", name, EVENT_MS)


def works(one, other, name, size=100):
    """A message of one's arrives."""
    one.ask("fill", SOURCE, size, 5)
    other.ask("wipe", SINK, size)
    one.ask("post", name, "write", SOURCE, size, other.base + SINK, other.key)
    if not one.ask("take", EVENT_MS).startswith("SUCCESS"):
        raise Failure(f"{one.name}: a write over {name} failed")
    other.ask("look", SINK, size, 5)


def leave(one, other, name):
    one.ask("leave", name)
    other.want("left", "left", name, EVENT_MS)
    one.want("left", "left", name, EVENT_MS)
    for p in (one, other):
        p.ask("drop", name)


# checks W-CM-06[3], W-CM-09[2]
def private_data(bench, family, direction):
    def act():
        with partners(bench, family) as pair:
            one, other = roles(*pair, direction)
            other.ask("listen", PORT)
            for i, sizes in enumerate(((0, 0), (1, 1), (ASK_MAX, ACCEPT_MAX[other.name]))):
                connect(one, other, "c", family, sizes, i)
                works(one, other, "c")
                works(other, one, "c")
                leave(one, other, "c")
            for size in (0, 1, REJECT_MAX):
                one.ask("ask", "c", where(one, family, other), PORT, 0, 0)
                other.ask("asked", "c", EVENT_MS)
                other.ask("reject", "c", size, 9)
                shown(one.want(f"refused {CONSUMER}", "outcome", "c", EVENT_MS), size, 9, REJECT_MAX)
                one.ask("drop", "c")
                other.ask("drop", "c")
            one.refuses("ask", "c", where(one, family, other), PORT, ASK_MAX + 1, 0)
            one.ask("drop", "c")

    return bench.captured(act)


def no_listener(bench, family, direction):
    def act():
        with partners(bench, family) as pair:
            one, other = roles(*pair, direction)
            one.ask("ask", "c", where(one, family, other), SILENT_PORT, 0, 0)
            one.want("refused 8", "outcome", "c", EVENT_MS)

    return bench.captured(act)


def disconnects(bench, direction):
    """By either side, and by both at once: our first message of the end is lost, so that the peer's
    comes while we wait for the answer to it."""
    crossing = []

    def lose(frame):
        if cm_attribute(frame) != DREQ or not crossing or frame[6:12] != crossing[0]:
            return False
        crossing.clear()
        return True

    def act():
        with bench.relayed(lose) as relay, partners(bench) as (ours, peer):
            one, other = roles(ours, peer, direction)
            other.ask("listen", PORT)
            for first, second in ((one, other), (other, one)):
                connect(one, other, "c")
                leave(first, second, "c")
            connect(one, other, "c")
            crossing.append(bench.our_mac)
            ours.ask("leave", "c")
            until(lambda: relay.left_out == 1, "our DREQ")
            peer.ask("leave", "c")
            ours.want("left", "left", "c", EVENT_MS)
            peer.want("left", "left", "c", EVENT_MS)

    return bench.captured(act)


class Loser:
    """Of each connection, which its private data numbers, the first message of one kind is lost."""

    kinds = (REQ, REP, RTU, REJ, DREQ, DREP)

    def __init__(self):
        self.numbers, self.lost = {}, []

    def __call__(self, frame):
        kind = cm_attribute(frame)
        if kind not in self.kinds:
            return False
        if kind == REQ:
            self.numbers[cm_id(frame)] = self.number(req_private_data(frame))
        number = self.numbers.get(cm_id(frame), self.numbers.get(cm_peer_id(frame)))
        self.numbers[cm_id(frame)] = number
        if number is None or self.kinds[number] != kind or kind in self.lost:
            return False
        self.lost.append(kind)
        return True

    def number(self, data):
        return next((i for i in range(len(self.kinds)) if data.startswith(pattern(8, i))), None)


def lost_messages(bench, direction):
    """Six connections at once, so that their patience is shared."""
    loser = Loser()
    refused = loser.kinds.index(REJ)
    # We remember what was refused, and refuse the repeated request; Linux asks its application anew.
    again = 1 if direction == "in" else 2

    def act():
        with bench.relayed(loser), partners(bench) as pair:
            one, other = roles(*pair, direction)
            other.ask("listen", PORT)
            for i in range(len(loser.kinds)):
                one.ask("ask", f"c{i}", other.address, PORT, 8, i)
            names, refusals = {}, 0
            while len(names) < len(loser.kinds) - 1 or refusals < again:
                i = loser.number(bytes.fromhex(other.ask("asked", f"a{len(names) + refusals}", EVENT_MS)))
                name = f"a{len(names) + refusals}"
                if i == refused:
                    other.ask("reject", name, 0, 0)
                    other.ask("drop", name)
                    refusals += 1
                else:
                    names[i] = name
                    other.ask("accept", name, 0, 0)
                    # The slower side sends an MRA, and the other one then waits for a minute.
                    if loser.kinds[i] != REP:
                        one.want("established", "outcome", f"c{i}", EVENT_MS)
            one.want("established", "outcome", f"c{loser.kinds.index(REP)}", EVENT_MS)
            one.want(f"refused {CONSUMER}", "outcome", f"c{refused}", EVENT_MS)
            for name in names.values():
                other.want("established", "outcome", name, EVENT_MS)
            for i in names:
                one.ask("leave", f"c{i}")
            for name in names.values():
                other.want("left", "left", name, EVENT_MS)
            for i in names:
                one.want("left", "left", f"c{i}", EVENT_MS)
            if sorted(loser.lost) != sorted(loser.kinds):
                raise Failure(f"lost: {loser.lost}, of {loser.kinds}")

    return bench.captured(act)


def doubled_messages(bench, direction):
    """Each message of the CM comes twice."""
    class Doubler:
        relay, count = None, 0

        def __call__(self, frame):
            if cm_attribute(frame) is not None:
                self.relay.ends[1 if frame[6:12] == bench.our_mac else 0].send(frame)
                self.count += 1
            return False

    doubler = Doubler()

    def act():
        with bench.relayed(doubler) as doubler.relay, partners(bench) as pair:
            one, other = roles(*pair, direction)
            other.ask("listen", PORT)
            connect(one, other, "c")
            works(one, other, "c")
            works(other, one, "c")
            leave(one, other, "c")
            one.ask("ask", "c", other.address, PORT, 0, 0)
            other.ask("asked", "c", EVENT_MS)
            other.ask("reject", "c", 0, 0)
            one.want(f"refused {CONSUMER}", "outcome", "c", EVENT_MS)
            # Ours knows what it has refused; Linux may ask its application anew (see lost_messages()).
            if direction == "in":
                other.want("none", "asked", "d", 300)
            if doubler.count < 7:
                raise Failure(f"only {doubler.count} messages were doubled")

    return bench.captured(act)


def smaller_mtu(bench):
    """The guest's link has a smaller MTU than ours. The active side names the path's MTU, and it holds for both."""
    def act():
        bench.guest.run("ip link set dev eth0 mtu 1500")
        try:
            with partners(bench) as (ours, peer):
                ours.ask("listen", PORT)
                connect(peer, ours, "c")
                works(ours, peer, "c", 20000)
                works(peer, ours, "c", 20000)
                leave(peer, ours, "c")
        finally:
            bench.guest.run(f"ip link set dev eth0 mtu {bench.mtu}")

    return bench.captured(act)


def many(bench, direction, count, at_once, figure=False):
    def act():
        with partners(bench) as pair:
            one, other = roles(*pair, direction)
            other.ask("serve", PORT, count)
            one.tell("call", other.address, PORT, count, at_once)
            us = one.answer(150)
            if (got := other.answer(60)) != f"{count} messages":
                raise Failure(f"{other.name}: {got} of {count}")
            if figure:
                bench.figure(f"connect to established, {'it calls' if direction == 'in' else 'we call'}: "
                             f"{us}, median of {count}")

    return bench.captured(act)


def cases(bench):
    for f in (*FAMILIES, "link-local"):
        for d in ("in", "out"):
            yield Case(f"private data, rejects {f}", d, "each byte, reason; a write both ways",
                       lambda f=f, d=d: private_data(bench, f, d))
            yield Case(f"no listener {f}", d, "reason 8", lambda f=f, d=d: no_listener(bench, f, d))
    for d in ("in", "out"):
        yield Case("ends by either, by both v4", d, "both are told", lambda d=d: disconnects(bench, d))
        yield Case("CM messages lost v4", d, "each kind once", lambda d=d: lost_messages(bench, d))
        yield Case("CM messages doubled v4", d, "one connection, one refusal",
                   lambda d=d: doubled_messages(bench, d))
        yield Case("100 connections v4", d, "a message on each", lambda d=d: many(bench, d, 100, 1, True))
        yield Case("256 connections at once v4", d, "a message on each", lambda d=d: many(bench, d, 256, 256))
        yield Case("1000 connections v4", d, "a message on each", lambda d=d: many(bench, d, 1000, 1), True)
    yield Case("peer with a smaller MTU v4", "in", "writes both ways", lambda: smaller_mtu(bench), mtu=4200)
