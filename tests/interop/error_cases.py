# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong between two peers, and what each of them is told: every NAK code, RNR, no answer. And
what loss, duplicates and another order in the guest's queueing discipline do not change.

"in": rdma_rxe asks and we answer; "out": the other way round. Where it deviates as the responder (6.1 and
6.12 alike) the row says so."""

import collections
import contextlib
import random
import re

from bench import Case
from op_cases import atomics, expect, transfer
from partners import SINK, SOURCE, bring_up, drop, partners
from sandbox import Failure

MTU, ROOM = 1024, 64
FAR = 64 << 20  # beyond the area
NO_KEY = 0x5500  # makes a key that no region has
QUICK = {"timeout": 10, "retries": 2, "rnr_retries": 1, "rnr_timer": 1}

# A request: op, its bytes, at: offset of its target, key: of the region ("weak": one without remote
# rights; "none": of nothing), rights: of the responder's queue pair, receive: what the responder posts
# before. answers, by direction: status of the request, status of that receive, state of the responder.
Fault = collections.namedtuple("Fault", "name op bytes at key rights receive answers")
# What the library of each direction's requester says, and that of its responder.
ND = {"REM_ACCESS": "ACCESS_VIOLATION", "REM_INV_REQ": "DATA_ERROR", "REM_OP": "REMOTE_ERROR",
      "RETRY_EXC": "IO_TIMEOUT", "RNR_RETRY_EXC": "IO_TIMEOUT", "FLUSH": "CANCELED", "SUCCESS": "SUCCESS"}
POSTED = (ROOM,)


def refused(request, received="CANCELED", by_rxe=None):
    """The responder ends with the request; by_rxe: the same where rxe is that and deviates."""
    out = by_rxe or (request, "FLUSH")
    return {"in": (request, received, "ERROR"), "out": (ND[out[0]], out[1], "ERROR")}


def untold(request):
    """The responder is not to know."""
    return {"in": (request, None, "RTS"), "out": (ND[request], None, "RTS")}


FAULTS = (
    # NAK 2, remote access error.
    *(Fault(f"{op}: {name}", op, 8, at, key, "rwa", POSTED, refused("REM_ACCESS"))
      for op in ("write", "read", "add", "swap")
      for name, at, key in (("no such key", SINK, "none"), ("beyond the region", FAR, "all"),
                            ("region without the right", SINK, "weak"))),
    Fault("write of many packets: no such key", "write", 20000, SINK, "none", "rwa", POSTED,
          refused("REM_ACCESS")),
    # NAK 1, invalid request.
    *(Fault(f"{op}: queue pair without the right", op, 8, SINK, "all", rights, POSTED,
            refused("REM_INV_REQ"))
      for op, rights in (("write", "ra"), ("read", "wa"), ("add", "rw"), ("swap", "rw"))),
    # rxe answers NAK 3, where the rule has NAK 1, and calls the receive a fault of its own.
    Fault("send: longer than the receive", "send", ROOM + 1, SINK, "all", "rwa", POSTED,
          refused("REM_INV_REQ", "DATA_OVERRUN", ("REM_OP", "LOC_QP_OP"))),
    Fault("send of many packets: longer than the receive", "send", 20000, SINK, "all", "rwa", (10000,),
          refused("REM_INV_REQ", "DATA_OVERRUN", ("REM_OP", "LOC_QP_OP"))),
    # NAK 3, remote operational error.
    Fault("send: receive with a bad key", "send", 8, SINK, "all", "rwa", (ROOM, "bad"),
          refused("REM_OP", "ACCESS_VIOLATION", ("REM_OP", "LOC_QP_OP"))),
    # RNR for longer than agreed, and no answer at all: nothing that the responder has to do with.
    Fault("send: no receive", "send", 8, SINK, "all", "rwa", None, untold("RNR_RETRY_EXC")),
)


def fault(one, other, f, direction):
    request, received, state = f.answers[direction]
    key = {"all": other.key, "weak": other.weak, "none": other.key ^ NO_KEY}[f.key]
    bring_up(one, other, "q", MTU, QUICK, {**QUICK, "rights": f.rights})
    other.ask("wipe", SINK, 32768)
    if f.receive:
        other.ask("receive", "q", SINK, *f.receive)
    one.ask("post", "q", f.op, SOURCE, f.bytes, other.base + f.at, key, 1, 2)
    expect(one, one.ask("take", 20000), request, f.op)
    one.want("ERROR", "state", "q")
    if received:
        expect(other, other.ask("take", 20000), received, "receive")
    other.want(state, "state", "q")
    # The first packets of a send may be in its receive.
    other.ask("look", SINK + f.receive[0] if received and f.op == "send" else SINK, 0, 0)
    drop("q", one, other)


def roles(ours, peer, direction):
    return (peer, ours) if direction == "in" else (ours, peer)


# checks W-ERR-01[1,3], W-RESP-18
def faults(bench, direction):
    def act():
        with partners(bench) as pair:
            one, other = roles(*pair, direction)
            for f in FAULTS:
                try:
                    fault(one, other, f, direction)
                except Failure as e:
                    raise Failure(f"{f.name}: {e}") from None

    return bench.captured(act)


def no_answer(bench, direction):
    """The responder's queue pair is gone."""
    def act():
        with partners(bench) as pair:
            one, other = roles(*pair, direction)
            bring_up(one, other, "q", MTU, QUICK)
            drop("q", other)
            one.ask("post", "q", "write", SOURCE, 8, other.base + SINK, other.key)
            expect(one, one.ask("take", 30000), "RETRY_EXC" if direction == "in" else "IO_TIMEOUT")
            one.want("ERROR", "state", "q")
            drop("q", one)

    # A peer that answers nothing may leave nothing to see.
    return bench.captured(act, 1)


