# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's librdmacm on the daemon: rdmacm-utils, perftest -R, rsockets, and a program of our own."""

import os
import re
import signal

from program_cases import judge_run
from sandbox import Failure, Process, run, until
from verbs import PORT, both_by_cm, both_by_port, under

P = ("-p", str(PORT))
# name: (server's arguments, client's, where the server's address comes, what the client says at the end)
RPING = ("-C", "20", "-v", "-V")
STREAM = ("-T", "v", "-S", "65536", "-C", "50", "-I", "2")
PERF = ("-R", "-n", "50", *P)
FIGURES = None  # perftest's table
# fio's end that reads is the target; the other one says by which requests.
FIO = ("fio", "--thread", "--name=case", "--ioengine=rdma", "--port", str(PORT), "--bs=64k", "--size=16m",
       "--iodepth=16")
FIO_TARGET, FIO_SOURCE = (*FIO, "--rw=read"), (*FIO, "--rw=write")
FIO_ALL = r"WRITE: .*io=16.0MiB"
DATAGRAMS = r"data transfers complete\ntest complete\nreturn status 0"

ALL = {
    "rping": (("rping", "-s", *RPING, *P), ("rping", "-c", *RPING, *P, "-a"), r"ping data: rdma-ping-19: "),
    "rping at an address": (("rping", "-s", *RPING, *P, "-a", "{a}"), ("rping", "-c", *RPING, *P, "-a"),
                            r"ping data: rdma-ping-19: "),
    "ucmatose": (("ucmatose", *P), ("ucmatose", *P, "-s"), r"return status 0"),
    "ucmatose 20 connections": (("ucmatose", "-c", "20", "-S", "4096", *P),
                                ("ucmatose", "-c", "20", "-S", "4096", *P, "-s"), r"return status 0"),
    "rdma_client": (("rdma_server", *P), ("rdma_client", *P, "-s"), r"rdma_client: end 0"),
    "rstream": (("rstream", *STREAM, *P), ("rstream", *STREAM, *P, "-s"), r"custom +64k "),
    "rstream without blocking": (("rstream", "-T", "n", *STREAM, *P), ("rstream", "-T", "n", *STREAM, *P, "-s"),
                                 r"custom +64k "),
    "riostream": (("riostream", "-T", "v", "-S", "4096", "-C", "20", *P),
                  ("riostream", "-T", "v", "-S", "4096", "-C", "20", *P, "-s"), r"custom +4k "),
    "udaddy": (("udaddy",), ("udaddy", "-s"), DATAGRAMS),
    "udaddy 20 users": (("udaddy", "-c", "20", "-C", "4", "-S", "1000"),
                        ("udaddy", "-c", "20", "-C", "4", "-S", "1000", "-s"), DATAGRAMS),
    "fio write": (FIO_TARGET, (*FIO_SOURCE, "--verb=write", "--hostname"), FIO_ALL),
    "fio read": (FIO_TARGET, (*FIO_SOURCE, "--verb=read", "--hostname"), FIO_ALL),
    "fio send": (FIO_TARGET, (*FIO_SOURCE, "--verb=send", "--hostname"), FIO_ALL),
    "ib_write_bw -R": (("ib_write_bw", *PERF), ("ib_write_bw", *PERF), FIGURES),
    "ib_read_bw -R 4 pairs": (("ib_read_bw", "-q", "4", *PERF), ("ib_read_bw", "-q", "4", *PERF), FIGURES),
    "ib_send_bw -R events": (("ib_send_bw", "-e", *PERF), ("ib_send_bw", "-e", *PERF), FIGURES),
    "ib_send_lat -R": (("ib_send_lat", *PERF), ("ib_send_lat", *PERF), FIGURES),
    "ib_send_bw -R datagrams": (("ib_send_bw", "-c", "UD", *PERF), ("ib_send_bw", "-c", "UD", *PERF), FIGURES),
    "ib_atomic_bw -R": (("ib_atomic_bw", *PERF), ("ib_atomic_bw", *PERF), FIGURES),
}


