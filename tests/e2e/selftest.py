#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A case that fails is run again if a CPU stood still meanwhile, and if none did, its failure stands."""

import os
import signal
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from cases import RUNS, Runner  # noqa: E402
from sandbox import Failure  # noqa: E402
from witness import STANDS_STILL_S  # noqa: E402


class Case:
    """Fails the first `bad` times; a CPU stands still in the first `still` runs."""

    def __init__(self, runner, bad, still):
        self.runner, self.bad, self.still, self.runs = runner, bad, still, 0

    def __call__(self):
        self.runs += 1
        if self.runs <= self.still:
            witness = self.runner.witness.processes[-1]
            witness.send_signal(signal.SIGSTOP)
            time.sleep(2 * STANDS_STILL_S)
            witness.send_signal(signal.SIGCONT)
        if self.runs <= self.bad:
            raise Failure(f"bad {self.runs}")


def outcome(bad, still):
    runner = Runner(os.devnull)
    case = Case(runner, bad, still)
    word, note = runner.case("a case", case)
    assert (word == "FAIL") == (runner.failed == ["a case"]) == (runner.passed == 0), (word, runner.failed)
    return word, note, case.runs


def main():
    assert outcome(0, 0) == ("ok", "", 1)
    assert outcome(1, 0) == ("FAIL", "bad 1", 1), "a failure on a machine that ran"
    assert outcome(1, 1)[::2] == ("ok", 2), "a failure while a CPU stood still"
    assert outcome(2, 1) == ("FAIL", "bad 2", 2), "the second time the machine ran"
    assert outcome(RUNS, RUNS) == ("FAIL", f"bad {RUNS}", RUNS)
    assert outcome(0, 1)[::2] == ("ok", 1), "what passed is not run again"


if __name__ == "__main__":
    main()