def dead_window(bench, direction):
    """A send that invalidates a key which opens nothing."""
    def act():
        with partners(bench) as pair:
            one, other = roles(*pair, direction)
            bring_up(one, other, "q", MTU, QUICK, QUICK)
            other.ask("receive", "q", SINK, ROOM)
            one.ask("post", "q", "send-inv", SOURCE, 8, 0, 0, other.key ^ NO_KEY)
            if direction == "in":
                expect(one, one.ask("take", 20000), "REM_ACCESS")
                expect(other, other.ask("take", 20000), "INVALID_DEVICE_REQUEST", "receive")
            else:
                # rxe acknowledges that send before it looks at the key; then its queue pair is at its
                # end, and only the next request finds out.
                expect(one, one.ask("take", 20000), "SUCCESS")
                one.ask("post", "q", "write", SOURCE, 8, other.base + SINK, other.key)
                expect(one, one.ask("take", 20000), "IO_TIMEOUT")
            other.want("ERROR", "state", "q")
            drop("q", one, other)

    return bench.captured(act)


def late_receives(bench, direction):
    """RNR for a while: the send waits, is repeated and arrives."""
    def act():
        with partners(bench) as pair:
            one, other = roles(*pair, direction)
            bring_up(one, other, "q", MTU)
            for seed, size in enumerate((0, 8, MTU + 1, 20000)):
                one.ask("fill", SOURCE, size, seed)
                other.ask("wipe", SINK, size)
                one.ask("post", "q", "send", SOURCE, size)
                one.want("none", "take", 50)
                other.ask("receive", "q", SINK, size)
                expect(one, one.ask("take", 30000), "SUCCESS", "send")
                expect(other, other.ask("take", 30000), "SUCCESS", "receive", size)
                other.ask("look", SINK, size, seed)
            drop("q", one, other)

    return bench.captured(act)


@contextlib.contextmanager
def netem(bench, words):
    """The guest's RoCEv2 frames go through such a queueing discipline; frames() of them were treated."""
    guest = bench.guest
    guest.run("tc qdisc add dev eth0 root handle 1: prio && "
              f"tc qdisc add dev eth0 parent 1:3 handle 30: netem limit 10000 {words} && "
              "tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff "
              "match ip dport 4791 0xffff flowid 1:3")
    try:
        yield lambda: [int(n) for n in re.search(
            r"netem.*\n Sent \d+ bytes (\d+) pkt \(dropped (\d+)",
            guest.run("tc -s qdisc show dev eth0").text).groups()]
    finally:
        guest.run("tc qdisc del dev eth0 root", check=False)


def many_transfers(pair, direction):
    one, other = roles(*pair, direction)
    # rxe repeats when this is over, for ever; we do as soon as an answer is overdue.
    bring_up(*pair, "q", MTU, {}, {"timeout": 12})
    for seed in range(10):
        atomics(one, other)
        for op in ("send", "write-imm", "read"):
            transfer(one, other, op, 20001, seed)
    drop("q", one, other)


def disturbed(bench, direction, words, loses):
    """On the way from the guest."""
    def act():
        with partners(bench) as pair, netem(bench, words) as counts:
            many_transfers(pair, direction)
            sent, dropped = counts()
            if not sent or (loses and not dropped):
                raise Failure(f"the queueing discipline saw {sent} frames and dropped {dropped}")

    return bench.captured(act)


def loss_towards(bench, direction):
    """On the way to the guest: of READ responses it misses one only when its timer says so."""
    dice = random.Random(1)

    def act():
        mac = bench.our_mac
        with bench.relayed(lambda f: f[6:12] == mac and dice.random() < 0.03) as relay, partners(bench) as pair:
            many_transfers(pair, direction)
            if relay.left_out < 10:
                raise Failure(f"only {relay.left_out} frames were lost")

    return bench.captured(act)


def cases(bench):
    for d in ("in", "out"):
        yield Case(f"{len(FAULTS)} faults v4", d, "statuses and states of both, memory untouched",
                   lambda d=d: faults(bench, d))
        yield Case("no answer v4", d, "status and state", lambda d=d: no_answer(bench, d))
        yield Case("invalidation of no window v4", d, "statuses and states of both",
                   lambda d=d: dead_window(bench, d))
        yield Case("receives that come late v4", d, "contents", lambda d=d: late_receives(bench, d))
        yield Case("loss v4", d, "contents, atomics done once",
                   lambda d=d: disturbed(bench, d, "loss 4%", True))
        yield Case("loss towards it v4", d, "contents, atomics done once",
                   lambda d=d: loss_towards(bench, d))
        yield Case("duplicates, other order v4", d, "contents, atomics done once",
                   lambda d=d: disturbed(bench, d, "delay 2ms duplicate 5% reorder 10%", False))
