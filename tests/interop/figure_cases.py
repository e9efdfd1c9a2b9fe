# SPDX-License-Identifier: BSD-3-Clause
"""perftest's figures of two guests beside those of a guest and ndperf. They are relative: guests are
emulated, and so is the CPU that all of it shares."""

import json
import os

from bench import HOST, OURS, PEER, Case
from guest import Guest
from perftest_cases import OPERATIONS, TCP_LISTENS, guest_line, ours
from sandbox import Failure, until

OTHER = {"v4": "192.0.2.4", "v6": "2001:db8::4", "mac": "02:00:00:00:88:04"}
MODES = {"bw": ("-n 500", "-s 32768", "MB/s"), "lat": ("-n 500", "-s 64", "us")}
COLUMN = {"bw": 3, "lat": 4}  # average; typical
DEPTH = 16  # a guest takes no more at a time: there is no flow control below RDMA on this bridge
JSON_KEY = {"bw": "bw_average_mib_per_s", "lat": "t_typical_us"}


def figure_of(text, mode):
    """Of the last row of perftest's table."""
    rows = [line.split() for line in text.splitlines() if line.split() and line.split()[0].isdigit()]
    if not rows:
        raise Failure(f"no row of figures:\n{text}")
    return float(rows[-1][COLUMN[mode]])


def options_of(operation, mode):
    count, size, _ = MODES[mode]
    return count if operation == "atomic" else f"{count} {size}"


def between_guests(bench, other, operation, mode):
    line = guest_line(bench, operation, mode, "v4", options_of(operation, mode))
    with bench.guest.popen(line) as server:
        until(lambda: bench.guest.run(TCP_LISTENS, check=False).status == 0, f"{line} listens")
        return figure_of(other.run(f"{line} {PEER['v4']}").text, mode)


def guest_to_ours(bench, operation, mode):
    options = options_of(operation, mode)
    line = guest_line(bench, operation, mode, "v4", options)
    with bench.daemon.popen(*ours(bench, operation, mode, options.replace("-s", "--size"), "-s", "--bind",
                                  OURS["v4"])) as server:
        server.expect("listening")
        return figure_of(bench.guest.run(f"{line} {HOST}").text, mode)


def ours_to_guest(bench, operation, mode):
    options = options_of(operation, mode)
    result = os.path.join(bench.folder, "figures.json")
    with bench.guest.popen(guest_line(bench, operation, mode, "v4", options)):
        until(lambda: bench.guest.run(TCP_LISTENS, check=False).status == 0, "perftest listens")
        bench.daemon.run(*ours(bench, operation, mode, options.replace("-s", "--size"), PEER["v4"],
                               "--bind", OURS["v4"], "--json", result, "-d", DEPTH))
    with open(result) as f:
        return json.load(f)["results"][-1][JSON_KEY[mode]]


def compare(bench):
    with Guest(bench.folder, "other", bench.guest.image, "br0", OTHER["v4"], OTHER["v6"], OTHER["mac"],
               bench.mtu) as other:
        other.run(f"ping -c 2 -i 0.2 -W 5 {PEER['v4']}")
        for operation in OPERATIONS:
            for mode in MODES:
                values = [f"{v:.1f}" for v in (between_guests(bench, other, operation, mode),
                                               guest_to_ours(bench, operation, mode),
                                               ours_to_guest(bench, operation, mode))]
                bench.figure(f"ib_{operation}_{mode} {options_of(operation, mode)}, {MODES[mode][2]}: "
                             f"guest to guest {values[0]}, guest to ndperf {values[1]}, "
                             f"ndperf to guest {values[2]}")


def cases(bench):
    yield Case("figures side by side", "both", "nothing: figures alone", lambda: compare(bench), True)
