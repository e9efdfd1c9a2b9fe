# SPDX-License-Identifier: BSD-3-Clause
"""What this machine lets us do; a case that needs more is skipped."""

import os
import re
import socket

from cases import Skip

_CAP_BPF, _CAP_SYS_ADMIN = 39, 21


def needs_xdp():
    """A kernel with AF_XDP, and the right to give it a program."""
    try:
        socket.socket(44, socket.SOCK_RAW).close()  # AF_XDP
    except OSError:
        raise Skip("no-af-xdp") from None
    with open("/proc/self/status") as f:
        rights = int(re.search(r"CapEff:\s*(\w+)", f.read()).group(1), 16)
    with open("/proc/self/uid_map") as f:
        everybody = f.read().split() == ["0", "0", "4294967295"]
    if not everybody or not rights & (1 << _CAP_BPF | 1 << _CAP_SYS_ADMIN):
        raise Skip("no-bpf")


def needs_tun():
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise Skip("no-tun")
