# SPDX-License-Identifier: BSD-3-Clause
"""What the daemon reports on DPDK's telemetry socket, and to which users."""

import glob
import json
import os
import re
import socket
import time

import sandbox
from cases import cpus
from failure_cases import Transfer
from links import Memif
from sandbox import Failure, Process, run, until

HERE = os.path.dirname(os.path.abspath(__file__))
PRINTER = os.path.join(HERE, "../../devtools/cycles")


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def socket_path(daemon):
    """Where the daemon says that the socket is; None: it says nothing of one."""
    found = re.search(r"telemetry: (\S+)", daemon.process.text)
    return found and found.group(1)


class Telemetry:
    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        self.socket.connect(socket_path(daemon))
        self.socket.recv(4096)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(65536))[command.split(",")[0]]


def counted(build, folder, cycles=True):
    return Memif(build, folder, telemetry={"socket": True, "cycles": cycles})


def numbers(tree, path=""):
    """The numbers of an answer, by their path."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{path}/{key}")
        elif isinstance(value, int):
            yield f"{path}/{key}", value


def monotonic(before, after, but=(" ",)):
    before, after = dict(numbers(before)), dict(numbers(after))
    for path, value in before.items():
        expect(path.startswith(but) or after[path] >= value, path, "fell from", value, "to", after[path])


def adds_up(answer):
    """Each cycle since the start belongs to one stage."""
    whole = sum(stage["cycles"] for stage in answer["stages"].values())
    expect(whole == answer["cycles"], f"stages: {whole} cycles of {answer['cycles']}")
    for lengths in ("lengths", "own_lengths"):
        expect(sum(answer[lengths]) == answer["turns"], f"{answer['turns']} turns, {lengths} {answer[lengths]}")
    longest = max([k for k, n in enumerate(answer["own_lengths"]) if n], default=0)
    expect(longest == max(answer["own_longest"].bit_length() - 1, 0), f"2^{longest}, own_longest {answer['own_longest']}")
    for name, stage in answer["stages"].items():
        expect(stage["longest"] <= stage["cycles"], f"{name}: {stage}")


def cycles_of_a_transfer(build):
    """Stages and waiting are all the time there was; what was transferred shows where it was handled."""
    with sandbox.scratch("ndd-e2e-") as folder, counted(build, folder) as link, Telemetry(link.a) as of_a, \
            Telemetry(link.b) as of_b:
        begin = time.monotonic()
        first = [t.ask("/ndd/cycles,0") for t in (of_a, of_b)]
        known = time.monotonic() - begin
        with Transfer(link):
            between = of_a.ask("/ndd/cycles,0")
        last = [t.ask("/ndd/cycles,0") for t in (of_a, of_b)]
        elapsed = time.monotonic() - begin
        for answer in (*first, between, *last):
            adds_up(answer)
        for before, after in zip(first, last):
            monotonic(before, after)
            grown = (after["cycles"] - before["cycles"]) / after["hz"]
            # An lcore that sleeps, or waits for its CPU, tells of a moment before: of two on a crowded
            # machine each has its CPU again long before half of the time is over.
            expect(grown <= elapsed + 0.25, f"{grown} s in {elapsed} s")
            expect(grown >= (elapsed - known) / 2, f"only {grown} s in {elapsed} s")
        work = {name for name, stage in last[0]["stages"].items()
                if sum(stage.values()) > sum(first[0]["stages"][name].values())}
        expect({"rx", "parse", "completer", "doorbells", "requester", "tx", "completion"} <= work,
               "the client's side has no", work)
        stages = last[1]["stages"]
        expect(stages["responder"]["packets"] > first[1]["stages"]["responder"]["packets"], stages)
        expect(stages["answers"]["frames"] > 0, stages)
        frames = of_b.ask("/ndd/shard,0")["frames"]
        expect(stages["rx"]["frames"] <= frames["rx_frames"], stages["rx"], frames)


def counters(build):
    """What SIGUSR1 logs can be asked for, and only grows."""
    with sandbox.scratch("ndd-e2e-") as folder, counted(build, folder, cycles=False) as link, \
            Telemetry(link.a) as of_a:
        expect(of_a.ask("/ndd/shards") == [0], "shards")
        expect(of_a.ask("/ndd/ports") == ["net_memif0"], "ports")
        commands = ("/ndd/shard,0", "/ndd/port,0", "/ndd/control")
        before = {c: of_a.ask(c) for c in commands}
        with Transfer(link):
            expect(of_a.ask("/ndd/control")["sessions"] == 1, "sessions")
            expect(not any(of_a.ask("/ndd/control")["refused"].values()), "refusals")
        after = {c: of_a.ask(c) for c in commands}
        monotonic(before, after, ("//ndd/shard,0/in_use", "//ndd/control/sessions"))
        shard = after["/ndd/shard,0"]
        expect(shard["engine"]["rx_packets"] > 0 and shard["frames"]["rx_frames"] > 0, shard)
        expect(shard["cpu"] == cpus(2)[0], "cpu", shard["cpu"])
        expect(after["/ndd/port,0"]["rx_packets"] > 0 and after["/ndd/port,0"]["adapter"] == 1, after["/ndd/port,0"])
        logged = link.a.counters()
        for name in ("qps", *shard["engine"], *shard["frames"]):
            value = re.search(rf"shard 0 (?:engine|frames|in use):.* {name}=(\d+)", logged)
            told = {**shard["engine"], **shard["frames"], "qps": 0}[name]
            expect(not value or int(value.group(1)) >= told, name, value, told)


def crowded(build):
    """An lcore that shares its CPU with another program says so, and the control thread rests for it."""
    with sandbox.scratch("ndd-e2e-") as folder, counted(build, folder, cycles=False) as link, \
            Telemetry(link.a) as of_a, \
            Process("taskset", "--cpu-list", cpus(2)[0], "sh", "-c", "while :; do :; done", name="spinner"):
        def both_are_counted():
            with Transfer(link):
                pass
            return of_a.ask("/ndd/shard,0")["frames"]["crowded"] > 0 and of_a.ask("/ndd/control")["rests"] > 0

        until(both_are_counted, "crowded and rests", timeout=60)


def wrong_questions(build):
    """They get an answer that says what is wrong, and the daemon goes on."""
    with sandbox.scratch("ndd-e2e-") as folder, counted(build, folder, cycles=False) as link, \
            Telemetry(link.a) as of_a:
        for command in ("/ndd/cycles", "/ndd/cycles,1", "/ndd/cycles,-1", "/ndd/cycles,0x0", "/ndd/cycles,0,0",
                        "/ndd/cycles,18446744073709551616", "/ndd/shard,a", "/ndd/port,8", "/ndd/port," + "9" * 300):
            answer = of_a.ask(command)
            expect("error" in answer and "there are 1" in answer["error"], command, answer)
        answer = of_a.ask("/ndd/cycles,0")
        expect("telemetry.cycles" in answer.get("error", ""), "cycles that nobody counts:", answer)
        expect("engine" in of_a.ask("/ndd/shard,0"), "it does not go on")


def table(build):
    """devtools/cycles prints it for every shard."""
    with sandbox.scratch("ndd-e2e-") as folder, counted(build, folder) as link:
        with Transfer(link):
            text = run(PRINTER, "--socket", socket_path(link.b), "--seconds", 0.5).stdout
        for word in ("shard 0: ", "requester", "cycles each"):
            expect(word in text, "no", repr(word), "in\n" + text)


def off(build):
    """By itself the daemon opens nothing and counts nothing."""
    with sandbox.scratch("ndd-e2e-") as folder, Memif(build, folder) as link:
        expect(socket_path(link.a) is None, "a socket is announced")
        expect(not glob.glob(folder + "/**/dpdk_telemetry*", recursive=True), "a socket is there")
        expect(" cycles:" not in link.a.counters(), "cycles are counted")


def a_strangers_folder(build):
    """A socket that others could reach is none."""
    with sandbox.scratch("ndd-e2e-") as folder:
        daemon = counted(build, folder).a
        prefix = os.path.join(folder, "dpdk", daemon.config["eal"]["file_prefix"])
        os.makedirs(prefix)
        os.chmod(prefix, 0o755)
        with open(daemon.config_path, "w") as f:
            json.dump(daemon.config, f)
        with Process(build.daemon, "--config", daemon.config_path, name="daemon",
                     env={**os.environ, "RUNTIME_DIRECTORY": folder, "XDG_RUNTIME_DIR": folder}) as p:
            until(lambda: not p.running(), "the daemon's end")
            expect(p.wait() != 0 and "this user alone" in p.text, "started, or says nothing:", p.text)


def lone_cases(build):
    yield "cycles of a transfer", lambda: cycles_of_a_transfer(build)
    yield "counters", lambda: counters(build)
    yield "crowded", lambda: crowded(build)
    yield "wrong questions", lambda: wrong_questions(build)
    yield "table", lambda: table(build)
    yield "off", lambda: off(build)
    yield "a folder that others read", lambda: a_strangers_folder(build)
