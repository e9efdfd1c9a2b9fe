# SPDX-License-Identifier: BSD-3-Clause
"""Operations with verbspeer, our own program over the guest's verbs, in both directions."""

from bench import FAMILIES, Case

CONTENTS = "contents, at both ends"


def cases(bench):
    for f in FAMILIES:
        # checks R-INV-08, R-INV-14, W-INV-01
        yield Case(f"remote invalidation {f}", "in", "a write afterwards is refused",
                   lambda f=f: bench.verbs(f, "stranger-invalidates"))
        # checks R-INV-07, W-INV-05
        yield Case(f"remote invalidation {f}", "out", "a write afterwards is refused",
                   lambda f=f: bench.verbs(f, "stranger-is-invalidated"))
        yield Case(f"by numbers {f}", "both", CONTENTS, lambda f=f: bench.verbs(f, "stranger-by-numbers"))
    yield Case("atomics v4", "in", "each old value", lambda: bench.verbs("v4", "stranger-does-atomics"))
    yield Case("atomics v4", "out", "each old value", lambda: bench.verbs("v4", "stranger-has-atomics"))
    yield Case("immediates v4", "both", CONTENTS, lambda: bench.verbs("v4", "stranger-immediates"))
