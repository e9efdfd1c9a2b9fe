# SPDX-License-Identifier: BSD-3-Clause
"""Configurations, instances, and the control socket."""

import copy
import json
import os
import signal

from failure_cases import Transfer, nothing_left, still_works
from sandbox import Failure, Process, run

GOOD = {
    "eal": {"huge_pages": False, "vdevs": ["net_memif0,role=server,socket-abstract=no,socket=/tmp/x"]},
    "lcores": [0],
    "ports": [{"device": "net_memif0", "addresses": ["192.0.2.1/24"]}],
}
PORT = GOOD["ports"][0]

# What is changed, as (path of keys, value); the path that the message must name.
BAD = [
    ([("lcores", None)], "lcores"),
    ([("eal", "vdevs", ["net_memif0,role=boss"])], "eal.vdevs[0]"),
    ([("lcores", [])], "lcores"),
    ([("lcores", "0")], "lcores"),
    ([("lcores", [5000])], "lcores[0]"),
    ([("lcores", [0, 0])], "lcores[1]"),
    ([("ports", None)], "ports"),
    ([("ports", [])], "ports"),
    ([("ports", [7])], "ports[0]"),
    ([("prots", [])], "prots"),
    ([("ports", 0, "mtu", 90000)], "ports[0].mtu"),
    ([("ports", 0, "mtu", "1500")], "ports[0].mtu"),
    ([("ports", 0, "mtu", 1500.5)], "ports[0].mtu"),
    ([("ports", 0, "adresses", [])], "ports[0].adresses"),
    ([("ports", 0, "addresses", [])], "ports[0].addresses"),
    ([("ports", 0, "addresses", ["192.0.2.1"])], "ports[0].addresses[0]"),
    ([("ports", 0, "addresses", ["192.0.2.1/33"])], "ports[0].addresses[0]"),
    ([("ports", 0, "addresses", ["192.0.2.300/24"])], "ports[0].addresses[0]"),
    ([("ports", 0, "addresses", ["192.0.2.0/24"])], "ports[0].addresses[0]"),
    ([("ports", 0, "addresses", ["192.0.2.1/24", "192.0.2.1/24"])], "ports[0].addresses[1]"),
    ([("ports", 0, "addresses", ["ff02::1/64"])], "ports[0].addresses[0]"),
    ([("ports", 0, "gateway", "198.51.100.1")], "ports[0].gateway"),
    ([("ports", 0, "mac", "02:00:00:00:00")], "ports[0].mac"),
    ([("ports", 0, "device", "net_memif1")], "ports[0].device"),
    ([("ports", [PORT, PORT])], "ports[1].device"),
    ([("eal", "huge_pages", 1)], "eal.huge_pages"),
    ([("eal", "memory_mb", 1)], "eal.memory_mb"),
    ([("eal", "vdevs", ["net_null0", "net_null0"])], "eal.vdevs[1]"),
    ([("idle", "doze")], "idle"),
    ([("control", "socket", "/tmp/" + "x" * 200)], "control.socket"),
    ([("control", "mode", 660)], "control.mode"),
    ([("control", "max_sessions", 0)], "control.max_sessions"),
    ([("control", "user", "")], "control.user"),
    ([("control", "core_dumps", "no")], "control.core_dumps"),
    ([("control", "seccomp", "strict")], "control.seccomp"),
    ([("limits", "qps", 100000)], "limits.qps"),
    ([("rc", "retry", 8)], "rc.retry"),
    ([("rc", [])], "rc"),
]


def changed(changes):
    """A copy of the good configuration with values set, or taken away (None)."""
    config = copy.deepcopy(GOOD)
    for *path, key, value in changes:
        place = config
        for step in path:
            place = place[step] if isinstance(step, int) else place.setdefault(step, {})
        if value is None:
            del place[key]
        else:
            place[key] = value
    return config


def check_config(build, folder, text):
    path = os.path.join(folder, "checked.json")
    with open(path, "w") as f:
        f.write(text)
    return run(build.daemon, "--config", path, "--check-config", check=False)


