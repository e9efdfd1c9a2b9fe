# SPDX-License-Identifier: BSD-3-Clause
"""Bars with their spread, as SVG, by gnuplot. The same figures give the same file."""

import os

import sandbox

OPERATIONS = ("write", "send", "read")
PEERS = {"iperf3": "iperf3, TCP", "ucx tag": "UCX tag, TCP", "ucx put": "UCX put, TCP",
         "libfabric": "libfabric ping-pong, TCP", "qperf": "qperf, TCP"}


def _streams(size):
    ours = [(f"ours/{o} {size}", f"{o}, two daemons") for o in OPERATIONS]
    return [("limits/composed", "composed limit")] + ours + [(f"peers/{p} {size}", t) for p, t in PEERS.items()]


# file: (title, unit, logarithmic, [(figure, what it is called)])
PLOTS = {
    "bandwidth-64k": ("64 KiB messages", "GB/s", False, _streams("64 KiB")),
    "bandwidth-1m": ("1 MiB messages", "GB/s", False, _streams("1 MiB")),
    "rate": ("8 byte messages a second", "million/s", True,
             [("testpmd/64 B tx to rx", "testpmd, 64 B frames"), ("testpmd/64 B echo", "testpmd, 64 B echo")]
             + [(f"ours/{o} 8 B rate", f"{o}, two daemons") for o in OPERATIONS]
             + [("one daemon/write 8 B rate, other core", "write, one daemon"),
                ("one daemon/write 8 B rate, same core", "write, one daemon, all on one core")]
             + [(f"peers/{p} 8 B rate", PEERS[p]) for p in ("ucx tag", "ucx put")]),
    "latency": ("8 bytes, one way (reads: the round trip)", "us", False,
                [("one daemon/write 8 B latency, other core", "write, one daemon"),
                 ("one daemon/write 8 B latency, same core", "write, one daemon, all on one core")]
                + [(f"ours/{o} 8 B latency", f"{o}, two daemons") for o in OPERATIONS]
                + [(f"peers/{p} 8 B latency", PEERS[p]) for p in ("ucx tag", "ucx put", "libfabric", "qperf")]),
    "engine": ("The engine, both sides on one core", "cycles a message", True,
               [(f"engine/{o}-{size}", f"{'copy+CRC alone' if o == 'floor' else o} {name}")
                for size, name in ((8, "8 B"), (256, "256 B"), (4096, "4 KiB"), (65536, "64 KiB"))
                for o in ("floor",) + OPERATIONS]),
    "queue-pairs": ("8 byte writes on queue pairs at random", "cycles a message", False,
                    [(f"engine/random-{n}", f"{n:,} queue pairs") for n in (64, 1000, 10000, 100000)]),
}
_COLOURS = {"ours": 0x2A6F97, "one daemon": 0x2A6F97, "engine": 0x2A6F97, "limits": 0x999999, "testpmd": 0x999999,
            "peers": 0xD08C60}


def script(path, title, unit, logarithmic, rows):
    """rows: (name, summary, colour). What gnuplot is told."""
    highest = max(s.high for _, s, _ in rows)
    lowest = min(s.low for _, s, _ in rows) / 2 if logarithmic else 0
    yield f'set terminal svg size 720,{90 + 26 * len(rows)} font "sans-serif,13" background rgb "white"'
    yield f'set output "{path}"'
    yield f'set title "{title}"'
    yield f'set xlabel "{unit}"'
    yield "set logscale x" if logarithmic else "unset logscale"
    yield f"set xrange [{lowest:.6g}:{highest * (1.5 if logarithmic else 1.1):.6g}]"
    yield f"set yrange [{len(rows) - 0.4}:-0.6]"
    yield "unset key\nset grid x\nset tics scale 0\nset style fill solid\nset lmargin 32\nset rmargin 4"
    yield "$figures << END"
    for at, (name, s, colour) in enumerate(rows):
        yield f'"{name}" {at} {s.median:.6g} {s.low:.6g} {s.high:.6g} {colour}'
    yield "END"
    yield (f"plot $figures using 3:2:({lowest:.6g}):3:($2-0.35):($2+0.35):6:ytic(1) with boxxyerror "
           "lc rgb variable, $figures using 3:2:4:5 with xerrorbars lc rgb '#222222' pt 7 ps 0.3")


def draw(figures, into):
    """Each plot that there are figures for. The files' names."""
    os.makedirs(into, exist_ok=True)
    for name, (title, unit, logarithmic, wanted) in PLOTS.items():
        rows = [(called, figures.summary(figure), _COLOURS[figure.split("/")[0]] if "floor" not in figure
                 else _COLOURS["limits"]) for figure, called in wanted if figures.summary(figure)]
        if rows:
            path = os.path.join(into, name + ".svg")
            with sandbox.scratch() as folder:
                told = os.path.join(folder, "plot")
                with open(told, "w") as f:
                    f.write("\n".join(script(path, title, unit, logarithmic, rows)) + "\n")
                sandbox.run("gnuplot", told)
            yield path
