# SPDX-License-Identifier: BSD-3-Clause
"""Two daemons and what is between them: shared memory (memif), or Ethernet of the kernel (veth and a
bridge), where it can be captured."""

import os

import sandbox
from capture import Capture
from cases import Skip, huge_pages_free
from daemon import Daemon, af_packet, memif
from sandbox import Failure

ADDRESSES = {"a": ["192.0.2.1/24", "2001:db8::1/64"], "b": ["192.0.2.2/24", "2001:db8::2/64"]}
HUGE_PAGES_NEEDED = 300  # 2 MiB each: two daemons of 256 MB, and their sessions


class Link:
    """with Link(build, folder) as link: link.a, link.b are running daemons."""

    huge = False
    mtu = 4200  # 4 KiB payloads

    def __init__(self, build, folder, rc=None, **more):
        self.build, self.folder = build, folder
        more["rc"] = {"cm_retries": 2, **(rc or {})}  # a silent peer is given up after 14 s, not 74
        self.a, self.b = (
            Daemon(build, folder, name, number, self.device(name), ADDRESSES[name], self.mtu, self.huge,
                   **more) for number, name in enumerate("ab"))

    def device(self, name):
        return memif("server" if name == "a" else "client", self.folder)

    def captured(self, act):
        """Run act(); a link that can be captured is, and what it carried is judged."""
        return act()

    def news(self):
        """What the daemons logged since this was asked last."""
        return "\n".join(d.news() for d in (self.a, self.b))

    def ends(self):
        """The daemons in the order in which they end."""
        return self.a, self.b

    def judge(self):
        """End both daemons, as an operator would."""
        for daemon in self.ends():
            if not daemon.process.running():
                raise Failure(f"daemon {daemon.name} has ended\n{daemon.process.text[-3000:]}")
            status = daemon.process.stop()
            if status:
                raise Failure(f"daemon {daemon.name}: exit {status}\n{daemon.process.text[-3000:]}")

    def __enter__(self):
        self.a.start()
        try:
            self.b.start()
        except BaseException:
            self.a.process.stop()
            raise
        return self

    def __exit__(self, *error):
        self.b.process.stop()
        self.a.process.stop()


class Memif(Link):
    name = "memif"


class HugeMemif(Link):
    """With huge pages, from a hugetlbfs that the sandbox alone sees."""

    name = "huge"
    huge = True

    def __init__(self, build, folder, sandboxed=True, **more):
        super().__init__(build, folder, **more)
        self.sandboxed, self.mount = sandboxed, os.path.join(folder, "hugetlbfs")

    def __enter__(self):
        if not self.sandboxed or huge_pages_free() < HUGE_PAGES_NEEDED:
            raise Skip("no-huge-pages")
        os.mkdir(self.mount)
        if sandbox.run("mount", "-t", "hugetlbfs", "none", self.mount, check=False).returncode:
            raise Skip("no-huge-pages")
        try:
            return super().__enter__()
        except BaseException:
            sandbox.run("umount", self.mount)
            raise

    def __exit__(self, *error):
        super().__exit__(*error)
        sandbox.run("umount", self.mount)


# DPDK joins the packet socket of each AF_PACKET port to a group, whose number it makes of the process's and the
# interface's by an exclusive or. Two daemons whose groups come out the same can't both start (doc/ports.md): this bit
# is in no process's number.
FAR_INDEX = 0x8000


class Veth(Link):
    name = "veth"
    mtu = 1500
    cable_mtu = 9000
    # Not veth-a: DPDK's frames go past the taps of the interface it sends on.
    captured_at = "veth-a-br"

    def __init__(self, build, folder, networked=True, **more):
        super().__init__(build, folder, **more)
        self.networked, self.captures = networked, 0

    def device(self, name):
        return af_packet("veth-" + name)

    def captured(self, act):
        self.captures += 1
        capture = Capture(self.captured_at, self.capture_path())
        with capture:
            act()
        return capture.check()

    def capture_path(self):
        """The file of the last capture."""
        return os.path.join(self.folder, f"{self.captures}.pcap")

    def __enter__(self):
        if not self.networked:
            raise Skip("no-network")
        try:
            self.plug()
            return super().__enter__()
        except BaseException:
            self.unplug()
            raise

    def plug(self):
        sandbox.bridge("bridge")
        sandbox.veth("veth-a", "veth-a-br", self.cable_mtu, master="bridge")
        sandbox.veth("veth-b", "veth-b-br", self.cable_mtu, master="bridge", index=FAR_INDEX)

    def unplug(self):
        for name in ("veth-a", "veth-b", "bridge"):
            sandbox.delete_link(name)

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            self.unplug()
