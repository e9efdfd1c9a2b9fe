# SPDX-License-Identifier: BSD-3-Clause
"""What changes while daemons run: addresses, routes and links that come and go, and which clients are told."""

import json
import os
import re
import signal
import socket
import threading

import sandbox
from capture import Capture, icrc
from cases import Skip
from daemon import Daemon, af_packet
from links import Memif, Veth
from path_cases import FAR, VLAN, VLAN_ADDRESSES
from sandbox import Failure, scratch, until
from station import EVERYBODY, REPLY, REQUEST, Station, arp
from transfer_cases import perf


# ---- what clients are told -----------------------------------------------------------------------

class Watched:
    """A client at an address of the daemon that says what it is told: link, addresses, the end."""

    def __init__(self, daemon, address):
        self.process = daemon.popen(daemon.build.ndtest, "events-watched", daemon.socket_path, address,
                                    daemon.socket_path, address)
        self.story = []

    def hears(self, *what):
        """What it is told next is this, and was nothing else before."""
        self.story += [f"told: {event}" for event in what]
        until(lambda: len(self.lines()) >= len(self.story) or not self.process.running(), f"told {what}")
        if self.lines() != self.story:
            raise Failure(f"told: {self.process.text}\nwanted: {self.story}")

    def lines(self):
        return [line for line in self.process.text.splitlines() if line.startswith("told: ")]

    def __enter__(self):
        self.process.expect("watching")
        return self

    def __exit__(self, *_):
        self.process.stop(signal.SIGKILL)


