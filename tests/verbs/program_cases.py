# SPDX-License-Identifier: BSD-3-Clause
"""The table: programs of ibverbs-utils and perftest, in their modes, between a link's two daemons."""

import re

from sandbox import Failure, run
from verbs import both, under

# IPv4's device, and IPv6's.
V4, V6 = ("-d", "ndd0"), ("-d", "ndd1")
PINGPONG = ("-g", "0", "-n", "100")
# A pingpong of pollers on two CPUs is one of the scheduler: few rounds.
LAT = ("-n", "50")
BW = ("-n", "100")
UC = ("-c", "UC")
# A message that is lost is waited for in vain, and UC has no window: so many any port holds for a peer that sleeps, and
# perftest has receives for all of them.
FEW = ("-s", "2000", "-n", "100")
# GIDs of groups, as perftest wants them: bytes in decimal.
MULTICAST = ("-c", "UD", "-g", "-M")
GROUP4, GROUP6 = "0:0:0:0:0:0:0:0:0:0:255:255:239:77:9:9", "255:21:0:0:0:0:0:0:0:0:0:0:0:77:9:9"

RUNS = "runs"
REFUSED = "refused"  # says that it can't, and ends

# name: (command, what comes of it)
ALL = {
    "ibv_rc_pingpong": (("ibv_rc_pingpong", "-c", *V4, *PINGPONG), RUNS),
    "ibv_rc_pingpong ipv6": (("ibv_rc_pingpong", "-c", *V6, *PINGPONG), RUNS),
    "ibv_rc_pingpong events": (("ibv_rc_pingpong", "-c", "-e", *V4, *PINGPONG), RUNS),
    "ibv_rc_pingpong 1 MiB": (("ibv_rc_pingpong", "-c", "-s", "1048576", *V4, "-g", "0", "-n", "10"), RUNS),
    "ibv_rc_pingpong mtu 256": (("ibv_rc_pingpong", "-c", "-m", "256", *V4, *PINGPONG), RUNS),
    "ibv_rc_pingpong wr calls": (("ibv_rc_pingpong", "-c", "-N", *V4, *PINGPONG), RUNS),
    "ibv_rc_pingpong timestamps": (("ibv_rc_pingpong", "-t", *V4, *PINGPONG), REFUSED),
    "ibv_srq_pingpong": (("ibv_srq_pingpong", "-c", *V4, *PINGPONG), RUNS),
    "ibv_srq_pingpong events": (("ibv_srq_pingpong", "-c", "-e", *V4, *PINGPONG), RUNS),
    "ibv_ud_pingpong": (("ibv_ud_pingpong", "-c", *V4, *PINGPONG), RUNS),
    "ibv_ud_pingpong events": (("ibv_ud_pingpong", "-c", "-e", *V4, *PINGPONG), RUNS),
    "ibv_uc_pingpong": (("ibv_uc_pingpong", *V4, *PINGPONG), RUNS),
    "ibv_uc_pingpong events": (("ibv_uc_pingpong", "-e", *V4, *PINGPONG), RUNS),
    "ibv_xsrq_pingpong": (("ibv_xsrq_pingpong", *V4, "-g", "0"), REFUSED),
    "ib_write_bw": (("ib_write_bw", *V4, *BW), RUNS),
    "ib_write_bw ipv6": (("ib_write_bw", *V6, *BW), RUNS),
    "ib_write_bw all sizes": (("ib_write_bw", *V4, "-a", "-n", "20"), RUNS),
    "ib_write_bw both ways": (("ib_write_bw", *V4, "-b", *BW), RUNS),
    "ib_write_bw 16 pairs": (("ib_write_bw", *V4, "-q", "16", "-n", "20"), RUNS),
    "ib_write_bw 1 s": (("ib_write_bw", *V4, "-D", "1"), RUNS),
    "ib_write_bw lists": (("ib_write_bw", *V4, "-l", "8", "-n", "96", "-s", "4096"), RUNS),
    "ib_write_lat": (("ib_write_lat", *V4, *LAT), RUNS),
    "ib_write_lat inline": (("ib_write_lat", *V4, "-I", "200", "-s", "200", *LAT), RUNS),
    "ib_read_bw": (("ib_read_bw", *V4, *BW), RUNS),
    "ib_read_bw all sizes": (("ib_read_bw", *V4, "-a", "-n", "20"), RUNS),
    "ib_read_bw 16 pairs": (("ib_read_bw", *V4, "-q", "16", "-n", "20"), RUNS),
    "ib_read_lat": (("ib_read_lat", *V4, *LAT), RUNS),
    "ib_send_bw": (("ib_send_bw", *V4, *BW), RUNS),
    "ib_send_bw all sizes": (("ib_send_bw", *V4, "-a", "-n", "20"), RUNS),
    "ib_send_bw both ways": (("ib_send_bw", *V4, "-b", *BW), RUNS),
    "ib_send_bw events": (("ib_send_bw", *V4, "-e", *BW), RUNS),
    "ib_send_bw srq": (("ib_send_bw", *V4, "--use-srq", "-q", "4", "-n", "50"), RUNS),
    "ib_send_bw datagrams": (("ib_send_bw", *V4, "-c", "UD", *BW), RUNS),
    "ib_send_bw multicast": (("ib_send_bw", *V4, *MULTICAST, GROUP4, *BW), RUNS),
    "ib_send_bw multicast ipv6": (("ib_send_bw", *V6, *MULTICAST, GROUP6, *BW), RUNS),
    "ib_write_bw unreliable": (("ib_write_bw", *V4, *UC, *BW), RUNS),
    "ib_write_bw unreliable all sizes": (("ib_write_bw", *V4, *UC, "-a", "-n", "20"), RUNS),
    "ib_write_bw unreliable both ways": (("ib_write_bw", *V4, *UC, "-b", *BW), RUNS),
    "ib_write_bw unreliable 16 pairs": (("ib_write_bw", *V4, *UC, "-q", "16", "-n", "20"), RUNS),
    "ib_write_lat unreliable": (("ib_write_lat", *V4, *UC, *LAT), RUNS),
    "ib_write_lat unreliable inline": (("ib_write_lat", *V4, *UC, "-I", "200", "-s", "200", *LAT), RUNS),
    "ib_send_bw unreliable": (("ib_send_bw", *V4, *UC, *FEW), RUNS),
    "ib_send_bw unreliable ipv6": (("ib_send_bw", *V6, *UC, *FEW), RUNS),
    "ib_send_bw unreliable both ways": (("ib_send_bw", *V4, *UC, "-b", *FEW), RUNS),
    "ib_send_bw unreliable events": (("ib_send_bw", *V4, *UC, "-e", *FEW), RUNS),
    "ib_send_bw unreliable srq": (("ib_send_bw", *V4, *UC, "--use-srq", *FEW), RUNS),
    "ib_send_lat unreliable": (("ib_send_lat", *V4, *UC, *LAT), RUNS),
    "ib_read_bw unreliable": (("ib_read_bw", *V4, *UC, *BW), REFUSED),
    "ib_send_lat": (("ib_send_lat", *V4, *LAT), RUNS),
    "ib_send_lat datagrams": (("ib_send_lat", *V4, "-c", "UD", *LAT), RUNS),
    "ib_atomic_bw": (("ib_atomic_bw", *V4, *BW), RUNS),
    "ib_atomic_bw swap": (("ib_atomic_bw", *V4, "-A", "CMP_AND_SWAP", *BW), RUNS),
    "ib_atomic_lat": (("ib_atomic_lat", *V4, *LAT), RUNS),
}

