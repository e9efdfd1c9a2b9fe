# SPDX-License-Identifier: BSD-3-Clause
"""A sender that uses a peer's address, and knows all numbers of a connection but the peer's UDP source port."""

import signal
import time

import frames
from congestion_cases import counters
from relay import Relayed
from sandbox import Failure, scratch, until

SEND_ONLY = 0x04
QUIET_S = 0.3


class Witness:
    """What the last SEND (IPv4) to a MAC was: UDP source port, queue pair number, PSN."""

    def __init__(self, mac):
        self.mac, self.frames, self.last = mac, 0, None

    def __call__(self, frame):
        self.frames += 1
        if frame.startswith(self.mac) and (words := frames.roce_words(frame)) and words[1] == SEND_ONLY:
            port, _, qpn, psn = words
            self.last = port, qpn, psn
        return frame

    def is_quiet(self):
        before = self.frames
        time.sleep(QUIET_S)
        return self.frames == before


def forged(link, witness, source_port):
    """What ends a connection if it is taken: the request that is expected now, with a key that there is not."""
    _, qpn, psn = witness.last
    write = frames.write_without_key(qpn, psn + 1)
    return witness.mac + bytes.fromhex("020000007799") + frames.roce(
        link.b.addresses[0], link.a.addresses[0], write, source_port=source_port)


def paused(client, witness):
    client.kill(signal.SIGSTOP)
    until(witness.is_quiet, "the client rests")


def judge_ignored(link, witness, client):
    """From another port: all that changes is a counter."""
    before, own = counters(link.a), witness.last[0]
    for other in (own ^ 1, own ^ 0x3FFF, 0, 4791):
        link.relay.ends[0].send(forged(link, witness, other))
    until(lambda: counters(link.a)["rx_wrong_source_port"] == before["rx_wrong_source_port"] + 4, "four counted")
    after = counters(link.a)
    changed = {name: (before[name], after[name]) for name in after if after[name] != before[name]}
    if changed.keys() != {"rx_packets", "rx_bytes", "rx_wrong_source_port"}:
        raise Failure(f"a forged packet changed (before, after): {changed}")
    client.kill(signal.SIGCONT)
    requests = link.a.requests()
    until(lambda: link.a.requests() > requests + 20, "pings go on")


# checks W-PKT-06[3,5]
def from_another_port(build, networked):
    """It changes nothing. From the peer's own port it ends the connection, so nothing else was wrong with it."""
    with scratch("ndd-e2e-") as folder:
        witness = Witness(bytes.fromhex("020000007701"))
        link = Relayed(build, folder, lambda frame: False, networked, witness)
        for daemon in (link.a, link.b):
            daemon.config["ports"][0]["check_source_port"] = True
        with link, link.a.ping_server("-a", link.a.addresses[0]), \
                link.b.popen(build.nddping, "-c", "-a", link.a.addresses[0]) as client:
            until(lambda: link.a.requests() > 20, "pings")
            paused(client, witness)
            judge_ignored(link, witness, client)
            paused(client, witness)
            link.relay.ends[0].send(forged(link, witness, witness.last[0]))
            until(lambda: counters(link.a)["tx_nak_fatal"], "the connection ends")
            client.kill(signal.SIGCONT)
            if client.wait() != 4:
                raise Failure(f"the client of a dead connection: exit {client.wait()}\n{client.text}")
            for daemon in (link.a, link.b):
                if counters(daemon)["rx_wrong_source_port"] != (4 if daemon is link.a else 0):
                    raise Failure(f"daemon {daemon.name}: {counters(daemon)}")


def lone_cases(build, networked):
    yield "forged source port", lambda: from_another_port(build, networked)