def good_config(build, folder):
    done = check_config(build, folder, json.dumps(GOOD))
    if done.returncode:
        raise Failure(f"a good configuration: exit {done.returncode}\n{done.stdout}")


def bad_configs(build, folder):
    for changes, path in BAD:
        done = check_config(build, folder, json.dumps(changed(changes)))
        if done.returncode == 0 or f"checked.json: {path}: " not in done.stdout:
            raise Failure(f"{changes}: exit {done.returncode}, message does not name {path}:\n"
                          f"{done.stdout}")
    return f"{len(BAD)} configurations"


def no_json(build, folder):
    for text in ("", "{", "[]", '{"lcores": [0],}', '{"lcores": [0], "lcores": [1]}', "\xff\xfe"):
        done = check_config(build, folder, text)
        if done.returncode == 0 or "checked.json" not in done.stdout:
            raise Failure(f"{text!r}: exit {done.returncode}\n{done.stdout}")
    done = run(build.daemon, "--config", folder + "/none.json", "--check-config", check=False)
    if done.returncode == 0 or "none.json" not in done.stdout:
        raise Failure(f"a file that is not there: exit {done.returncode}\n{done.stdout}")


def config_cases(build, folder):
    yield "good configuration", lambda: good_config(build, folder)
    yield "bad configurations", lambda: bad_configs(build, folder)
    yield "no configuration", lambda: no_json(build, folder)


def no_such_cpu(link):
    """Only where it is to run can the daemon tell: it says which entry is wrong, and starts nothing."""
    none = max(os.sched_getaffinity(0)) + 1
    while os.path.exists(f"/sys/devices/system/cpu/cpu{none}"):
        none += 1
    path = os.path.join(os.path.dirname(link.a.config_path), "no-such-cpu.json")
    with open(path, "w") as f:
        json.dump(changed([("lcores", [min(os.sched_getaffinity(0)), none]), ("control", "socket", path + ".sock")]), f)
    done = run(link.build.daemon, "--config", path, check=False)
    if done.returncode != 1 or f"lcores[1]: this process can't have CPU {none}: " not in done.stdout:
        raise Failure(f"exit {done.returncode}, no reason in\n{done.stdout}")
    if "EAL" in done.stdout:
        raise Failure(f"EAL was started\n{done.stdout}")


def second_instance(link):
    """It is refused with a reason, and the first does not notice."""
    with Process(link.build.daemon, "--config", link.a.config_path, name="second daemon") as second:
        status = second.wait(20)
        if status == 0 or link.a.socket_path not in second.text:
            raise Failure(f"second instance: exit {status}, no reason in\n{second.text}")
    if not link.a.process.running():
        raise Failure("the first instance ended")
    still_works(link)


def abuse(link, seconds):
    """Garbage at the control socket of a daemon; its other client does not notice."""
    still_works(link)
    nothing_left(link.a)  # the daemon closes a client's files a moment after the client has ended
    files = link.a.descriptors()
    with Transfer(link) as transfer:
        done = run(link.build.ndabuse, link.a.socket_path, 1, seconds, timeout=seconds + 60)
        if not transfer.client.running() or not transfer.server.running():
            raise Failure(f"a transfer ended\n{transfer.client.text}{transfer.server.text}")
        transfer.client.stop(signal.SIGINT)
        transfer.server.stop(signal.SIGINT)
    if not link.a.process.running():
        raise Failure(f"the daemon ended (exit {link.a.process.wait()})")
    nothing_left(link.a)
    if link.a.descriptors() != files:
        raise Failure(f"open files of the daemon: {files} before, {link.a.descriptors()} after")
    still_works(link)
    return done.stdout.strip()


def cases(link):
    yield "a CPU that is not there", lambda: no_such_cpu(link)
    yield "second instance is refused", lambda: second_instance(link)
    yield "garbage on the control socket", lambda: abuse(link, 5)
