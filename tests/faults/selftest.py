#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever the daemon or the client library calls can be made to fail, or stands in unfailing.txt.

usage: selftest.py PROGRAM..."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e")]
from injector import functions  # noqa: E402


def called(program):
    """Its undefined symbols, without versions."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in lines.splitlines()}


def unfailing():
    with open(os.path.join(HERE, "unfailing.txt")) as f:
        return {name for line in f if not line.startswith("#") for name in line.split()}


def main():
    all_called = set().union(*map(called, sys.argv[1:]))
    known, harmless = set(functions()), unfailing()
    faults = [f"{name}: neither in calls.h nor in unfailing.txt" for name in sorted(all_called - known - harmless)]
    faults += [f"{name}: in calls.h and in unfailing.txt" for name in sorted(known & harmless)]
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
