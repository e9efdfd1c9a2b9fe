# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a suite side by side: the calling script again, for each, with --part NAME --counts FILE."""

import json
import os
import subprocess
import sys

import sandbox


def write_counts(path, runner):
    """What came of a part."""
    with open(path, "w") as f:
        json.dump(runner.counts(), f)


def run_parts(runner, names):
    """All of them at once; their counts are added to the runner's."""
    with sandbox.scratch() as folder:
        files = {name: os.path.join(folder, name) for name in names}
        started = [subprocess.Popen([sys.executable, *sys.argv, "--part", name, "--counts", file],
                                    stdin=subprocess.DEVNULL, preexec_fn=sandbox.die_with_parent)
                   for name, file in files.items()]
        for process, (name, file) in zip(started, files.items()):
            process.wait()
            try:
                with open(file) as f:
                    runner.add(json.load(f))
            except FileNotFoundError:
                runner.failed.append(f"part {name} ended early: exit {process.returncode}")
