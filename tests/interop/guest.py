# SPDX-License-Identifier: BSD-3-Clause
"""A virtual machine with Debian's kernel and Soft-RoCE, on a bridge of the sandbox."""

import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from sandbox import Failure, Process, delete_link, run, until  # noqa: E402

RUN, KILL, OUTPUT, EXIT, TALK, INPUT = 1, 2, 3, 4, 5, 6
HEADER = struct.Struct("<III")  # agent.c: type, id, bytes

# Offloads off: frames are whole on the wire, with their checksums.
NIC_OPTIONS = ",".join(f"{option}=off" for option in """csum guest_csum gso guest_tso4 guest_tso6
    guest_ufo guest_ecn host_tso4 host_tso6 host_ufo host_ecn ctrl_guest_offloads""".split())
# no_timer_check: on a crowded machine the emulated timer may be too late for it, and the boot ends.
KERNEL_LINE = """no_timer_check console=ttyS0 quiet panic=-1 mitigations=off nokaslr nowatchdog audit=0 tsc=reliable
    random.trust_cpu=on cryptomgr.notests net.ifnames=0 i8042.noaux i8042.nokbd"""


def cache_dir():
    """Where images are kept from run to run."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    own = os.environ.get("NDD_TEST_CACHE") or os.path.join(base, "dpdk-ndd")
    try:
        os.makedirs(own, exist_ok=True)
    except OSError:  # an account without a home
        own = os.path.join(tempfile.gettempdir(), f"dpdk-ndd-{os.getuid()}")
    return own


class NoKernel(Exception):
    """The mirror has no such kernel."""


def image(kernel="stable"):
    """The folder of the image, built if need be: outside of the sandbox, which reaches no mirror."""
    build = subprocess.run([os.path.join(HERE, "build-guest"), "-k", kernel, cache_dir()],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900,
                           check=False)
    if build.returncode == 3:
        raise NoKernel(build.stderr.strip())
    if build.returncode:
        raise Failure(f"build-guest: {build.stderr.strip()}")
    return build.stdout.split()[-1]


class Command:
    """One command in the guest."""

    def __init__(self, guest, number, line):
        self.guest, self.number, self.line = guest, number, line
        self.text = ""
        self.heard = 0
        self.status = None

    def _wait(self, condition, what, timeout):
        end = time.monotonic() + timeout
        with self.guest.news:
            while not condition():
                left = end - time.monotonic()
                if left <= 0 or self.guest.gone:
                    why = "the guest went away" if self.guest.gone else f"not within {timeout} s"
                    raise Failure(f"{self.guest.name}: {self.line}: {what}: {why}\n{self.text}")
                self.guest.news.wait(left)

    def expect(self, what, timeout=20):
        self._wait(lambda: what in self.text or self.status is not None, f"{what!r}", timeout)
        if what not in self.text:
            raise Failure(f"{self.guest.name}: {self.line}: ended (exit {self.status}) without "
                          f"{what!r}\n{self.text}")

    def hear(self, timeout=20):
        """The next line of its output that this has not given yet."""
        begin = self.heard
        self._wait(lambda: "\n" in self.text[begin:] or self.status is not None, "a line", timeout)
        if "\n" not in self.text[begin:]:
            raise Failure(f"{self.guest.name}: {self.line}: ended (exit {self.status})\n"
                          f"{self.text[-2000:]}")
        self.heard = self.text.index("\n", begin) + 1
        return self.text[begin:self.heard - 1]

    def wait(self, timeout=60):
        self._wait(lambda: self.status is not None, "end", timeout)
        return self.status

    def say(self, text):
        self.guest.send(INPUT, self.number, text.encode())

    def kill(self):
        if self.status is None and not self.guest.gone:
            self.guest.send(KILL, self.number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def kvm_promising():
    """A device node alone is no proof: some machines have one behind which nothing runs."""
    with open("/proc/cpuinfo") as f:
        flags = f.read().split()
    return ("vmx" in flags or "svm" in flags) and os.access("/dev/kvm", os.R_OK | os.W_OK)


class Guest:
    """with Guest(...) as g: g.run("ping -c 1 192.0.2.1")"""

    kvm = kvm_promising()

    def __init__(self, folder, name, image_dir, bridge, ip, ip6, mac, mtu=1500):
        self.name, self.ip, self.ip6, self.mac, self.mtu = name, ip, ip6, mac, mtu
        self.tap, self.bridge = "tap-" + name, bridge
        self.image = image_dir
        self.socket_path = os.path.join(folder, name + ".sock")
        self.console_path = os.path.join(folder, name + ".console")
        self.commands = {}
        self.news = threading.Condition()
        self.gone = False
        self.accelerator = None

    def _arguments(self, accelerator):
        parameters = f"ndd.ip={self.ip}/24 ndd.ip6={self.ip6}/64 ndd.mtu={self.mtu}"
        return [
            "qemu-system-x86_64", "-name", self.name, "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-machine", "q35,usb=off,smbus=off,vmport=off",
            "-accel", accelerator + (",thread=multi,tb-size=256" if accelerator == "tcg" else ""),
            "-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,-svm",
            # One vCPU, but two possible: with a single possible one QEMU 7.2's TCG leaves memory
            # barriers out, although the virtio backends run in another thread.
            "-smp", "1,maxcpus=2", "-m", "384",
            "-kernel", self.image + "/vmlinux", "-initrd", self.image + "/initrd.cpio",
            "-append", " ".join(KERNEL_LINE.split()) + " " + parameters,
            "-serial", "file:" + self.console_path,
            "-netdev", f"tap,id=net0,ifname={self.tap},script=no,downscript=no,vhost=off",
            "-device", f"virtio-net-pci,netdev=net0,mac={self.mac},romfile=,host_mtu=9000,{NIC_OPTIONS}",
            "-device", "virtio-serial-pci,max_ports=2",
            "-chardev", f"socket,id=agent,path={self.socket_path},server=on,wait=off",
            "-device", "virtserialport,nr=1,chardev=agent,name=ndd.agent",
            "-device", "virtio-rng-pci",
        ]

    def _boot(self, accelerator, patience):
        if os.path.exists(self.socket_path):
            os.unlink(self.socket_path)
        self.gone, self.commands = False, {}
        self.qemu = Process(*self._arguments(accelerator), name="qemu")
        try:
            until(lambda: os.path.exists(self.socket_path) or not self.qemu.running(), "qemu", 20)
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.connect(self.socket_path)
            threading.Thread(target=self._read, args=(self.socket,), daemon=True).start()
            # Waits in the port until the agent opens it.
            self.run("true", timeout=patience)
        except (Failure, OSError) as e:
            self._end()
            raise Failure(f"{self.name} did not boot with {accelerator}: {e}\n{self.qemu.text}\n"
                          f"{self.console()[-2000:]}") from None
        self.accelerator = accelerator

    def start(self):
        """Boot it, with KVM where that works, else under emulation."""
        delete_link(self.tap)  # of one that did not boot
        run("ip", "tuntap", "add", "dev", self.tap, "mode", "tap")
        run("ip", "link", "set", self.tap, "mtu", 9000, "master", self.bridge, "up")
        if Guest.kvm:
            try:
                return self._boot("kvm", 20)
            except Failure:
                Guest.kvm = False
        return self._boot("tcg", 120)

    def console(self):
        try:
            with open(self.console_path, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    # ---- commands --------------------------------------------------------------------------------

    def send(self, kind, number, payload=b""):
        try:
            self.socket.sendall(HEADER.pack(kind, number, len(payload)) + payload)
        except OSError:
            self.gone = True

    def _receive(self, sock, size):
        data = b""
        while len(data) < size:
            piece = sock.recv(size - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def _read(self, sock):
        try:
            while True:
                kind, number, size = HEADER.unpack(self._receive(sock, HEADER.size))
                payload = self._receive(sock, size)
                with self.news:
                    command = self.commands.get(number)
                    if command and kind == OUTPUT:
                        command.text += payload.decode(errors="replace")
                    if command and kind == EXIT:
                        command.status = struct.unpack("<I", payload)[0]
                    self.news.notify_all()
        except OSError:
            with self.news:
                self.gone = True
                self.news.notify_all()

    def popen(self, line, talks=False):
        """Start a shell command; kill() ends it, and so does the end of its block. One that talks hears
        what say() tells it."""
        with self.news:
            number = len(self.commands) + 1
            command = self.commands[number] = Command(self, number, line)
        self.send(TALK if talks else RUN, number, line.encode())
        return command

    def run(self, line, timeout=60, check=True):
        """A shell command; it is returned ended, with .status and .text."""
        with self.popen(line) as command:
            command.wait(timeout)
        if check and command.status:
            raise Failure(f"{self.name}: {line}: exit {command.status}\n{command.text}")
        return command

    def stop(self):
        self._end()
        delete_link(self.tap)

    def _end(self):
        self.qemu.stop()
        self.socket.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
