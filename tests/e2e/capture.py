# SPDX-License-Identifier: BSD-3-Clause
"""Capture an interface during a case, and let two strangers judge every frame: tshark's dissector and
the ICRC check of tests/interop."""

import os
import re
import signal
import sys
import time

from sandbox import Failure, Process, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import icrc  # noqa: E402

DRAIN_S = 30  # what tcpdump is behind by at most; traffic that goes on past it is none of the case's


class Capture:
    """with Capture(interface, path) as c: ...; then c.check(). `only` is a filter of tcpdump's, for
    captures beside traffic that doesn't end."""

    def __init__(self, interface, path, only=""):
        self.interface, self.path, self.only = interface, path, only

    def __enter__(self):
        # Without --immediate-mode the last frames are lost when it ends.
        self.tcpdump = Process("tcpdump", "-i", self.interface, "--immediate-mode", "-U", "-n", "-s", 0,
                               "-B", 131072, "-Z", "root", "-w", self.path, *self.only.split())
        self.tcpdump.expect("listening on")
        return self

    def __exit__(self, *_):
        size, end = -1, time.monotonic() + DRAIN_S
        while os.path.getsize(self.path) != size and time.monotonic() < end:  # until nothing more comes
            size = os.path.getsize(self.path)
            time.sleep(0.2)
        self.tcpdump.stop(signal.SIGINT)

    def check(self, senders=2):
        """A Failure if any frame is wrong; else words about them. Frames of `senders` different
        addresses must be there: a capture of one side proves nothing about the other."""
        dropped = re.search(r"(\d+) packets? dropped by kernel", self.tcpdump.text)
        if not dropped or int(dropped.group(1)):
            raise Failure(f"capture is not whole:\n{self.tcpdump.text}")
        found = icrc.survey(self.path)
        if found.bad:
            raise Failure(f"{found.bad} of {found.frames} RoCEv2 frames have a wrong ICRC")
        if len(found.senders) < senders:
            raise Failure(f"RoCEv2 frames of {len(found.senders)} senders, not {senders}")
        self._dissect(found.frames)
        return f"{found.frames} frames"

    def _dissect(self, frames):
        # Without the option a heuristic takes short payloads for RPC and calls them malformed.
        out = run("tshark", "-r", self.path, "--disable-protocol", "rpcordma",
                  "-Y", "infiniband || _ws.malformed", "-T", "fields", "-E", "separator=;",
                  "-e", "frame.number", "-e", "frame.protocols", "-e", "infiniband.bth.tver",
                  "-e", "infiniband.bth.p_key", "-e", "infiniband.bth.reserved7",
                  env={**os.environ, "HOME": "/tmp"}, timeout=120)
        rows = [row.split(";") for row in out.stdout.splitlines() if re.match(r"\d+;", row)]
        for number, protocols, version, key, reserved in rows:
            if "_ws.malformed" in protocols or version != "0" or int(key, 0) != 0xFFFF \
                    or int(reserved, 0) != 0:
                raise Failure(f"frame {number}: tshark sees {protocols}, TVer {version}, "
                              f"P_Key {key}, reserved {reserved}")
        if len(rows) != frames:
            raise Failure(f"tshark dissects {len(rows)} of {frames} RoCEv2 frames")
