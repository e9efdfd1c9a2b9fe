# SPDX-License-Identifier: BSD-3-Clause
"""The tests that mutants are run against: each test of each unit test program, and pieces of the simulator's seeds.

Which test reaches which mutant is recorded once for each build; only these are run."""

import atexit
import hashlib
import os
import resource
import signal
import subprocess
import time

SEEDS = ("1..20", "21..60", "61..120")


class Server:
    """A unit test program that forks for each test that is asked of it (forking.c)."""

    running = {}  # of this process

    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        atexit.register(self.child.kill)

    @classmethod
    def of(cls, program):
        if program not in cls.running:
            cls.running[program] = cls(program)
        return cls.running[program]

    def ask(self, *words):
        """(does it fail?, CPU seconds)"""
        self.child.stdin.write((" ".join(map(str, words)) + "\n").encode())
        failed, cpu_us = self.child.stdout.readline().split()
        return failed == b"1", int(cpu_us) / 1e6


class Test:
    """One test: a program, and its place there; or None for a program that is one test itself."""

    def __init__(self, program, name, place, arguments=()):
        self.program = program
        self.name = name
        self.place = place
        self.arguments = arguments
        self.seeds = program.name == "sim"
        self.cpu = self.wall = 0.0
        self.reached = b""  # a byte for each number
        self.reaches = 0

    def run(self, number, cpu, wall, record="-"):
        """(does it fail?, CPU seconds). cpu, wall: its limits, in whole seconds."""
        if self.place is not None:
            return Server.of(self.program).ask(number, self.place, cpu, wall, record)

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
        environment = {**os.environ, "NDD_MUTANT": str(number)}
        if record != "-":
            environment["NDD_MUTANTS_REACHED"] = str(record)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = subprocess.Popen([self.program, *self.arguments], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                                 start_new_session=True, env=environment)
        try:
            failed = child.wait(wall) != 0
        except subprocess.TimeoutExpired:
            failed = True
        try:
            os.killpg(child.pid, signal.SIGKILL)  # with what it left behind
        except ProcessLookupError:
            pass
        child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return failed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def finds(self, number):
        """(does it fail with this mutant?, CPU seconds). No accident is taken for a find: what depends on threads, or
        on how crowded the machine is, has to fail twice."""
        cpu_limit, wall_limit = int(5 * self.cpu) + 1, int(20 * self.wall) + 10
        begin = time.monotonic()
        failed, cpu = self.run(number, cpu_limit, wall_limit)
        threads = self.place is None and not self.seeds
        if failed and (threads or time.monotonic() - begin >= wall_limit):
            failed, more = self.run(number, cpu_limit, 6 * wall_limit)
            cpu += more
        return failed, cpu


def tests_of(program):
    name = program.name.removeprefix("test_")
    if program.name == "sim":
        return [Test(program, f"sim {seeds}", None, ["--seeds", seeds, "--stop"]) for seeds in SEEDS]
    if b"cr_tst" not in program.read_bytes():
        return [Test(program, name, None)]
    listed = subprocess.run([program, "--list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return [Test(program, f"{name} {test}", place) for place, test in enumerate(listed.stdout.split()) if test != "-/-"]


class Suite:
    def __init__(self, build, folder, numbers):
        self.folder = folder / "reached"
        self.folder.mkdir(exist_ok=True)
        self.numbers = numbers
        units = sorted(p for p in (build / "tests/unit").glob("test_*") if p.is_file() and os.access(p, os.X_OK))
        self.programs = units + [build / "tests/sim/sim"]

    def recorded(self, test, digest):
        """The test with its times and what it reaches, maybe from an earlier run of the same program."""
        stem = hashlib.sha1(test.name.encode()).hexdigest()[:16]
        path, kept = self.folder / stem, self.folder / f"{stem}.kept"
        if not kept.exists() or kept.read_text().split("\n")[0] != digest:
            path.write_bytes(bytes(self.numbers + 1))
            begin = time.monotonic()
            failed, cpu = test.run(0, 300, 600, path)
            if failed:
                print(f"left out: {test.name}, which fails without any mutant", flush=True)
                return None
            kept.write_text(f"{digest}\n{cpu} {time.monotonic() - begin}\n{test.name}\n")
        test.cpu, test.wall = map(float, kept.read_text().split("\n")[1].split())
        test.reached = path.read_bytes()
        test.reaches = sum(test.reached)
        return test

    def tests(self, program):
        """Those of one program, recorded."""
        digest = hashlib.sha1(program.read_bytes()).hexdigest()
        return [test for test in tests_of(program) if self.recorded(test, digest) is not None]
