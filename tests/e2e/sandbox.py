# SPDX-License-Identifier: BSD-3-Clause
"""Where tests run: namespaces that end with the test, and processes that can't outlive it.

enter() starts the calling script again inside network, mount and process namespaces of its own. They
have no names, so parallel runs can't clash, and the kernel tears all of it down when the script ends,
however it ends: links, processes, everything."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

IN_SANDBOX = "NDD_TEST_SANDBOX"  # "net": network and processes; "": processes are on their own


class Failure(Exception):
    """What a test reports; its text is for people."""


def enter():
    """Start the script again inside the sandbox; True there if it has a network of its own, False if
    this machine grants none (not root and no user namespaces, or a container)."""
    if IN_SANDBOX in os.environ:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        return os.environ[IN_SANDBOX] == "net"
    names = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"]
    if os.geteuid() != 0:
        names += ["--user", "--map-current-user", "--keep-caps"]
    probe = subprocess.run(["unshare"] + names + ["ip", "link", "add", "type", "veth"],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    granted = probe.returncode == 0
    os.environ[IN_SANDBOX] = "net" if granted else ""
    command = [sys.executable] + sys.argv
    os.execvp("unshare" if granted else command[0], ["unshare"] + names + command if granted else command)


def run(*command, timeout=30, check=True, **options):
    """A command that ends by itself; its completed process, output as text."""
    try:
        done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                              check=False, **options)
    except subprocess.TimeoutExpired as e:
        raise Failure(f"{' '.join(map(str, command))}: still running after {timeout} s\n"
                      f"{(e.stdout or b'').decode(errors='replace')}") from None
    if check and done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done


def listens(port):
    """Does a TCP socket of this network listen there?"""
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(path) as f:
                rows = [line.split() for line in f][1:]
        except OSError:
            continue
        if any(row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port for row in rows):
            return True
    return False


_prctl = ctypes.CDLL(None, use_errno=True).prctl
_PR_SET_PDEATHSIG = 1


def die_with_parent():
    """For a process between fork and exec: a runner may have no process namespace that ends it."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A process in the background: its output is collected, it is gone at the end of the block."""

    def __init__(self, *command, name=None, **options):
        self.command = [str(c) for c in command]
        self.name = name or os.path.basename(self.command[0])
        self.text = ""
        self.heard = 0
        self._news = threading.Condition()
        options.setdefault("stdin", subprocess.DEVNULL)
        self.popen = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      preexec_fn=die_with_parent, **options)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while True:
            data = os.read(self.popen.stdout.fileno(), 65536)
            with self._news:
                self.text += data.decode(errors="replace")
                self._news.notify_all()
            if not data:
                return

    @property
    def pid(self):
        return self.popen.pid

    def running(self):
        return self.popen.poll() is None

    def expect(self, what, timeout=20):
        """Wait until `what` is in the output."""
        end = time.monotonic() + timeout
        with self._news:
            while what not in self.text:
                left = end - time.monotonic()
                if left <= 0:
                    raise Failure(f"{self.name}: no {what!r} within {timeout} s\n{self.text}")
                if not self._reader.is_alive():
                    raise Failure(f"{self.name}: ended (exit {self.popen.wait(5)}) without {what!r}\n"
                                  f"{self.text}")
                self._news.wait(min(left, 0.2))

    def hear(self, timeout=20):
        """The next line of its output that this has not given yet."""
        begin, end = self.heard, time.monotonic() + timeout
        with self._news:
            while "\n" not in self.text[begin:]:
                left = end - time.monotonic()
                if left <= 0 or not self._reader.is_alive():
                    raise Failure(f"{self.name}: no line within {timeout} s\n{self.text[-2000:]}")
                self._news.wait(min(left, 0.2))
        self.heard = self.text.index("\n", begin) + 1
        return self.text[begin:self.heard - 1]

    def say(self, text):
        """To its standard input: one with stdin=subprocess.PIPE."""
        self.popen.stdin.write(text.encode())
        self.popen.stdin.flush()

    def wait(self, timeout=30):
        """Its exit status; a Failure if it does not end."""
        try:
            status = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name}: still running after {timeout} s\n{self.text}") from None
        self._reader.join(2)
        return status

    def kill(self, number=signal.SIGKILL):
        if self.running():
            self.popen.send_signal(number)

    def stop(self, number=signal.SIGTERM, timeout=10):
        """End it, gently at first. Its exit status."""
        self.kill(number)
        try:
            self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self._reader.join(2)
        return self.popen.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)


def until(condition, what, timeout=20, every=0.02):
    """Wait for a condition: no longer than need be, and no longer than timeout."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {timeout} s")
        time.sleep(every)


def scratch(prefix="ndd-test-"):
    """A temporary folder, removed at the end of its block. Short: UNIX socket paths are."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir="/tmp")


# ---- network of the sandbox ----------------------------------------------------------------------

def sysctl(name, value):
    try:
        with open("/proc/sys/" + name.replace(".", "/"), "w") as f:
            f.write(str(value))
    except FileNotFoundError:
        pass


def network_up():
    """Once per sandbox: no interface speaks IPv6 on its own accord."""
    run("ip", "link", "set", "lo", "up")
    sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    sysctl("net.ipv6.conf.all.disable_ipv6", 1)


def bridge(name, mtu=9000):
    run("ip", "link", "add", name, "type", "bridge", "stp_state", 0, "forward_delay", 0,
        "mcast_snooping", 0)
    run("ip", "link", "set", name, "mtu", mtu, "up")


def veth(a, b, mtu=9000, master=None, index=None):
    """A cable with ends a and b; what goes in is what is on the wire (no offloads). With master, b is
    plugged into that bridge. index: of a, if it matters."""
    run("ip", "link", "add", a, *(("index", index) if index else ()), "type", "veth", "peer", "name", b)
    for end in (a, b):
        run("ethtool", "-K", end, "rx", "off", "tx", "off", "gso", "off", "gro", "off", "tso", "off")
        run("ip", "link", "set", end, "mtu", mtu, "up")
    if master:
        run("ip", "link", "set", b, "master", master)
        await_forwarding(b)


def await_forwarding(port):
    """A bridge drops what comes by a port before it has noticed that the cable is plugged in."""
    end = time.monotonic() + 20
    while '"state":"forwarding"' not in run("ip", "-d", "-j", "link", "show", "dev", port).stdout:
        if time.monotonic() > end:
            raise Failure(f"{port} does not forward")
        time.sleep(0.01)


def delete_link(name):
    run("ip", "link", "del", name, check=False)
