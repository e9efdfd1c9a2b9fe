# SPDX-License-Identifier: BSD-3-Clause
"""ndd-verbs --sysfs: the daemon's counters in the files in which the kernel has those of RDMA devices."""

import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import threading
import urllib.request

from cases import Skip, cpus
from daemon import Daemon, memif
from links import Memif
from sandbox import Failure, Process, run, until
from telemetry_cases import Telemetry, socket_path
from verbs import PORT, both, under
from wrapper_cases import want

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../doc/verbs.md")
EXPORTER = "prometheus-node-exporter"
# Without capabilities, so that modes of files count for root, too.
PLAIN = ("unshare", "--user", "--map-root-user", "setpriv", "--inh-caps=-all", "--bounding-set=-all")


class Counted(Memif):
    name = "sysfs"

    def __init__(self, build, folder, **more):
        super().__init__(build, folder, telemetry={"socket": True, "cycles": False}, **more)

    def __enter__(self):
        """With all the devices that there will be: those of link-local addresses come last, and with them a new tree."""
        super().__enter__()
        try:
            for daemon in self.a, self.b:
                until(lambda d=daemon: "fe80:" in run(*command(d), "--check").stdout, "a link-local address")
        except Failure:
            self.__exit__()
            raise
        return self


class Export:
    """with Export(link.a, folder) as e: ... the tree is there, and e.process keeps it."""

    def __init__(self, daemon, *options, before=()):
        self.folder = os.path.join(os.path.dirname(daemon.socket_path), "sys")
        self.process = Process(*before, *command(daemon), "--sysfs", self.folder, "--interval", 0.1, *options, name="--sysfs")

    def path(self, *names):
        return os.path.join(self.folder, "class/infiniband", *names)

    def read(self, *names):
        """Its line; None: there is no such file."""
        try:
            with open(self.path(*names)) as f:
                return f.read().removesuffix("\n")
        except FileNotFoundError:
            return None

    def number(self, *names):
        """Of such a file; -1: there is none now."""
        line = self.read(*names)
        return -1 if line is None else int(line)

    def devices(self):
        try:
            return sorted(os.listdir(self.path()))
        except FileNotFoundError:
            return []

    def await_devices(self):
        until(lambda: self.devices() or not self.process.running(), "devices")
        if not self.process.running():
            raise Failure(self.process.text)

    def __enter__(self):
        try:
            self.await_devices()
        except Failure:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def command(daemon):
    return daemon.build.ndd_verbs, "--socket", daemon.socket_path


def documented():
    """The page's table: file, the daemon's counters, where these are, unit."""
    with open(PAGE) as f:
        rows = re.findall(r"^\| `((?:hw_)?counters/\w+)` \| (port|engine): (.*?) \| (4 bytes|\w+) \|", f.read(), re.M)
    return [(file, source, re.findall(r"`(\w+)`", names), 4 if unit == "4 bytes" else 1)
            for file, source, names, unit in rows]


def wanted(telemetry, port=0, engine=True):
    """Counters of the first device of a port, as the page and telemetry say; the engine's are in ndd0 alone."""
    shards = [telemetry.ask(f"/ndd/shard,{n}")["engine"] for n in telemetry.ask("/ndd/shards") if engine]
    sources = {"port": telemetry.ask(f"/ndd/port,{port}"),
               "engine": {name: sum(shard[name] for shard in shards) for name in (shards or [{}])[0]}}
    files = {}
    for file, source, names, unit in documented():
        counted = [sources[source][name] for name in names if name in sources[source]]
        if counted:
            files[file] = sum(counted) // unit
    return files


def shown(export, device):
    files = {}
    for folder in ("counters", "hw_counters"):
        try:
            names = os.listdir(export.path(device, "ports/1", folder))
        except FileNotFoundError:
            names = ()
        for name in names:
            files[f"{folder}/{name}"] = export.number(device, "ports/1", folder, name)
    return files


def transfer(link, messages):
    for status, text in both(link, "ib_send_bw", "-d", "ndd0", "-n", str(messages), "-s", "4096"):
        if status:
            raise Failure(text)