# Each program once.
EACH = {name: row for name, row in ALL.items() if " " not in name or name.endswith(("datagrams", "unreliable"))}


def judge_run(ends):
    """Both ends ended well, and the client has a line of figures. A note: that line."""
    (server, said), (client, told) = ends
    if server != 0 or client != 0:
        raise Failure(f"server: exit {server}\n{said}\nclient: exit {client}\n{told}")
    if re.search(r"invalid data|failed|error", told + said, re.I):
        raise Failure(f"server:\n{said}\nclient:\n{told}")
    figures = [line for line in told.splitlines() if re.search(r"usec/iter|^\s*\d+\s+\d+\s+[\d.]+", line)]
    if not figures:
        raise Failure(f"no figures\n{told}")
    return " ".join(figures[-1].split())


def judge_refusal(ends):
    """It says what it can't make, and ends as programs do, not by a signal."""
    (server, said), _ = ends
    reasons = [line.strip() for line in said.splitlines() if re.search(r"couldn't|failed|unable|support|capable|not possible", line, re.I)]
    if server is None or server <= 0 or not reasons:
        raise Failure(f"exit {server}\n{said}")
    return reasons[0]


def devinfo(link):
    for number, address in enumerate(link.a.addresses):
        said = run(*under(link.a, "ibv_devinfo", "-v", "-d", f"ndd{number}")).stdout
        gid = ("::ffff:" if "." in address else "") + address
        for what in ("PORT_ACTIVE", "link_layer:\t\tEthernet", f"GID[  0]:\t\t{gid}, RoCE v2"):
            if what not in said:
                raise Failure(f"no {what!r}\n{said}")


def devices(link):
    said = run(*under(link.a, "ibv_devices")).stdout
    names = re.findall(r"^\s+(ndd\d+)\s+([0-9a-f]{16})$", said, re.M)
    if len(names) < len(link.a.addresses) or len({guid for _, guid in names}) != len(names):
        raise Failure(said)


def cases(link, table):
    yield "ibv_devices", lambda: devices(link)
    yield "ibv_devinfo", lambda: devinfo(link)
    for name, (command, result) in table.items():
        judge = judge_run if result == RUNS else judge_refusal
        yield name, lambda c=command, j=judge: j(both(link, *c))