def addresses_told(build):
    """Clients of a port are told when addresses of it come or go, and of nothing else."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        with link:
            link.a.process.expect("link up")
            with Watched(link.a, "192.0.2.1") as watched:
                change_addresses(link.a, watched)


def change_addresses(daemon, watched):
    port = daemon.config["ports"][0]
    port["addresses"].append("192.0.2.8/24")
    rewrite(daemon)
    watched.hears("addresses")
    rewrite(daemon)
    port["routes"] = [{"to": "203.0.113.0/24", "via": "192.0.2.2"}]
    rewrite(daemon)
    port["addresses"].remove("192.0.2.8/24")
    port["vlans"] = [{"id": VLAN, "addresses": VLAN_ADDRESSES["a"]}]
    rewrite(daemon)
    watched.hears("addresses")
    port["addresses"].remove("192.0.2.1/24")  # its own
    port["routes"] = []
    rewrite(daemon)
    watched.hears("addresses")
    del port["vlans"]
    rewrite(daemon)
    watched.hears("addresses")
    daemon.process.stop()
    watched.hears("removed")
    if watched.process.wait():
        raise Failure(watched.process.text)


# ---- duplicate addresses -------------------------------------------------------------------------

MINE, TAKEN = "192.0.2.3", "192.0.2.1"


def is_arp(frame, mac, sender, target):
    return frame[6:12] == mac and frame[12:14] == b"\x08\x06" and \
        frame[28:32] == socket.inet_aton(sender) and frame[38:42] == socket.inet_aton(target)


class Owner:
    """A station that has an address, and answers for it until the end of the block."""

    def __init__(self, station, address):
        self.station, self.address, self.over = station, address, threading.Event()
        self.thread = threading.Thread(target=self._serve)

    def _serve(self):
        asked = socket.inet_aton(self.address)
        while not self.over.is_set():
            frame = self.station.hears(lambda f: f[12:14] == b"\x08\x06" and f[38:42] == asked, 0.1)
            if frame:
                self.station.send(arp(REPLY, self.station.mac, self.address, "0.0.0.0", frame[6:12]),
                                  frame[6:12])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def serves_at(daemon, address):
    with daemon.popen(daemon.build.nddping, "-s", "-a", address) as server:
        try:
            server.expect("listening", timeout=2)
        except Failure:
            if "ND_INVALID_ADDRESS" not in server.text:
                raise
            return False
        return True


def taken_address(daemon, station):
    """The log says which station has it, and it is not used; the daemon's other address is, and is announced.
    Once it is free, and the operator says so, it is used, and clients are told."""
    mac = bytes.fromhex("020000007701")
    whose = f"{TAKEN} is the address of 02:00:00:00:77:99"
    with Owner(station, TAKEN):
        daemon.start()
    if whose not in daemon.process.text:
        raise Failure(f"nothing was said of {TAKEN}\n{daemon.process.text}")
    if serves_at(daemon, TAKEN):
        raise Failure(f"{TAKEN} is used, though another station has it")
    if not serves_at(daemon, MINE):
        raise Failure(f"{MINE} is not used")
    if not station.hears(lambda f: is_arp(f, mac, MINE, MINE), 5):
        raise Failure(f"{MINE} was not announced")
    with Watched(daemon, MINE) as watched:
        with Owner(station, TAKEN):
            daemon.process.kill(signal.SIGHUP)
            until(lambda: daemon.process.text.count(whose) == 2, "another try in vain")
        daemon.process.kill(signal.SIGHUP)
        if not station.hears(lambda f: is_arp(f, mac, "0.0.0.0", TAKEN), 5):
            raise Failure("SIGHUP does not try again")
        if not station.hears(lambda f: is_arp(f, mac, TAKEN, TAKEN), 5):
            raise Failure(f"{TAKEN} was not announced when it was free")
        until(lambda: serves_at(daemon, TAKEN), f"{TAKEN} in use")
        # A station that claims it now is answered: it is the daemon's.
        station.hears(lambda f: is_arp(f, mac, TAKEN, TAKEN), 3)
        station.send(arp(REQUEST, station.mac, TAKEN, TAKEN))
        if not station.hears(lambda f: is_arp(f, mac, TAKEN, TAKEN), 5):
            raise Failure("the claim was not answered")
        until(lambda: "02:00:00:00:77:99 claims our address " + TAKEN in daemon.process.text,
              "a word of it")
        daemon.process.stop()
        watched.hears("addresses", "removed")  # nothing of the try in vain, nor of the claim


def duplicates(build, networked):
    if not networked:
        raise Skip("no-network")
    sandbox.bridge("bridge")
    sandbox.veth("veth-a", "veth-a-br", master="bridge")
    try:
        with scratch("ndd-e2e-") as folder, Station("veth-s", "02:00:00:00:77:99") as station:
            daemon = Daemon(build, folder, "a", 0, af_packet("veth-a"), [TAKEN + "/24", MINE + "/24"])
            daemon.config["ports"][0]["dad"] = "quick"
            try:
                taken_address(daemon, station)
            finally:
                if daemon.process:
                    daemon.process.stop()
    finally:
        sandbox.delete_link("veth-a")
        sandbox.delete_link("bridge")


# ---- links and addresses that change ----------------------------------------------------------------

def another_machine(build):
    """The link goes down and comes up with a peer of another MAC: both are told, and it is found at
    once."""
    with scratch("ndd-e2e-") as folder:
        link = Memif(build, folder)
        with link:
            with link.b.ping_server():
                link.a.ping("-a", link.b.addresses[0], "-C", 1)
            link.a.process.expect("link up")
            with Watched(link.a, link.a.addresses[0]) as watched:
                link.b.process.stop()
                link.a.process.expect("link down")
                watched.hears("link down")
                link.b.config["ports"][0]["mac"] = "02:00:00:00:77:42"
                link.b.start()
                until(lambda: link.a.process.text.count("link up") == 2, "link up again")
                watched.hears("link up")
            with link.b.ping_server():
                link.a.ping("-a", link.b.addresses[0], "-C", 1)
            link.a.process.kill(signal.SIGUSR1)
            until(lambda: re.search(r"port net_memif0: links_up=2 links_down=1 ",
                                    link.a.process.text), "links in the counters")
            link.judge()


def counted(daemon, name):
    """A counter of the daemon's port."""
    lines = daemon.process.text.count("sessions: ")
    daemon.process.kill(signal.SIGUSR1)
    until(lambda: daemon.process.text.count("sessions: ") > lines, "counters")
    return int(re.findall(rf"port net_\w+:.* {name}=(\d+)", daemon.process.text)[-1])