def exchange(link, serve, ask, wanted, alone=False, number=0):
    """Between the two daemons, or alone, on a's; at that address of a's."""
    address = link.a.addresses[number]
    ends = both_by_cm(link, [part.format(a=address) for part in serve], (*ask, address), link.a if alone else link.b)
    if wanted is FIGURES:
        return judge_run(ends)
    (server, said), (client, told) = ends
    if server != 0 or client != 0 or not re.search(wanted, told):
        raise Failure(f"server: exit {server}\n{said}\nclient: exit {client}\n{told}")
    return None


QPERF = ("rc_lat", "rc_bw", "rc_rdma_read_bw", "rc_rdma_write_lat")


def qperf(link):
    """Its ends speak TCP, too, at the address that the daemon has from the kernel."""
    to = link.a.addresses[0]
    (server, said), (client, told) = both_by_port(
        link, ("qperf", "-lp", str(PORT)), ("qperf", to, "-lp", str(PORT), "-cm", "1", "-t", "1", *QPERF, "quit"))
    figures = re.findall(r"^(\w+):$", told, re.M)
    if server != 0 or client != 0 or tuple(figures[:len(QPERF)]) != QPERF:
        raise Failure(f"server: exit {server}\n{said}\nclient: exit {client}\n{told}")


def socket_cases(link):
    yield "qperf", lambda: qperf(link)


def cases(link, table):
    for name, (serve, ask, wanted) in table.items():
        yield name, lambda s=serve, a=ask, w=wanted: exchange(link, s, a, w)


# ---- our own program -----------------------------------------------------------------------------

SCENARIOS = ("values", "disconnect", "reject", "nobody", "ports", "wildcard", "families", "numbers", "destroy",
             "descriptor", "fork", "migrate", "timewait", "crowded", "service", "service-reject", "service-nobody",
             "service-nowhere", "service-spaces", "service-limits", "ack-timeout")


def environment(address):
    return {**os.environ, "CMTEST_ADDRESS": address}


def own(link, scenario, number=0):
    run(*under(link.a, link.a.build.cmtest(), scenario), timeout=60, env=environment(link.a.addresses[number]))


def many(link):
    """A hundred connections, one after the other: nothing is left of them."""
    own(link, "many")
    until(lambda: not link.a.usage(), "nothing is left")


def killed(link, scenario):
    """A client that ends in the midst of a connect, or between question and answer."""
    with Process(*under(link.a, link.a.build.cmtest(), scenario), name="cmtest",
                 env=environment(link.a.addresses[0])) as waiting:
        waiting.expect("waiting")
        waiting.kill(signal.SIGKILL)
        waiting.wait(20)
    until(lambda: not link.a.usage(), "nothing is left")


def device_alone(link):
    """The preloaded library in a program without libibverbs: the device is not there, all else is as ever."""
    done = run(*under(link.a, "sh", "-c", "echo $LD_PRELOAD; cat /dev/infiniband/rdma_cm; echo whole >/dev/null"),
               check=False)
    if done.returncode != 0 or "libndd_rdma_cm.so" not in done.stdout or "No such file" not in done.stdout:
        raise Failure(f"exit {done.returncode}\n{done.stdout}")


def one_family_cases(link):
    """Of a daemon that has addresses of one family alone."""
    yield "cm families", lambda: own(link, "families")


def own_cases(link):
    for scenario in SCENARIOS:
        yield "cm " + scenario, lambda s=scenario: own(link, s)
    if not link.a.addresses[0].startswith("127."):
        yield "cm loopback", lambda: own(link, "loopback")
    if len(link.a.addresses) > 1:
        yield "cm families ipv6", lambda: own(link, "families", 1)
        yield "cm ipv6", lambda: own(link, "values", 1)
        yield "cm service ipv6", lambda: own(link, "service", 1)
        yield "udaddy ipv6", lambda: exchange(link, ("udaddy", "-b", "{a}"), ("udaddy", "-s"), DATAGRAMS, number=1)
    yield "cm many", lambda: many(link)
    yield "cm killed", lambda: killed(link, "waits")
    yield "cm service killed", lambda: killed(link, "service-waits")
    yield "udaddy on one daemon", lambda: exchange(link, *ALL["udaddy"], alone=True)
    yield "cm device alone", lambda: device_alone(link)
