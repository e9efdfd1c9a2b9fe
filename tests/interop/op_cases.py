# SPDX-License-Identifier: BSD-3-Clause
"""Operations, in both directions: of every kind, of lengths around what fits a packet, at every MTU."""

from bench import FAMILIES, Case
from partners import BIG_MIB, MIB, SINK, SOURCE, WORD, bring_up, drop, partners
from sandbox import Failure

CONTENTS = "contents, at both ends"
OPERATIONS = ("send", "send-imm", "send-inv", "write", "write-imm", "read")
RECEIVED = {"send": "receive", "send-imm": "receive-imm", "send-inv": "receive-inv",
            "write-imm": "written-imm"}
IMMEDIATE = 0x01020384
WINDOW_BYTES = 4096
MTUS = (256, 512, 1024, 2048, 4096)
LINK_MTU = {256: 1500, 512: 1500, 1024: 1500, 2048: 4200, 4096: 4200}
BIG = 16 << 20


def lengths(mtu, whole):
    """Around each of several multiples of the MTU."""
    yield 0
    yield 1
    for multiple in (*range(1, 10), 16, 17, 64, 65) if whole else (1, 2, 5):
        yield from (multiple * mtu - 1, multiple * mtu, multiple * mtu + 1)
    yield 100003
    if whole:
        yield (1 << 20) + 1
    if whole and mtu >= 2048:  # of smaller packets there would be more than a capture keeps up with
        yield from (BIG - 1, BIG)


def expect(partner, got, *wanted):
    """A result of "take"."""
    words = got.split()
    for word, want in zip(words, wanted):
        if want is not None and word != str(want):
            raise Failure(f"{partner.name}: result {got!r}, not {wanted}")
    if len(words) < len(wanted):
        raise Failure(f"{partner.name}: result {got!r}, not {wanted}")


def transfer(one, other, op, size, seed):
    """One of one's operations, and what both ends see of it."""
    extra = {"send-imm": IMMEDIATE, "write-imm": IMMEDIATE, "send-inv": None}.get(op, 0)
    takes = op in RECEIVED
    source, sink = (other, one) if op == "read" else (one, other)
    source.tell("fill", SOURCE, size, seed)
    sink.tell("wipe", SINK, size)
    if takes:
        # A write leaves the receive that it takes alone.
        other.tell("receive", "q", *((SINK, size) if op.startswith("send") else (WORD, 0)))
    if op == "send-inv":
        other.tell("window", "q", WORD, WINDOW_BYTES)
    source.answer()
    sink.answer()
    if takes:
        other.answer()
    if op == "send-inv":
        extra = int(other.answer())
    one.tell("post", "q", op, SOURCE, size, other.base + SINK, other.key, extra)
    one.tell("take", 30000)
    one.answer()
    expect(one, one.answer(), "SUCCESS", op)
    if takes:
        expect(other, other.ask("take", 30000), "SUCCESS", RECEIVED[op],
               size if op.startswith("send") else None, extra)
    sink.ask("look", SINK, size, seed)


def atomics(one, other):
    """Each old value, and what is there at last."""
    word, old = other.base + WORD, 0
    other.ask("word", WORD, 0)
    for op, a, b in (("add", 3, 0), ("add", 1 << 63, 0), ("swap", 3, 9), ("swap", 3 + (1 << 63), 77),
                     ("add", (1 << 64) - 1, 0)):
        one.ask("post", "q", op, WORD, 8, word, other.key, a, b)
        expect(one, one.ask("take", 30000), "SUCCESS", op)
        if int(one.ask("word", WORD), 0) != old:
            raise Failure(f"{one.name}: {op}: found {one.ask('word', WORD)}, not {old}")
        old = (old + a) % (1 << 64) if op == "add" else b if old == a else old
    if int(other.ask("word", WORD), 0) != old:
        raise Failure(f"{other.name}: {other.ask('word', WORD)} is left, not {old}")


def operations(bench, family, direction, mtu, whole):
    def act():
        with partners(bench, family, BIG_MIB if whole else MIB) as (ours, peer):
            one, other = (peer, ours) if direction == "in" else (ours, peer)
            bring_up(one, other, "q", mtu)
            atomics(one, other)
            for op in OPERATIONS:
                for seed, size in enumerate(lengths(mtu, whole)):
                    try:
                        transfer(one, other, op, size, seed)
                    except Failure as e:
                        raise Failure(f"{op} of {size} bytes: {e}") from None
            drop("q", one, other)

    return bench.captured(act)


def cases(bench):
    for f in FAMILIES:
        # checks R-INV-08, R-INV-14, W-INV-01[2]
        yield Case(f"remote invalidation {f}", "in", "a write afterwards is refused",
                   lambda f=f: bench.verbs(f, "stranger-invalidates"))
        # checks R-INV-07, W-INV-05
        yield Case(f"remote invalidation {f}", "out", "a write afterwards is refused",
                   lambda f=f: bench.verbs(f, "stranger-is-invalidated"))
        yield Case(f"by numbers {f}", "both", CONTENTS, lambda f=f: bench.verbs(f, "stranger-by-numbers"))
    yield Case("atomics v4", "in", "each old value", lambda: bench.verbs("v4", "stranger-does-atomics"))
    yield Case("atomics v4", "out", "each old value", lambda: bench.verbs("v4", "stranger-has-atomics"))
    yield Case("immediates v4", "both", CONTENTS, lambda: bench.verbs("v4", "stranger-immediates"))
    for whole in (False, True):
        for mtu in MTUS:
            for direction in ("in", "out"):
                family = "v6" if mtu == 1024 else "v4"
                yield Case(f"{'all lengths' if whole else 'operations'} MTU {mtu} {family}", direction,
                           "contents, old values, nothing beyond",
                           lambda f=family, d=direction, m=mtu, w=whole: operations(bench, f, d, m, w),
                           whole, LINK_MTU[mtu])
