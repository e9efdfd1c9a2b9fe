#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A case that fails is run again if a CPU stood still meanwhile, and if none did, its failure stands.

Whether CPUs run here and now is no matter of these tests: the runner is told by a script, and of the
witness only what a machine can't spoil is asked."""

import os
import signal
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from cases import RUNS, Runner  # noqa: E402
from sandbox import Failure  # noqa: E402
from witness import STANDS_STILL_S, Witness  # noqa: E402


class Told:
    """What a witness would tell."""

    def __init__(self):
        self.seconds = 0.0

    def lost(self):
        return self.seconds


class Case:
    """Fails the first `bad` times; a CPU stands still in the first `still` runs, for `seconds`."""

    def __init__(self, runner, bad, still, seconds):
        self.runner, self.bad, self.still, self.seconds, self.runs = runner, bad, still, seconds, 0

    def __call__(self):
        self.runs += 1
        if self.runs <= self.still:
            self.runner.witness.seconds += self.seconds
        if self.runs <= self.bad:
            raise Failure(f"bad {self.runs}")


def outcome(bad, still, seconds=STANDS_STILL_S):
    runner = Runner(os.devnull)
    runner.witness = Told()
    case = Case(runner, bad, still, seconds)
    word, note = runner.case("a case", case)
    assert (word == "FAIL") == (runner.failed == ["a case"]) == (runner.passed == 0), (word, runner.failed)
    return word, note, case.runs


def check_runner():
    assert outcome(0, 0) == ("ok", "", 1)
    assert outcome(1, 0) == ("FAIL", "bad 1", 1), "a failure on a machine that ran"
    assert outcome(1, 1)[::2] == ("ok", 2), "a failure while a CPU stood still"
    assert outcome(1, 1, STANDS_STILL_S * 0.99) == ("FAIL", "bad 1", 1), "not for long enough to fail of it"
    assert outcome(2, 1) == ("FAIL", "bad 2", 2), "the second time the machine ran"
    assert outcome(RUNS, RUNS) == ("FAIL", f"bad {RUNS}", RUNS)
    assert outcome(0, 1)[::2] == ("ok", 1), "what passed is not run again"


def check_witness():
    """A CPU that does not run it for that long is seen, while it does not and afterwards."""
    witness = Witness()
    stopped = witness.processes[-1]
    before = witness.lost()
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(2 * STANDS_STILL_S)
    meanwhile = witness.lost()
    assert meanwhile - before >= STANDS_STILL_S, (before, meanwhile)
    stopped.send_signal(signal.SIGCONT)
    time.sleep(STANDS_STILL_S)
    assert witness.lost() >= meanwhile, (meanwhile, witness.lost())


def main():
    check_runner()
    check_witness()


if __name__ == "__main__":
    main()