def same_figures(link):
    """After a transfer, at rest: each counter that the page lists, in its unit, and no other."""
    with Export(link.a) as e, Telemetry(link.a) as t:
        transfer(link, 1000)
        until(lambda: shown(e, "ndd0") == wanted(t), "the same figures")
        figures = shown(e, "ndd0")
        if figures["counters/port_rcv_data"] < 1000 * 4096 / 4 or figures["hw_counters/rdma_recvs"] < 1000:
            raise Failure(f"too little: {figures}")
        if figures["counters/port_rcv_data"] * 4 > t.ask("/ndd/port,0")["rx_bytes"]:
            raise Failure(f"not words: {figures}")
        for other in e.devices()[1:]:
            if shown(e, other) or not os.path.isdir(e.path(other, "ports/1/counters")):
                raise Failure(f"{other} of the same port counts, too, or has no folder: {shown(e, other)}")
    with Export(link.b) as e, Telemetry(link.b) as t:  # of two daemons in one folder, the one that was named
        until(lambda: shown(e, "ndd0") == wanted(t), "the other daemon's figures")


def exporters_form(link):
    """What readers of /sys insist on: each entry is a device, which has all of this in this form."""
    forms = {"fw_ver": r"\S+", "board_id": r"\S+", "hca_type": r"\S+", "node_guid": r"[0-9a-f]{4}(:[0-9a-f]{4}){3}",
             "ports/1/state": r"\d: [A-Z]+", "ports/1/phys_state": r"\d: \w+",
             "ports/1/rate": r"\d+(\.\d+)? Gb/sec \(\d+X \w+\)", "ports/1/link_layer": "Ethernet", "ports/1/lid": "0x0"}
    with Export(link.a) as e:
        def as_ibv_devices():
            said = run(*under(link.a, "ibv_devices")).stdout
            return re.findall(r"^\s+(ndd\d+)\s+([0-9a-f]{16})$", said, re.M) == [
                (device, (e.read(device, "node_guid") or "").replace(":", "")) for device in e.devices()]

        until(as_ibv_devices, "the devices of ibv_devices")  # addresses may come when the link does
        for device in e.devices():
            for file, form in forms.items():
                if not re.fullmatch(form, e.read(device, file) or ""):
                    raise Failure(f"{device}/{file}: {e.read(device, file)!r}")


def node_exporter(link):
    """The one that Debian has reads it, and multiplies words by 4."""
    if not shutil.which(EXPORTER):
        raise Skip("no-node-exporter")
    address = f"127.0.0.1:{PORT + 1}"
    with Export(link.a) as e, Telemetry(link.a) as t, \
            Process(EXPORTER, f"--path.sysfs={e.folder}", "--collector.disable-defaults", "--collector.infiniband",
                    f"--web.listen-address={address}") as exporter:
        exporter.expect("Listening on")

        def figures():
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as page:
                return dict(re.findall(r'^node_(\w+)\{\w+="(?:ndd0|infiniband)"(?:,port="1")?\} (\S+)$',
                                       page.read().decode(), re.M))

        def agrees():
            port, got = t.ask("/ndd/port,0"), figures()
            return (got.get("scrape_collector_success") == "1" and got.get("infiniband_state_id") == "4"
                    and float(got["infiniband_rate_bytes_per_second"]) == 25e9 / 8
                    and float(got["infiniband_port_data_received_bytes_total"]) == port["rx_bytes"] // 4 * 4
                    and float(got["infiniband_port_packets_transmitted_total"]) == port["tx_packets"])

        until(agrees, "node_exporter's figures")


def link_goes_down(link):
    with Export(link.a) as e:
        state = lambda: (e.read("ndd0", "ports/1/state"), e.read("ndd0", "ports/1/phys_state"))  # noqa: E731
        before = e.number("ndd0", "ports/1/counters/link_downed")
        link.b.process.stop()
        until(lambda: state() == ("1: DOWN", "3: Disabled"), "the link is down")
        until(lambda: e.number("ndd0", "ports/1/counters/link_downed") == before + 1, "it is counted")
        link.b.start()
        until(lambda: state() == ("4: ACTIVE", "5: LinkUp"), "the link is up")


