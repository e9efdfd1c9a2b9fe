# SPDX-License-Identifier: BSD-3-Clause
"""How an attack is run and judged, and what is kept of it."""

import os

from cases import Runner, Skip, expected_skips
from effects import Effect
from sandbox import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
# Other work on the machine may have had the CPUs: an effect counts if it is there each time.
TRIES = 3


class Suite(Runner):
    """Cases that are attacks. Open ones are skips that are expected; what each did is kept for the table."""

    def __init__(self, only, gaps_per_s=None):
        super().__init__(os.path.join(HERE, "expected-skips"), only, case_timeout=120)
        self.skips += expected_skips(os.path.join(HERE, "open.txt"))
        self.gaps_per_s, self.did = gaps_per_s, {}

    def judged(self, rig, name, attack):
        """The note of a case; a Failure if the effect is beyond the bounds, each time."""
        tries = []
        for _ in range(1 if self.expects(name, "open") else TRIES):
            effect, words = attacked(rig, attack)
            faults = list(effect.faults(self.gaps_per_s))
            if not faults:
                return words
            tries.append(f"try {len(tries) + 1}: {'; '.join(faults)}; {effect.longest()}")
            rig.baselines = {}  # perhaps the machine is busier than it was
        raise Failure("\n".join(["; ".join(faults), words] + tries))

    def lone(self, name, function, news=lambda: "", failed=lambda: None):
        """A case whose note is what function() returns, or that fails as it says."""
        def run():
            try:
                words = function()
            except Failure as e:
                self.did[name] = "; ".join(str(e).splitlines()[:2])
                text = f"{e}\n{news()}"
                failed()
                if self.expects(name, "open"):
                    raise Skip("open") from None
                raise Failure(text) from None
            self.did[name] = words or "none"
            return words
        self.case(name, run)

    def on(self, rig, name, attack):
        """An attack on daemons that go on if they have withstood it."""
        self.lone(name, lambda: self.judged(rig, name, attack), rig.news, rig.stop)


def attacked(rig, attack):
    """What the attack did to the victim, and words about it."""
    rig.ready()
    base = rig.baseline(attack.bulk)
    note = attack.run(rig)
    rig.must_live()
    figures = rig.victim.figures()
    rig.must_have_given_back()
    effect = Effect(base, figures, rig.turns)
    return effect, effect.words() + (f"; {note}" if note else "")


# ---- the table ---------------------------------------------------------------------------------------

def recorded(path):
    """What attacks did to an earlier daemon: {name: words}."""
    with open(path) as f:
        return dict(line.rstrip("\n").split("\t", 1) for line in f if not line.startswith("#"))


def record(path, did):
    with open(path, "w") as f:
        f.writelines(f"{name}\t{words}\n" for name, words in did.items())


def print_table(before, now):
    print("| attack | effect before | effect now |\n|--------|---------------|------------|")
    for name, words in before.items():
        if name in now:
            print(f"| {name} | {words} | {now[name]} |")
