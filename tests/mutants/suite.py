# SPDX-License-Identifier: BSD-3-Clause
"""The tests that mutants are run against: each test of each unit test program, and pieces of the simulator's seeds.

Which test reaches which mutant is recorded once for each build; only these are run."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import time

SEEDS = ("1..20", "21..60", "61..120")
ARGUMENTS = ["--jobs=1"]


class Test:
    """One test: a program, and what selects the test in it."""

    def __init__(self, program, name, arguments):
        self.seeds = program.name == "sim"
        self.program = program
        self.name = name
        self.arguments = arguments
        self.cpu = self.wall = 0.0
        self.reaches = 0
        self.reached = b""  # a byte for each number

    def run(self, environment, cpu_limit, wall_limit):
        """None if it passes, else how it fails."""
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit) + 1, int(cpu_limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
        child = subprocess.Popen([self.program, *self.arguments], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                                 start_new_session=True, env={**os.environ, **environment})
        try:
            status = child.wait(wall_limit)
        except subprocess.TimeoutExpired:
            status = "hangs"
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what a crash left behind
        except ProcessLookupError:
            pass
        child.wait()
        return None if status == 0 else str(status)

    def fails(self, number):
        """How it fails with this mutant, or None. Threads fail twice, so that no accident is taken for a find."""
        limits = 5 * self.cpu, 20 * self.wall + 10
        how = self.run({"NDD_MUTANT": str(number)}, *limits)
        if how is not None and not self.arguments and self.run({"NDD_MUTANT": str(number)}, *limits) is None:
            return None
        return how


def tests_of(program):
    """The tests of a Criterion program; one without a list is a test itself."""
    name = program.name.removeprefix("test_")
    listed = subprocess.run([program, "--list"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            check=False, timeout=60)
    found, group = [], None
    for line in listed.stdout.splitlines():
        if head := re.match(r"(\w+): \d+ tests?", line):
            group = head[1]
        elif group and (test := re.match(r"\W+(\w+)", line)):
            found.append(Test(program, f"{name} {group}/{test[1]}",
                              [*ARGUMENTS, "--filter", f"{group}/{test[1]}"]))
    return found or [Test(program, name, [])]


class Suite:
    def __init__(self, build, folder, numbers):
        self.folder = folder / "reached"
        self.folder.mkdir(exist_ok=True)
        self.numbers = numbers
        units = sorted(p for p in (build / "tests/unit").glob("test_*") if p.is_file() and os.access(p, os.X_OK))
        self.programs = units + [build / "tests/sim/sim"]

    def recorded(self, test, digest):
        """The test's times and what it reaches, from an earlier run with the same program."""
        stem = hashlib.sha1(test.name.encode()).hexdigest()[:16]
        path, kept = self.folder / stem, self.folder / f"{stem}.kept"
        if not kept.exists() or kept.read_text().split("\n")[0] != digest:
            self.record(test, path)
            kept.write_text(f"{digest}\n{test.cpu} {test.wall}\n{test.name}\n")
        test.cpu, test.wall = map(float, kept.read_text().split("\n")[1].split())
        test.reached = path.read_bytes()
        test.reaches = sum(test.reached)
        return test

    def record(self, test, path):
        path.write_bytes(bytes(self.numbers + 1))
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        how = test.run({"NDD_MUTANTS_REACHED": str(path)}, 300, 600)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if how is not None:
            raise RuntimeError(f"{test.name} fails without any mutant: {how}")
        test.wall = time.monotonic() - begin
        test.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def tests(self, program):
        """Those of one program, recorded."""
        digest = hashlib.sha1(program.read_bytes()).hexdigest()
        if program.name == "sim":
            found = [Test(program, f"sim {seeds}", ["--seeds", seeds, "--stop"]) for seeds in SEEDS]
        else:
            found = tests_of(program)
        return [self.recorded(test, digest) for test in found]