def daemon_restarts(link):
    """Without it there is no device; then all begins at 0, and nothing was to be done."""
    with Export(link.a) as e:
        transfer(link, 10)
        until(lambda: e.number("ndd0", "ports/1/hw_counters/rcvd_pkts") > 0, "packets")
        link.a.process.stop(signal.SIGKILL)
        until(lambda: not e.devices(), "no devices")
        e.process.expect("no devices, until the daemon is back")
        link.a.start()
        e.await_devices()
        until(lambda: e.number("ndd0", "ports/1/hw_counters/rcvd_pkts") == 0, "counters of this daemon alone")


def daemon_hangs(link):
    """It is not waited for without end, and what it said before is not shown any more."""
    with Export(link.a) as e:
        link.a.process.kill(signal.SIGSTOP)
        try:
            until(lambda: not e.devices(), "no devices")
            e.process.expect("does not answer")
        finally:
            link.a.process.kill(signal.SIGCONT)
        e.await_devices()


def ends(link):
    """By each signal, and what it made is gone; a folder that was there stays."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with Export(link.a) as e:
            status = e.process.stop(number)
            if status != 0 or os.path.exists(e.folder):
                raise Failure(f"{number}: exit {status}\n{e.process.text}")
    os.mkdir(e.folder)
    with Export(link.a) as e:
        e.process.stop()
        if os.listdir(e.folder):
            raise Failure(f"left: {os.listdir(e.folder)}")


def closed_to_others(link):
    """A folder that it makes lets no other user in: what all clients do together is in there."""
    with Export(link.a) as e:
        if os.stat(e.folder).st_mode & 0o7 or not os.stat(e.path("ndd0")).st_mode & 0o5:
            raise Failure("modes of the folders")


def refused(link, folder, *texts, before=(), options=()):
    want(run(*before, *command(link.a), "--sysfs", folder, *options, check=False), 2, *texts)


def foreign_folder(link):
    """Nothing is overwritten, or followed."""
    folder = os.path.join(link.folder, "foreign")
    os.makedirs(os.path.join(folder, "class"))
    refused(link, folder, "is not empty (class is in it)")
    os.symlink("foreign", folder + "-link")
    refused(link, folder + "-link", "is a symbolic link")
    if os.listdir(folder) != ["class"] or os.listdir(os.path.join(folder, "class")):
        raise Failure("it was changed")
    refused(link, os.path.join(folder, "no/such"), "No such file")
    refused(link, link.a.config_path, "Not a directory")
    os.rmdir(os.path.join(folder, "class"))
    os.chmod(folder, 0o555)
    refused(link, folder, "Permission denied", before=PLAIN)
    os.remove(folder + "-link")
    os.rmdir(folder)


def foreign_inside(link):
    """What others put into the tree meanwhile stays, and a link is replaced, not followed."""
    with Export(link.a) as e:
        mine = os.path.join(link.folder, "mine")
        with open(mine, "w") as f:
            f.write("mine")
        counter = e.path("ndd0/ports/1/hw_counters/rcvd_pkts")
        os.remove(counter)
        os.symlink(mine, counter)
        with open(e.path("ndd0/ports/1/note"), "w") as f:
            f.write("mine")
        transfer(link, 10)
        until(lambda: not os.path.islink(counter), "the link is replaced")
        status = e.process.stop()
        left = [os.path.join(at, name) for at, _, names in os.walk(e.folder) for name in names]
        if status != 2 or len(left) != 1 or not left[0].endswith("/ndd0/ports/1/note"):
            raise Failure(f"exit {status}, left: {left}\n{e.process.text}")
        with open(mine) as f:
            if f.read() != "mine":
                raise Failure("the link was followed")
        os.remove(mine)


def folder_in_the_way(link):
    """A link that takes the place of a folder of the tree leads nowhere: it ends, and says so."""
    with Export(link.a) as e:
        other = os.path.join(link.folder, "other")
        os.mkdir(other)
        counters = e.path("ndd0/ports/1/hw_counters")
        os.rename(counters, counters + "-away")
        os.symlink(other, counters)
        transfer(link, 10)
        if e.process.wait() != 2 or "hw_counters" not in e.process.text or os.listdir(other):
            raise Failure(f"{os.listdir(other)}\n{e.process.text}")
        os.rmdir(other)


def not_permitted(link):
    folder = os.path.join(link.folder, "none")
    within = os.path.dirname(socket_path(link.a))
    os.chmod(within, 0)
    try:
        refused(link, folder, "Permission denied", "only its own user and root", before=PLAIN)
        refused(link, folder, "Permission denied", "only the daemon's own user", before=PLAIN,
                options=("--telemetry", socket_path(link.a)))
    finally:
        os.chmod(within, 0o700)
    refused(link, folder, "is another daemon's", options=("--telemetry", socket_path(link.b)))
    if os.path.exists(folder):
        raise Failure("the folder was left")


class Connections:
    """with Connections(link.a, 10): as many are served. Those of before end a moment later than they are closed."""

    def __init__(self, daemon, number):
        self.daemon, self.number, self.served = daemon, number, []

    def one_more(self):
        one = Telemetry(self.daemon)
        try:
            one.ask("/ndd/ports")
            self.served.append(one)
        except (OSError, ValueError):  # closed at once
            one.socket.close()
        return len(self.served) == self.number

    def __enter__(self):
        until(self.one_more, f"{self.number} connections")

    def __exit__(self, *_):
        for one in self.served:
            one.socket.close()


def many_ask(link):
    """DPDK serves ten; one more is told so."""
    with Connections(link.a, 10):
        refused(link, os.path.join(link.folder, "none"), "serves ten others")
    with Connections(link.a, 5):  # there is room again for the cases behind this one
        pass


def other_namespace(link):
    """Where the daemon's process is not seen, the socket has to be named."""
    before = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child=TERM")
    refused(link, os.path.join(link.folder, "none"), "another PID namespace", before=before)
    with Export(link.a, "--telemetry", socket_path(link.a), before=before) as e, Telemetry(link.a) as t:
        until(lambda: shown(e, "ndd0") == wanted(t), "the same figures")
        e.process.kill()  # unshare: what it runs gets SIGTERM
        until(lambda: not os.path.exists(e.folder), "the end")


