# SPDX-License-Identifier: BSD-3-Clause
"""Run cases one after the other, a line for each, and a closing line that counts them.

A case that can't run here raises Skip with a condition; a skip counts as a failure unless the list of
expected skips has it. So a test can't stop running unnoticed.

A case that fails is run again if the machine stood still meanwhile (witness.py), and only then."""

import fnmatch
import os
import re
import signal
import sys
import time
import traceback

from sandbox import IN_SANDBOX, Failure
from witness import STANDS_STILL_S, Witness

RUNS = 3  # of a case, at most


class Skip(Exception):
    """Skip(condition): the condition is a word that the list of expected skips knows."""


class _Overtime(BaseException):
    pass


def expected_skips(path):
    """Lines of "CASE-PATTERN CONDITION REASON..."."""
    with open(path) as f:
        lines = [line.split(None, 2) for line in f if line.strip() and not line.startswith("#")]
    for line in lines:
        if len(line) != 3:
            raise SystemExit(f"{path}: a line has no reason: {' '.join(line)}")
    return lines


def processor_seconds():
    """CPU time of all processes of the sandbox so far, those that ended included; of a machine without
    sandboxes, nothing."""
    ticks = 0
    for entry in filter(str.isdigit, os.listdir("/proc") if os.environ.get(IN_SANDBOX) == "net" else ()):
        try:
            with open(f"/proc/{entry}/stat") as f:
                ticks += sum(map(int, f.read().rpartition(")")[2].split()[11:15]))
        except (OSError, ValueError):  # no process, or none any more
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


class Runner:
    def __init__(self, skips_path, only=".", case_timeout=180, without=None):
        self.skips = expected_skips(skips_path)
        self.only, self.without = re.compile(only), without and re.compile(without)
        self.case_timeout = case_timeout
        self.passed, self.failed, self.skipped = 0, [], 0
        self.witness = None

    def expects(self, name, condition):
        """Why the case may be skipped for that condition; None if it may not."""
        for pattern, known, reason in self.skips:
            if known == condition and fnmatch.fnmatchcase(name, pattern):
                return reason
        return None

    def _skip(self, name, condition):
        reason = self.expects(name, condition)
        if reason:
            self.skipped += 1
            return "skip", f"{condition}: {reason}"
        self.failed.append(name)
        return "FAIL", f"skipped for {condition}, which is not on the list of expected skips"

    def _once(self, function):
        """What came of it: a word, and a note or what the matter is."""
        def overtime(*_):
            raise _Overtime

        signal.signal(signal.SIGALRM, overtime)
        signal.alarm(self.case_timeout)
        try:
            return "ok", function() or ""
        except Skip as e:
            return "skip", str(e)
        except Failure as e:
            return "FAIL", str(e)
        except _Overtime:
            return "FAIL", f"still running after {self.case_timeout} s\n{traceback.format_exc()}"
        except Exception:  # a broken case must not end the others
            return "FAIL", traceback.format_exc()
        finally:
            signal.alarm(0)

    def _run(self, name, function):
        said = ""
        for i in range(RUNS):
            before = self.witness.lost()
            result, note = self._once(function)
            lost = self.witness.lost() - before
            if result != "FAIL" or lost < STANDS_STILL_S or i == RUNS - 1:
                break
            said += f"\nrun again, as CPUs did not run for {lost:.2f} s; it had failed:\n{note}"
        if result == "skip":
            return self._skip(name, note)
        if result == "ok":
            self.passed += 1
        else:
            self.failed.append(name)
        return result, note + said

    def wants(self, name):
        return bool(self.only.search(name)) and not (self.without and self.without.search(name))

    def stopped(self, name, error):
        """What cases were to run on did not come about: a Failure or a Skip."""
        def again():
            raise error
        self.case(name, again, always=True)

    def case(self, name, function, always=False):
        """function() returns a note or None; raises Failure or Skip. What came of it: a word and the note's
        first line."""
        if not always and not self.wants(name):
            return None
        self.witness = self.witness or Witness()
        begin, worked = time.monotonic(), processor_seconds()
        result, note = self._run(name, function)
        seconds, worked = time.monotonic() - begin, processor_seconds() - worked
        first, _, rest = note.partition("\n")
        line = f"{result:4}  {name:44} {seconds:6.1f} s {worked:5.1f} s CPU  {first}\n"
        # In one piece: another runner may write to the same place.
        sys.stdout.write(line + "".join(f"      | {more}\n" for more in rest.splitlines()))
        sys.stdout.flush()
        return result, first

    def counts(self):
        """For a runner elsewhere, to add()."""
        return {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}

    def add(self, counts):
        self.passed += counts["passed"]
        self.failed += counts["failed"]
        self.skipped += counts["skipped"]

    def finish(self):
        """The closing line; the exit status for the script."""
        for name in self.failed:
            print("failed: " + name)
        print(f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed or not self.passed + self.skipped else 0


def huge_pages_free():
    """Free 2 MiB huge pages."""
    try:
        with open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") as f:
            return int(f.read())
    except OSError:
        return 0


def cpus(count):
    """CPUs for `count` pollers, as many different ones as this process may use."""
    usable = sorted(os.sched_getaffinity(0))
    return [usable[i % len(usable)] for i in range(count)]


def program(build, name):
    path = os.path.join(build, name)
    if not os.access(path, os.X_OK):
        sys.exit(f"{path}: not built")
    return path
