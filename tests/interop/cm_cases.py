# SPDX-License-Identifier: BSD-3-Clause
"""rdma_cm in both roles: what becomes of a connection, not what goes over it."""

from bench import FAMILIES, OURS, PEER, Case
from sandbox import Failure

SILENT_PORT = 7999  # nobody listens there


def reject_in(bench, family):
    def act():
        client = bench.guest.run(f"rping -c -a {OURS[family]} -p {SILENT_PORT} -C 1", check=False)
        if client.status == 0 or "REJECTED" not in client.text:
            raise Failure(f"rping to nobody: exit {client.status}\n{client.text}")

    return bench.captured(act)


def reject_out(bench, family):
    def act():
        client = bench.daemon.ping("-a", PEER[family], "-p", SILENT_PORT, "-C", 1, check=False)
        if client.returncode != 3 or "refused" not in client.stdout.lower():
            raise Failure(f"nddping to nobody: exit {client.returncode}\n{client.stdout}")

    return bench.captured(act)


def cases(bench):
    for f in FAMILIES:
        yield Case(f"no listener {f}", "in", "REJECTED", lambda f=f: reject_in(bench, f))
        yield Case(f"no listener {f}", "out", "refused", lambda f=f: reject_out(bench, f))
    yield Case("no datagram service", "out", "refused", lambda: bench.captured(
        lambda: bench.run_ndtest("v4", "udaddy-nobody")))