def wrong_options(link):
    for options, text in ((("--sysfs", "x", "true"), "runs no program"), (("--sysfs", "x", "--check"), "runs no"),
                          (("--interval", "1", "true"), "are of --sysfs"),
                          (("--sysfs", "x", "--interval", "0"), "0.1 to 3600")):
        want(run(*command(link.a), *options, check=False), 1, text)


def cases(link):
    yield "figures", lambda: same_figures(link)
    yield "form", lambda: exporters_form(link)
    yield "node_exporter", lambda: node_exporter(link)
    yield "link down", lambda: link_goes_down(link)
    yield "daemon hangs", lambda: daemon_hangs(link)
    yield "ends", lambda: ends(link)
    yield "closed to others", lambda: closed_to_others(link)
    yield "foreign folder", lambda: foreign_folder(link)
    yield "foreign inside", lambda: foreign_inside(link)
    yield "folder in the way", lambda: folder_in_the_way(link)
    yield "not permitted", lambda: not_permitted(link)
    yield "many ask", lambda: many_ask(link)
    yield "other namespace", lambda: other_namespace(link)
    yield "wrong options", lambda: wrong_options(link)
    yield "daemon restarts", lambda: daemon_restarts(link)


# ---- no daemon, or one without telemetry ---------------------------------------------------------

def without_telemetry(link):
    folder = os.path.join(link.folder, "none")
    refused(link, folder, '"telemetry": {"socket": true}')
    if os.path.exists(folder):
        raise Failure("the folder was left")


def no_daemon(build, folder):
    path = os.path.join(folder, "none.sock")
    want(run(build.ndd_verbs, "--socket", path, "--sysfs", os.path.join(folder, "sys"), check=False), 2,
         f"no daemon at {path}")
    if os.path.exists(os.path.join(folder, "sys")):
        raise Failure("the folder was left")


