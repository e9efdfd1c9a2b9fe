# SPDX-License-Identifier: BSD-3-Clause
"""Disks and virtual machines: tgt's target of iSER with QEMU's initiator (libiscsi), and QEMU's live migration. That one
wants an IPv4 address of an interface: where there is none but the loopback's, and one of IPv6, getaddrinfo() makes IPv6
addresses of all, which QEMU takes for no device of Ethernet."""

import os
import re
import shutil
import subprocess
import time

from cases import Skip
from sandbox import Failure, Process, run, scratch, until
from verbs import PORT, under

BLOCKS = "/usr/lib/x86_64-linux-gnu/qemu/block-iscsi.so"
IQN = "iqn.2026-11.org.dpdk-ndd:disk"
QEMU_IQN = "iqn.2008-11.org.linux-kvm"  # as which QEMU logs in
DISK, PIECE = 4 << 20, 256 << 10  # libiscsi takes no request of more than 512 KiB


def needed(*programs):
    if not all(shutil.which(name) for name in programs):
        raise Skip("no-storage")


def administer(environment, *command):
    run("tgtadm", "--lld", "iser", "--mode", *command, "--tid", "1", env=environment)


def make_disk(environment, path):
    administer(environment, "target", "--op", "new", "--targetname", IQN)
    administer(environment, "logicalunit", "--op", "new", "--lun", "1", "--backing-store", path)
    administer(environment, "target", "--op", "bind", "--initiator-address", "ALL")
    administer(environment, "target", "--op", "bind", "--initiator-name", QEMU_IQN)


def write_pieces(link, url, folder, data):
    """By qemu-io, each from a file."""
    commands = []
    for begin in range(0, len(data), PIECE):
        path = os.path.join(folder, str(begin))
        with open(path, "wb") as f:
            f.write(data[begin:begin + PIECE])
        commands += ["-c", f"write -s {path} {begin} {PIECE}"]
    run(*under(link.b, "qemu-io", "-f", "raw", *commands, url))


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def iser(link):
    """What one client writes is in the target's file, and what another one reads. No queue pair is left of them."""
    needed("tgtd", "tgtadm", "qemu-io", "qemu-img")
    if not os.path.exists(BLOCKS):
        raise Skip("no-storage")
    with scratch("ndd-iser-") as folder:
        environment = {**os.environ, "TGT_IPC_SOCKET": os.path.join(folder, "tgt")}
        disk, back, data = os.path.join(folder, "disk"), os.path.join(folder, "back"), os.urandom(DISK)
        with open(disk, "wb") as f:
            f.truncate(DISK)
        with Process(*under(link.a, "tgtd", "-f", "--iscsi", f"portal=127.0.0.1:{PORT}", "--iser", f"port={PORT}"),
                     name="tgtd", env=environment) as target:
            until(lambda: link.a.usage().get("listeners") or not target.running(), "tgtd listens")
            try:
                make_disk(environment, disk)
                url = f"iser://{link.a.addresses[0]}:{PORT}/{IQN}/1"
                write_pieces(link, url, folder, data)
                run(*under(link.b, "qemu-img", "dd", "-f", "raw", "-O", "raw", f"bs={PIECE}", "if=" + url, "of=" + back))
                until(lambda: not link.a.usage().get("qps"), "the target lets go of the connections (TIMEWAIT_EXIT)")
            except Failure as e:
                raise Failure(f"{e}\ntgtd:\n{target.text[-3000:]}") from None
        if contents(disk) != data or contents(back) != data:
            raise Failure("contents differ")
    until(lambda: not link.a.usage() and not link.b.usage(), "nothing is left")


# Without an image: its BIOS alone runs.
MACHINE = ("qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-m", "64", "-nodefaults", "-display", "none",
           "-monitor", "stdio")


def monitored(machine, question, answer):
    """Ask until it says so; the text of that answer."""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        begin = len(machine.text)
        machine.say(question + "\n")
        time.sleep(0.3)
        if not machine.running():
            break
        if re.search(answer, machine.text[begin:]):
            return machine.text[begin:]
    raise Failure(f"{machine.name}: no {answer!r}\n{machine.text[-3000:]}")


def vectors(machine):
    """Those of the BIOS, which it has put into RAM: a machine that waits for another one's has run none."""
    text = monitored(machine, "xp /16xw 0x40", r"0070: ")
    return re.findall(r"^[0-9a-f]{16}: .*$", text.replace("\r", ""), re.M)


def migration(link, pin):
    needed("qemu-system-x86_64")
    with Process(*under(link.b, *MACHINE), name="source", stdin=subprocess.PIPE) as source, \
         Process(*under(link.a, *MACHINE, "-incoming", "defer"), name="destination", stdin=subprocess.PIPE) as there:
        for machine in (source, there):
            machine.expect("(qemu)")
            machine.say(f"migrate_set_capability rdma-pin-all {pin}\n")
        where = f"rdma:{link.a.addresses[0]}:{PORT}"
        there.say(f"migrate_incoming {where}\n")
        until(lambda: link.a.usage().get("listeners"), "the destination listens")
        monitored(source, "info registers", r"HLT=1")  # the BIOS found nothing to boot
        source.say(f"migrate -d {where}\n")
        monitored(source, "info migrate", r"Migration status: completed")
        monitored(there, "info status", r"VM status: running")
        left, came = vectors(source), vectors(there)
        if left != came or not re.search(r": 0x[0-9a-f]*[1-9a-f]", came[0]):
            raise Failure(f"{left}\n{came}")
    until(lambda: not link.a.usage() and not link.b.usage(), "nothing is left")


def cases(link):
    yield "iser", lambda: iser(link)
    for pin in ("off", "on"):
        yield f"qemu migration (pin {pin})", lambda p=pin: migration(link, p)