def asks_for(frames, mac, address):
    """Was there a question for the address, of mac to that neighbour alone?"""
    return any(frame[6:12] == mac and frame[:6] != EVERYBODY and frame[12:14] == b"\x08\x06"
               and frame[20:22] == b"\0\1" and frame[38:42] == socket.inet_aton(address)
               for frame, _ in icrc.frames(frames))


def unplugged(link):
    """A short while without a cable: it is told and counted, the transfer goes on, the addresses are
    announced and the neighbour is asked again before it is believed."""
    mac = bytes.fromhex("020000007701")
    with Watched(link.a, link.a.addresses[0]) as watched, link.b.popen(link.build.ndperf, "-s") as server, \
            Station("veth-s", "02:00:00:00:77:99") as station:
        server.expect("listening")
        with endless(link, *(d.addresses[0] for d in (link.a, link.b))) as transfer:
            until(lambda: link.a.usage().get("connections") == 2, "transfer under way", every=0.2)
            sandbox.run("ip", "link", "set", "veth-a-br", "down")
            watched.hears("link down")
            with Capture("veth-b-br", os.path.join(link.folder, "asked.pcap"), "arp") as capture:
                sandbox.run("ip", "link", "set", "veth-a-br", "up")
                watched.hears("link up")
                if not station.hears(lambda f: is_arp(f, mac, *2 * link.a.addresses[:1]), 10):
                    raise Failure("the address was not announced")
                until(lambda: asks_for(capture.path, mac, link.b.addresses[0]), "neighbour asked again")
            before = counted(link.a, "rx_packets")
            until(lambda: counted(link.a, "rx_packets") > before + 100, "progress", every=0.2)
            if not transfer.running():
                raise Failure(f"it does not outlive a short while\n{transfer.text}")
            transfer.stop(signal.SIGINT)


def taken_down(link):
    """A link that stays down: transfers end when their retries are used up, and not before. With it up
    again everything works."""
    with Watched(link.a, link.a.addresses[0]) as watched:
        with link.b.popen(link.build.ndperf, "-s") as server:
            server.expect("listening")
            with endless(link, *(d.addresses[0] for d in (link.a, link.b))) as transfer:
                until(lambda: link.a.usage().get("connections") == 2, "transfer under way", every=0.2)
                sandbox.run("ip", "link", "set", "veth-a", "down")
                watched.hears("link down")
                if not transfer.running():
                    raise Failure(f"ended with its link\n{transfer.text}")
                if not transfer.wait(60) or "ND_IO_TIMEOUT" not in transfer.text:
                    raise Failure(f"not told that nobody answers\n{transfer.text}")
        sandbox.run("ip", "link", "set", "veth-a", "up")
        watched.hears("link up")
    perf(link, "-t", "write", "--size", "100K", "-n", 50)


def link_fails(build, networked):
    with scratch("ndd-e2e-") as folder:
        link = Veth(build, folder, networked, rc={"timeout": 18, "retry": 7})  # 8 s and more
        with link:
            until(lambda: "link up" in link.a.process.text, "link up")
            unplugged(link)
            taken_down(link)
            told = [counted(link.a, name) for name in ("links_up", "links_down")]
            if told != [3, 2]:
                raise Failure(f"links_up and links_down are {told}")
            link.judge()


def rewrite(daemon):
    with open(daemon.config_path, "w") as f:
        json.dump(daemon.config, f)
    before = daemon.process.text.count("reload: ")
    daemon.process.kill(signal.SIGHUP)
    until(lambda: daemon.process.text.count("reload: ") > before, "reload")


