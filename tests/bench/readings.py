# SPDX-License-Identifier: BSD-3-Clause
"""What programs print, as numbers. Each takes the text of one run; Failure if there is no figure in it."""

import json
import re

from sandbox import Failure

MIB = 1 << 20


def _find(pattern, text, what):
    found = re.findall(pattern, text)
    if not found:
        raise Failure(f"no figure in what {what} printed:\n{text[-3000:]}")
    return found[-1]


def _json(text, what):
    """The object in a text, whatever is said before it."""
    try:
        return json.loads(text[text.index("{"):])
    except ValueError:
        raise Failure(f"what {what} printed is no JSON:\n{text[-3000:]}") from None


def limits(text):
    """{name: nanoseconds}."""
    return _json(text, "limits")


def engine(text):
    """{name: case}, and bytes of a queue pair."""
    told = _json(text, "engine_bench")
    return {case["name"]: case for case in told["cases"]}, told


def testpmd(text, size):
    """Frames of that size a second that came in, between the last two questions."""
    frames, of_bytes = map(int, _find(r"RX-packets: (\d+)\s+RX-missed: \d+\s+RX-bytes:\s+(\d+)", text, "testpmd"))
    rate = float(_find(r"Rx-pps:\s+(\d+)", text, "testpmd"))
    if abs(of_bytes - frames * size) > 0.01 * of_bytes:  # they are counted while they come
        raise Failure(f"testpmd had {frames} frames of {of_bytes} bytes in all, not of {size} each")
    return rate


def ndperf(text):
    """The only row of results."""
    rows = _json(text, "ndperf")["results"]
    if len(rows) != 1:
        raise Failure(f"ndperf has {len(rows)} results, not one:\n{text[-3000:]}")
    return rows[0]


def iperf3(text):
    """Bytes a second, as the receiver counts."""
    told = _json(text, "iperf3")
    if "error" in told:
        raise Failure("iperf3: " + told["error"])
    return told["end"]["sum_received"]["bits_per_second"] / 8


def perftest(text, size):
    """Bytes a second on average, of a row of that size; with --report_gbits."""
    return float(_find(rf"(?m)^\s*{size}\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", text, "perftest")) * 1e9 / 8


def perftest_latency(text, size):
    """Typical microseconds one way, of a row of that size."""
    return float(_find(rf"(?m)^\s*{size}\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s+[\d.]+){{4}}\s*$", text, "perftest"))


def ucx(text):
    """(median latency in us, bytes a second, messages a second) of the whole run, of `-f -v`."""
    row = _find(r"(?m)^\s*\d+,([\d.]+),[\d.]+,[\d.]+,[\d.]+,([\d.]+),[\d.]+,([\d.]+)\s*$", text, "ucx_perftest")
    return float(row[0]), float(row[1]) * MIB, float(row[2])


def fi_pingpong(text):
    """(bytes a second, microseconds one way). Its MB are 10^6 bytes."""
    row = _find(r"(?m)^\S+\s+\S+\s+\S+\s+\S+\s+[\d.]+s\s+([\d.]+)\s+([\d.]+)\s+[\d.]+\s*$", text, "fi_pingpong")
    return float(row[0]) * 1e6, float(row[1])


def qperf_bandwidth(text):
    """Bytes a second, of `-uu`: no units but the smallest."""
    return float(_find(r"bw\s*=\s*(\d+) bytes/sec", text, "qperf"))


def qperf_latency(text):
    """Microseconds one way, of `-uu`."""
    return float(_find(r"latency\s*=\s*(\d+) ns", text, "qperf")) / 1e3
