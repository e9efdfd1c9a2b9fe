# SPDX-License-Identifier: BSD-3-Clause
"""What a running daemon may still do, on each of its threads, and that it does its work with that."""

import os
import pwd
import re
import signal

import sandbox
from cases import Skip
from links import Memif, Veth
from port_links import Tap, Xdp
from sandbox import Failure, scratch, until
from transfer_cases import perf

IPC_LOCK, NET_ADMIN = 1 << 14, 1 << 12
FILTERED = 2  # as /proc says it


def statuses(daemon):
    """Of each thread: its name, and the lines of its status. A session's worker may end meanwhile."""
    tasks = f"/proc/{daemon.process.pid}/task"
    for tid in os.listdir(tasks):
        try:
            with open(os.path.join(tasks, tid, "status")) as f:
                lines = dict(re.findall(r"^(\w+):\s*(.*)$", f.read(), re.M))
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield f"{tid} ({lines['Name']})", lines


def own_caps():
    with open("/proc/self/status") as f:
        return int(re.search(r"CapPrm:\s*(\w+)", f.read()).group(1), 16)


def judge(daemon, caps, uid=None):
    """All threads have these capabilities, as far as we have them, no way to others, and a filter."""
    daemon.process.expect("ready: ")
    wanted = caps & own_caps()
    threads = list(statuses(daemon))
    if len(threads) < 4:
        raise Failure(f"daemon {daemon.name} has {len(threads)} threads; tested is an lcore, DPDK's and the closer")
    for name, lines in threads:
        has = int(lines["CapPrm"], 16), int(lines["CapEff"], 16), int(lines["NoNewPrivs"]), int(lines["Seccomp"])
        if has != (wanted, wanted, 1, FILTERED):
            raise Failure(f"thread {name}: capabilities {has[0]:x} and {has[1]:x}, not {wanted:x}; no_new_privs "
                          f"{has[2]}, seccomp {has[3]}")
        if uid is not None and set(lines["Uid"].split()) != {str(uid)}:
            raise Failure(f"thread {name} is of user {lines['Uid']}")
    with open(f"/proc/{daemon.process.pid}/limits") as f:
        if not daemon.config["control"]["core_dumps"] and not re.search(r"Max core file size\s+0\s+0\s", f.read()):
            raise Failure(f"daemon {daemon.name} may dump core")


def goes_on(link):
    """A new configuration, and a peer that comes again."""
    link.a.process.kill(signal.SIGHUP)
    link.a.process.expect("reload: addresses, VLANs and routes are those of")
    link.a.process.expect("link up")
    ups = link.a.process.text.count("link up")
    link.b.process.stop()
    link.a.process.expect("link down")  # links are looked at five times a second: it may come again unseen
    link.b.start()
    until(lambda: link.a.process.text.count("link up") > ups, "the link up again")
    perf(link, "-t", "write", "--size", "64K", "-n", 50)


def memif(build):
    with scratch("ndd-e2e-") as folder, Memif(build, folder) as link:
        for daemon in (link.a, link.b):
            judge(daemon, IPC_LOCK)
        goes_on(link)
        judge(link.a, IPC_LOCK)
        link.judge()


def another_user(build):
    if os.geteuid() != 0:
        raise Skip("not-root")
    with scratch("ndd-e2e-") as folder:
        os.chmod(folder, 0o755)  # it reads its configuration again as that user
        link = Memif(build, folder)
        link.a.config["control"]["user"] = "nobody"
        with link:
            judge(link.a, IPC_LOCK, pwd.getpwnam("nobody").pw_uid)
            goes_on(link)
            link.judge()


def ethernet(build, kind, networked, caps):
    with scratch("ndd-e2e-") as folder, kind(build, folder, networked) as link:
        judge(link.a, caps)
        perf(link, "-t", "send", "--size", "10000", "-n", 50)
        link.judge()
        if kind is Xdp and "xdp" in sandbox.run("ip", "link", "show", "veth-a").stdout:
            raise Failure("the program is still on the interface")


def lone_cases(build, networked):
    yield "memif", lambda: memif(build)
    yield "another user", lambda: another_user(build)
    for kind, caps in ((Veth, IPC_LOCK), (Xdp, IPC_LOCK | NET_ADMIN), (Tap, IPC_LOCK | NET_ADMIN)):
        yield kind.name, lambda k=kind, c=caps: ethernet(build, k, networked, c)