def endless(link, source, destination):
    return link.a.popen(link.build.ndperf, destination, "--bind", source, "-t", "send", "--size", "64K",
                        "-D", 600)


def changeable(build, folder):
    """A link, and the port of its first daemon, with an address and a route more than it needs."""
    link = Memif(build, folder)
    port = link.a.config["ports"][0]
    port["addresses"] += ["192.0.2.7/24"]
    port["routes"] = [{"to": "203.0.113.0/24", "via": "192.0.2.2"}]
    link.b.config["ports"][0]["addresses"] += [FAR[0] + "/24"]
    return link, port


def reloaded(build):
    """Addresses and routes come and go by SIGHUP: connections that used what has gone
    are ended, and the log says why; the others don't notice."""
    with scratch("ndd-e2e-") as folder:
        link, port = changeable(build, folder)
        with link, link.b.popen(link.build.ndperf, "-s") as server:
            server.expect("listening")
            with endless(link, "192.0.2.1", "192.0.2.2") as stays, \
                    endless(link, "192.0.2.7", "192.0.2.2") as moves, \
                    endless(link, "192.0.2.1", FAR[0]) as routed_one:
                # Of each a control connection and one of data.
                until(lambda: link.a.usage().get("connections") == 6, "six connections", every=0.2)
                port["addresses"].append("not an address")
                rewrite(link.a)
                if "nothing was changed" not in link.a.process.text:
                    raise Failure(f"a mistake in the file is not told\n{link.a.process.text}")
                port["addresses"] = ["192.0.2.1/24", "192.0.2.8/24", "2001:db8::1/64"]
                rewrite(link.a)
                if not moves.wait(20):
                    raise Failure(f"a transfer from an address that has gone succeeds\n{moves.text}")
                link.a.process.expect("of 192.0.2.7 to 192.0.2.2 ends: its address was taken out")
                if not (stays.running() and routed_one.running()):
                    raise Failure(f"a transfer was disturbed\n{stays.text}{routed_one.text}")
                port["routes"] = []
                rewrite(link.a)
                if not routed_one.wait(20):
                    raise Failure(f"a transfer without a route succeeds\n{routed_one.text}")
                link.a.process.expect(f"of 192.0.2.1 to {FAR[0]} ends: its route was taken out")
                with link.b.ping_server():
                    link.a.ping("-a", "192.0.2.2", "-I", "192.0.2.8", "-C", 1)
                if not stays.running():
                    raise Failure(f"the transfer that nothing was taken from ended\n{stays.text}")
                stays.stop(signal.SIGINT)


def datagrams_reloaded(build):
    """Address handles and queue pairs of datagrams end with what they rest on, and begin again."""
    with scratch("ndd-e2e-") as folder:
        link, port = changeable(build, folder)
        with link:
            for name, key, source, to in (("reload-address", "addresses", "192.0.2.7", "192.0.2.2"),
                                          ("reload-route", "routes", "192.0.2.1", FAR[0])):
                with link.a.popen(build.ndtest, name, link.a.socket_path, source,
                                  link.b.socket_path, to) as client:
                    client.expect("ready")
                    taken = port[key].pop()
                    rewrite(link.a)
                    client.expect("gone")
                    port[key].append(taken)
                    rewrite(link.a)
                    if client.wait(60):
                        raise Failure(client.text)
            link.judge()


def lone_cases(build, networked):
    """Cases with daemons of their own, as what they are told changes them."""
    yield "addresses told", lambda: addresses_told(build)
    yield "duplicate address", lambda: duplicates(build, networked)
    yield "another machine behind the link", lambda: another_machine(build)
    yield "a link that fails", lambda: link_fails(build, networked)
    yield "reload", lambda: reloaded(build)
    yield "reload of datagrams", lambda: datagrams_reloaded(build)