def two_ports(build, folder):
    """Each port's counters are in its first device, and all shards' in ndd0."""
    os.mkdir(os.path.join(folder, "1"))
    a = Daemon(build, folder, "a", 0, memif("server", folder), ["192.0.2.1/24"], telemetry={"socket": True})
    b = Daemon(build, folder, "b", 1, memif("client", folder + "/1"), ["198.51.100.2/24"])
    a.config["lcores"] = cpus(2)
    a.config["eal"]["vdevs"].append(memif("server", folder + "/1").replace("net_memif0", "net_memif1"))
    a.config["ports"].append({"device": "net_memif1", "addresses": ["198.51.100.1/24"], "dad": "off",
                              "mac": "02:00:00:00:77:11"})
    with a, b, Export(a) as e, Telemetry(a) as t:
        e.process.expect("\n")
        of = re.findall(r"(ndd\d+) ([0-9a-f:.]+)", e.process.text)
        number = {address: device for device, address in of}
        at = [number["192.0.2.1"], number["198.51.100.1"]]
        if at[0] != "ndd0" or len(of) < 4:
            raise Failure(f"{of}")
        with a.ping_server("-a", "198.51.100.1"):
            b.ping("-a", "198.51.100.1", "-C", 3)
        until(lambda: [shown(e, device) for device in at] == [wanted(t), wanted(t, 1, False)], "figures")
        until(lambda: [e.read(device, "ports/1/state") for device in at] == ["1: DOWN", "4: ACTIVE"], "states")
        if shown(e, at[1])["counters/port_rcv_packets"] == 0 or shown(e, "ndd0")["hw_counters/rcvd_pkts"] == 0:
            raise Failure("nothing was counted")
        if any(shown(e, device) for device, _ in of if device not in at):
            raise Failure("a port is counted twice")
        # The last of a list stays the last of it when it moves.
        for port, state in ((1, "4: ACTIVE"), (0, "1: DOWN")):
            give_address(a, port, "203.0.113.1/24")
            until(lambda now=state: state_of(e, "203.0.113.1") == now, f"it is of port {port}")


def give_address(daemon, port, address):
    """To that port, and to no other."""
    for n, of in enumerate(daemon.config["ports"]):
        of["addresses"] = [a for a in of["addresses"] if a != address] + [address] * (n == port)
    with open(daemon.config_path, "w") as f:
        json.dump(daemon.config, f)
    daemon.news()
    daemon.process.kill(signal.SIGHUP)
    until(lambda: "reload: " in daemon.process.text[daemon.told:], "a reload")


def state_of(export, address):
    """Of the port of the device that has the IPv4 address; None: there is none."""
    gid = ipaddress.ip_address("::ffff:" + address).exploded
    return next((export.read(device, "ports/1/state") for device in export.devices()
                 if export.read(device, "ports/1/gids/0") == gid), None)


def serve(folder, name, messages):
    """A socket that says this to the first that connects, whatever it is asked, and then waits."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(os.path.join(folder, name))
    s.listen()

    def answer():
        peer, _ = s.accept()
        with peer:
            for message in messages:
                peer.send(message)
            while peer.recv(4096):
                pass

    threading.Thread(target=answer, daemon=True).start()
    return s


def strange_telemetry(build, folder):
    """What answers is none of a daemon's: refused in words, whatever it is."""
    greeting = b'{"version": "x", "pid": 1, "max_output_len": 16384}'
    ports, shards = (json.dumps({f"/ndd/{what}": [0]}).encode() for what in ("ports", "shards"))
    for number, (messages, text) in enumerate((
            ((b"x" * 64,), "none of DPDK's"), ((b"[" * 60000,), "none of DPDK's"), ((b"[1]",), "none of DPDK's"),
            ((b'{"a": "' + b"x" * 70000 + b'"}',), "none of DPDK's"), ((greeting, b"{}"), "one build"),
            ((greeting, b'{"/ndd/ports": []}'), "one build"),
            ((greeting, b'{"/ndd/ports": ' + str(list(range(2000))).encode() + b"}"), "one build"),
            ((greeting, ports, shards, b'{"/ndd/port": {"adapter": -1, "link_up": 1}}'), "one build"),
            ((greeting, ports, shards, b'{"/ndd/port": {"adapter": 99999999999999999999}}'), "none of DPDK's"),
            ((greeting, ports), "does not answer"))):
        control, telemetry = f"{number}.sock", f"{number}.telemetry"
        with serve(folder, control, ()), serve(folder, telemetry, messages):
            want(run(build.ndd_verbs, "--socket", os.path.join(folder, control), "--sysfs",
                     os.path.join(folder, "sys"), "--telemetry", os.path.join(folder, telemetry), check=False), 2, text)


def lone_cases(build, folder):
    yield "sysfs no daemon", lambda: no_daemon(build, folder)
    yield "sysfs two ports", lambda: two_ports(build, folder)
    yield "sysfs strange telemetry", lambda: strange_telemetry(build, folder)
