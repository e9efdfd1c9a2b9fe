# SPDX-License-Identifier: BSD-3-Clause
"""The view of /sys and /dev that ndd-verbs gives to a program: the daemon's devices, and all else as it was."""

import os
import re

import fabric_cases
from sandbox import Failure, Process, run
from verbs import under

OWN = {"infiniband", "infiniband_verbs"}
# Not root, and without a capability from its first exec on.
ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
# Root of a namespace in which there may be no other, and which gave up its capabilities.
CONFINED = ("unshare", "--user", "--map-root-user", "sh", "-c",
            'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all "$@"', "sh")


def equal(got, wanted, what):
    if got != wanted:
        raise Failure(f"{what}: {got!r}, wanted {wanted!r}")


def shell(link, script, before=(), **options):
    return run(*before, *under(link.a, "sh", "-c", script), **options).stdout


def names(link, folder, **options):
    return set(shell(link, f"ls -A {folder}", **options).split())


def shows_devices(link, before=()):
    """The files say what the calls say."""
    for number, address in enumerate(link.a.addresses):
        said = run(*under(link.a, "ibv_devinfo", "-v", "-d", f"ndd{number}")).stdout
        at = f"/sys/class/infiniband/ndd{number}"
        for name in ("node_guid", "sys_image_guid", "fw_ver", "board_id"):
            want = re.search(rf"{name}:\s+(\S+)", said)[1]
            equal(shell(link, f"cat {at}/{name}", before).strip(), want, name)
        gid = shell(link, f"cat {at}/ports/1/gids/0", before).strip()
        want = run("python3", "-c", "import ipaddress, sys; print(ipaddress.ip_address(sys.argv[1]).exploded)",
                   address if ":" in address else f"::ffff:{address}").stdout.strip()
        equal(gid, want, "gids/0")
        for path, want in (("ports/1/state", "4: ACTIVE"), ("ports/1/link_layer", "Ethernet"),
                           ("ports/1/gid_attrs/types/0", "RoCE v2"), ("ports/1/pkeys/0", "0xffff")):
            equal(shell(link, f"cat {at}/{path}", before).strip(), want, path)
        uverbs = f"/sys/class/infiniband_verbs/uverbs{number}"
        equal(shell(link, f"cat {uverbs}/ibdev", before).strip(), f"ndd{number}", "ibdev")
        shell(link, f"test -c /dev/infiniband/uverbs{number} -a -r /dev/infiniband/uverbs{number} "
                    f"-a -w /dev/infiniband/uverbs{number}", before)


def shows_interface(link, number, interface):
    """Of the kernel, that has the device's address; None: none has, and there is no file."""
    at = f"/sys/class/infiniband/ndd{number}"
    if interface is None:
        equal(shell(link, f"cd {at} && ls ports/1/gid_attrs/ndevs && test ! -e device"), "", "no interface")
        return
    equal(shell(link, f"cd {at} && cat ports/1/gid_attrs/ndevs/0 && ls device && ls device/net"),
          f"{interface}\nnet\n{interface}\n", "interface")


def keeps_all_else(link):
    equal(names(link, "/sys/class"), set(os.listdir("/sys/class")) | OWN, "/sys/class")
    equal(names(link, "/dev"), set(os.listdir("/dev")) | {"infiniband"}, "/dev")
    for entry in os.scandir("/sys/class"):
        if entry.is_dir() and entry.name not in OWN:
            equal(names(link, entry.path), set(os.listdir(entry.path)), entry.path)
    with open("/sys/class/net/lo/mtu") as f:
        equal(shell(link, "cat /sys/class/net/lo/mtu"), f.read(), "mtu")
    equal(shell(link, "head -c 3 /dev/zero | wc -c; echo x >/dev/null; echo y >/dev/stdout; ls -d /dev/shm"),
          "3\ny\n/dev/shm\n", "/dev")
    equal(shell(link, "for f in /dev/*; do stat -c '%n %F %t %T %a' $f; done | grep -v '^/dev/infiniband '"),
          run("sh", "-c", "for f in /dev/*; do stat -c '%n %F %t %T %a' $f; done | grep -v '^/dev/infiniband '").stdout,
          "nodes")


def nobody_else_sees_it(link):
    before = run("sh", "-c", "ls /sys/class /dev /dev/infiniband 2>&1; cat /proc/self/mountinfo", check=False).stdout
    with Process(*under(link.a, "sh", "-c", "echo here; exec sleep 60"), name="inside") as inside:
        inside.expect("here")
        now = run("sh", "-c", "ls /sys/class /dev /dev/infiniband 2>&1; cat /proc/self/mountinfo", check=False).stdout
        inside.kill()
    equal(now, before, "outside")


def ordinary_user(link):
    """With its own user and group, and no capability."""
    said = shell(link, "id -u; id -g; grep CapEff /proc/self/status", ORDINARY)
    equal(said.split(), ["1000", "1000", "CapEff:", "0" * 16], "who")
    shows_devices(link, ORDINARY)


def not_allowed(link):
    """The program runs all the same; why it sees no view is said, or not."""
    said = run(*CONFINED, *(word for word in under(link.a, "ibv_devices") if word != "--quiet")).stdout
    for what in ("user.max_user_namespaces", "UCX and libfabric", "node GUID", "ndd0"):
        if what not in said:
            raise Failure(f"no {what!r}\n{said}")
    said = run(*CONFINED, *under(link.a, "ibv_devices")).stdout
    if "ndd-verbs" in said or "ndd0" not in said:
        raise Failure(said)


def not_wanted(link):
    command = list(under(link.a, "sh", "-c", "ls -A /sys/class; ls -A /dev/infiniband"))
    said = run(command[0], "--no-view", *command[1:], check=False).stdout
    equal(said, run("sh", "-c", "ls -A /sys/class; ls -A /dev/infiniband", check=False).stdout, "outside")


def cases(link):
    yield "view devices", lambda: shows_devices(link)
    yield "view no interface", lambda: shows_interface(link, 0, None)
    yield "view all else", lambda: keeps_all_else(link)
    yield "view nobody else", lambda: nobody_else_sees_it(link)
    yield "view ordinary user", lambda: ordinary_user(link)
    yield "view not allowed", lambda: not_allowed(link)
    yield "view not wanted", lambda: not_wanted(link)


def interface_cases(link):
    yield "view interface", lambda: shows_interface(link, 0, fabric_cases.Interface.near)
