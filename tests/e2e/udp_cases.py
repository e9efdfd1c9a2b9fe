# SPDX-License-Identifier: BSD-3-Clause
"""What a port over the kernel's sockets has beside what every port must carry."""

import contextlib
import os
import re
import signal
import socket

import icrc
import port_cases
import sandbox
import shared_cases
from cases import Skip
from daemon import Daemon
from port_links import Udp, UdpNetwork
from sandbox import Failure
from transfer_cases import perf


def without_v6(link, name, function):
    """What asks for a second address needs the right to make one."""
    if name.endswith("v6") and not link.networked:
        raise Skip("no-network")
    return function()


def runs(link):
    """Neighbours of one length leave and come in together, and no ICRC is wrong."""
    perf(link, "-t", "write", "--size", "64K", "-n", 500, "-d", 16)
    counters = port_counters(link.b)
    if not counters.get("rx_runs"):
        raise Failure(f"no run came: {counters}")
    wrong = {k: n for k, n in counters.items() if k in ("rx_icrc_wrong", "rx_icrc_far", "rx_not_roce", "tx_refused")}
    if wrong:
        raise Failure(f"{wrong}")
    return f"{counters['rx_packets'] / counters['rx_runs']:.0f} packets for each run"


def port_counters(daemon):
    line = re.search(r"port udp:(.*)", daemon.counters())
    return {k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", line.group(1) if line else "")}


def no_groups(link):
    """Sockets that are bound to addresses receive nothing of a group: a client is told, and what to do."""
    done = sandbox.run(link.build.ndtest, "multicast", link.a.socket_path, link.a.addresses[0],
                       link.b.socket_path, link.b.addresses[0], check=False)
    if done.returncode == 0 or "ports[].addresses is left out" not in done.stdout:
        raise Failure(done.stdout)


def connect_fails(daemon, address, status, words):
    """And as the network says, not as the time-out of a peer that is silent."""
    done = daemon.ping("-a", address, "-C", 1, check=False)
    if done.returncode != 3 or status not in done.stdout or words not in done.stdout:
        raise Failure(f"exit {done.returncode}, no {status}: {done.stdout}")


def connect_refused(daemon, address):
    connect_fails(daemon, address, "ND_CONNECTION_REFUSED", "takes no RoCEv2")


def dead_address(link):
    """One of this machine's at which nobody has the port."""
    return link.a.addresses[0].rsplit(".", 1)[0] + ".9"


def nobody_there(link):
    connect_refused(link.a, dead_address(link))
    if link.networked:
        sandbox.run("ip", "address", "add", "2001:db8::9", "dev", "lo", "nodad")
        try:
            connect_refused(link.a, "2001:db8::9")
        finally:
            sandbox.run("ip", "address", "del", "2001:db8::9", "dev", "lo")


def refusals_beside(link):
    """While others are told all the time that nobody is there, connections are made and used by the same sockets, and
    no packet of theirs is refused."""
    def count(name):
        return port_counters(link.a).get(name, 0)

    loop = f"while :; do {link.build.nddping} -c -a {dead_address(link)} -C 1; done"
    refused, enough = count("tx_refused"), count("rx_icmp_unreachable") + 100
    with contextlib.ExitStack() as clients:
        for _ in range(8):
            clients.enter_context(link.a.popen("sh", "-c", loop))
        while count("rx_icmp_unreachable") < enough:
            port_cases.pings(link.a, link.b)
            perf(link, "-t", "write", "--size", "64K", "-n", 100, "-d", 16)
    if count("tx_refused") != refused:
        raise Failure(f"{count('tx_refused') - refused} packets were refused")


def cases(link):
    for name, function in port_cases.cases(link):
        yield name, lambda n=name, f=function: without_v6(link, n, f)
    yield "runs of segments", lambda: runs(link)
    yield "no groups", lambda: no_groups(link)
    yield "nobody there", lambda: nobody_there(link)
    yield "refusals beside", lambda: refusals_beside(link)


# ---- between two networks ----------------------------------------------------------------------------

def link_local(link, name):
    """The address that the kernel made for the interface of daemon a or b."""
    command = ("ip", "-o", "-6", "address", "show", "dev", "veth-" + name, "scope", "link")
    return re.search(r"inet6 (\S+)/", sandbox.run(*(command if name == "a" else link.other(*command))).stdout).group(1)


def link_locals(link):
    """Connections and datagrams between addresses that are of one interface, which has to be told the kernel."""
    a, b = (link_local(link, name) for name in "ab")
    for daemon, ip in ((link.a, a), (link.b, b)):  # the kernel asks for a second or two whether it is another's
        sandbox.until(lambda d=daemon, i=ip: f"port udp: {i}/" in d.process.text, f"{ip} of daemon {daemon.name}")
    with link.b.ping_server("-a", b):
        link.a.ping("-a", b, "-C", 3)
    with link.a.ping_server("-a", a):
        link.b.ping("-a", a, "-C", 3)
    sandbox.run(link.build.ndtest, "datagrams", link.a.socket_path, a, link.b.socket_path, b, timeout=60)


def set_mtu(link, mtu, path_mtu):
    """Both interfaces have it from now on, and both daemons know."""
    for name, daemon in (("a", link.a), ("b", link.b)):
        begin = len(daemon.process.text)
        command = ("ip", "link", "set", "veth-" + name, "mtu", mtu)
        sandbox.run(*(command if name == "a" else link.other(*command)))
        sandbox.until(lambda d=daemon, n=begin: f"MTU {mtu}, path MTU {path_mtu} from now on" in d.process.text[n:],
                      f"{mtu} in daemon {name}")


def mtu_changes(link):
    """Connections from then on have the path MTU that fits."""
    def write():
        perf(link, "-t", "write", "--size", "64K", "-n", 100)

    def largest():
        return max(len(frame) for frame, _ in icrc.frames(link.capture_path()))

    before = link.cable_mtu
    link.captured(write)
    whole = largest()
    set_mtu(link, 1500, 1024)
    link.captured(write)
    if not 1024 < largest() <= 1514 < whole:
        raise Failure(f"frames of {largest()} bytes, and of {whole} before")
    set_mtu(link, before, 2048)
    link.captured(write)
    if largest() != whole:
        raise Failure(f"frames of {largest()} bytes, and of {whole} before")


def pinging(link):
    """Pings of several packets each way, one after the other, until the connection ends."""
    return link.a.popen(link.build.nddping, "-c", "-a", link.b.addresses[0], "-S", 8192, "-w", 0)


def pings_on(link, client):
    """A hundred packets more have come back: the one client that is there goes on."""
    def came():
        return port_counters(link.a).get("rx_packets", 0)
    enough = came() + 100
    sandbox.until(lambda: came() > enough or not client.running(), "pings", every=0.1)
    if not client.running():
        raise Failure(f"it has ended: {client.text}")


def mtu_shrinks(build, folder, networked):
    """Connections whose packets no longer fit end, and those with a path MTU that fits go on."""
    link = UdpNetwork(build, folder, networked)
    for daemon in (link.a, link.b):
        daemon.config["rc"]["timeout"] = 17  # half a second for each try: what does not fit is waited for
    with link, link.b.ping_server("-P"):
        set_mtu(link, 1500, 1024)
        with pinging(link) as small:
            pings_on(link, small)
            set_mtu(link, link.cable_mtu, 2048)
            with pinging(link) as big:
                pings_on(link, big)
                set_mtu(link, 1500, 1024)
                status = big.wait()
            if status != 4:
                raise Failure(f"exit {status}: {big.text}")
            pings_on(link, small)
            if small.stop(signal.SIGINT):
                raise Failure(small.text)
        # Of the one that had packets to send at that moment.
        sandbox.until(lambda: any("larger than the network between here and a peer takes" in d.process.text
                                  for d in (link.a, link.b)), "a word about packets that are too large")
        link.judge()
        return big.text.strip()


def hosts_say(link):
    """A host without a daemon says so; of one that is not there this host's kernel does."""
    link.b.process.stop()
    try:
        for address in link.b.addresses:
            connect_refused(link.a, address)
    finally:
        link.b.start()
    sandbox.sysctl("net.ipv6.conf.lo.disable_ipv6", 0)  # by lo the kernel says so to itself
    for address in ("192.0.2.77", "2001:db8::77"):
        connect_fails(link.a, address, "ND_HOST_UNREACHABLE", "is the peer up")
    port_cases.pings(link.a, link.b)


def network_cases(link):
    yield from port_cases.captured_cases(link)
    yield "groups", lambda: shared_cases.groups(link)
    yield "MTU changes", lambda: mtu_changes(link)
    yield "ICMP errors", lambda: hosts_say(link)
    yield "link-local addresses", lambda: link.captured(lambda: link_locals(link))


# ---- daemons that don't start, and addresses that go ---------------------------------------------------

def refused(build, folder, addresses, why, **more):
    """A daemon with these addresses ends, and says why."""
    daemon = Daemon(build, folder, "c", 0, "udp", [], **more)
    del daemon.config["eal"]["vdevs"]
    daemon.config["ports"] = [{"device": "udp", "addresses": addresses}]
    try:
        with daemon:
            pass
    except Failure:
        pass
    else:
        raise Failure("it started")
    if why not in daemon.process.text:
        raise Failure(f"it does not say {why!r}\n{daemon.process.text}")


UDP_NO_CHECK6_TX, SO_NO_CHECK, UDP_SEGMENT = 101, 11, 103


def send_short(address, times, checked):
    """Datagrams that are no packets, and that are counted as such."""
    v6 = ":" in address
    with socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM) as s:
        if not checked:
            s.setsockopt(*(socket.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1) if v6 else (socket.SOL_SOCKET, SO_NO_CHECK, 1))
        for _ in range(times):
            s.sendto(b"no", (address, 4791))


def checksum_required(build, folder, networked):
    """Daemons reach one another, and what has no checksum does not reach them."""
    link = Udp(build, folder, networked)
    for daemon in (link.a, link.b):
        daemon.config["ports"][0]["require_udp_checksum"] = True
    with link:
        port_cases.pings(link.a, link.b)
        perf(link, "-t", "write", "--size", "64K", "-n", 500, "-d", 16)
        for address in link.b.addresses:
            send_short(address, 3, checked=True)
            send_short(address, 5, checked=False)
        port_cases.pings(link.a, link.b)
        counters = port_counters(link.b)
        came, dropped = 3 * len(link.b.addresses), 5 * len(link.b.addresses)
        if (counters.get("rx_not_roce"), counters.get("rx_kernel_drops")) != (came, dropped):
            raise Failure(f"{came} short datagrams were to come, {dropped} to be dropped: {counters}")


def long_segments(build, folder):
    """Any user may send runs whose segments are longer than any frame. No buffer takes more than it has room for,
    and what peers send arrives."""
    with Udp(build, folder, False) as link, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for each in (8, 1024, 8128, 8129, 20000, 30000):
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, each)
            for _ in range(20):
                s.sendto(b"not RoCE" * (min(60000, 64 * each) // 8), (link.b.addresses[0], 4791))
            perf(link, "-t", "write", "--size", "64K", "-n", 20)
        counters = port_counters(link.b)
        if not counters.get("rx_not_roce"):
            raise Failure(f"nothing came of the stranger's: {counters}")


def taken(build, folder):
    with Udp(build, folder, False) as link:
        address = link.a.addresses[0]
        refused(build, folder, [address + "/8"], f"UDP port 4791 of {address} is taken: by ")


def address_goes(build, folder, networked):
    """The kernel's addresses are followed: one that it loses is served no more, and is again when it is back."""
    if not networked:
        raise Skip("no-network")
    with Udp(build, folder, True) as link:
        address = link.b.addresses[1]
        port_cases.pings(link.a, link.b)
        sandbox.run("ip", "address", "del", address, "dev", "lo")
        link.b.process.expect(f"{address} is no more")
        sandbox.run("ip", "address", "add", address, "dev", "lo", "nodad")
        link.b.process.expect(f"port udp: {address}/128")
        port_cases.pings(link.a, link.b)


def anybody(build, folder):
    """Without a user of its own, without a capability, without files but those of its own folder."""
    if os.geteuid() != 0:
        return "as the calling user"
    os.chmod(folder, 0o777)
    with Udp(build, folder, False) as link:
        before = ("setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")
        for daemon in (link.a, link.b):
            daemon.process.stop()
            daemon.inside = before
            daemon.start()
        port_cases.pings(link.a, link.b)
        link.judge()
    return "no capability"


def example(build, folder, networked):
    """The configuration as it stands: all addresses of the machine."""
    if not networked:
        raise Skip("no-network")  # port 4791 of this machine may be another run's
    sandbox.run("ip", "link", "set", "lo", "up")
    with port_cases.Example(build, folder, "udp", 0) as daemon:
        daemon.addresses = ["127.0.0.1"]
        with daemon.ping_server("-a", "127.0.0.1"):
            daemon.ping("-a", "127.0.0.1", "-C", 2)


def found_by_itself(build, folder, environment):
    """By the clients of its user; where it is not, they look for everybody's."""
    there = {name: value for name, value in environment.items() if name != "NDD_SOCKET"}
    with sandbox.Process(build.nddping, "-s", "-a", "127.0.0.1", env=there) as server:
        server.expect("listening")
        sandbox.run(build.nddping, "-c", "-a", "127.0.0.1", "-C", "2", env=there)
    there["XDG_RUNTIME_DIR"] = os.path.join(folder, "none")
    done = sandbox.run(build.nddping, "-c", "-a", "127.0.0.1", check=False, env=there)
    if "/run/dpdk-ndd/dpdk-ndd.sock" not in done.stdout:
        raise Failure(done.stdout)


def one_word(build, folder, networked):
    """dpdk-ndd --udp, and a reload, which has nothing to read."""
    if not networked:
        raise Skip("no-network")
    sandbox.run("ip", "link", "set", "lo", "up")
    path = os.path.join(folder, "dpdk-ndd.sock")
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "RUNTIME_DIRECTORY": folder}
    with sandbox.Process(build.daemon, "--udp", env=environment) as daemon:
        daemon.expect("ready: " + path)
        mode = os.stat(path).st_mode & 0o777
        if mode != 0o600:
            raise Failure(f"the control socket has mode {mode:o}")
        with sandbox.Process(build.nddping, "-s", "-a", "127.0.0.1", "--socket", path) as server:
            server.expect("listening")
            sandbox.run(build.nddping, "-c", "-a", "127.0.0.1", "-C", "2", "--socket", path)
        found_by_itself(build, folder, environment)
        daemon.popen.send_signal(signal.SIGHUP)
        daemon.expect("there is no configuration to read")
        if daemon.stop():
            raise Failure(daemon.text)
    del environment["XDG_RUNTIME_DIR"]
    with sandbox.Process(build.daemon, "--udp", env=environment) as daemon:
        if daemon.wait() != 1 or "XDG_RUNTIME_DIR, which is not set" not in daemon.text:
            raise Failure(daemon.text)


def lone_cases(build, networked):
    yield "udp taken", lambda: port_cases.in_folder(lambda folder: taken(build, folder))
    yield "udp long segments", lambda: port_cases.in_folder(lambda folder: long_segments(build, folder))
    yield "udp checksum required", lambda: port_cases.in_folder(
        lambda folder: checksum_required(build, folder, networked))
    yield "udp address of others", lambda: port_cases.in_folder(
        lambda folder: refused(build, folder, ["192.0.2.77/24"], "192.0.2.77 is no address of this machine"))
    yield "udp address goes", lambda: port_cases.in_folder(
        lambda folder: address_goes(build, folder, networked))
    yield "udp MTU shrinks", lambda: port_cases.in_folder(
        lambda folder: mtu_shrinks(build, folder, networked))
    yield "example of udp", lambda: port_cases.in_folder(
        lambda folder: example(build, folder, networked))
    yield "udp by one word", lambda: port_cases.in_folder(
        lambda folder: one_word(build, folder, networked))
    yield "udp as anybody", lambda: port_cases.in_folder(lambda folder: anybody(build, folder))
