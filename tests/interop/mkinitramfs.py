#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pack the guest: the wanted programs with the libraries they name, the wanted kernel modules with
those they depend on, and the kernel itself, uncompressed (unpacking costs seconds under emulation)."""

import argparse
import gzip
import lzma
import os
import re
import subprocess
import zlib

PROGRAMS = """dash ip tc rdma ping rping ucmatose cmtime udaddy mckey ibv_rc_pingpong ibv_srq_pingpong ibv_ud_pingpong
    ibv_devinfo ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_atomic_bw
    ib_atomic_lat""".split()
# Applets that stand in for programs which the packages above do not bring.
APPLETS = """cat dmesg echo grep head insmod kill ls mkdir mount mv ps rm sed sleep tail true uname
    xargs""".split()
DRIVERS = "usr/lib/x86_64-linux-gnu/libibverbs"
LIBRARY_DIRS = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "lib", "usr/lib"]
# What the kernel would ask modprobe for by alias is named here (crc32 for rdma_rxe's checksum):
# there is no modprobe in the guest.
MODULES = """virtio_pci virtio_console virtio_net virtio_rng af_packet crc32_generic
    ib_uverbs rdma_ucm rdma_rxe sch_prio sch_netem cls_u32""".split()


class Archive:
    """A cpio archive in the "newc" format, kept in memory until it is written."""

    def __init__(self):
        self.data = bytearray()
        self.names = set()

    def _add(self, name, mode, content):
        if name in self.names:
            return
        parent = os.path.dirname(name)
        if parent:
            self._add(parent, 0o40755, b"")
        self.names.add(name)
        fields = [len(self.names), mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
        self.data += bytes(-len(self.data) % 4) + content
        self.data += bytes(-len(self.data) % 4)

    def directory(self, name):
        self._add(name, 0o40755, b"")

    def file(self, name, content):
        self._add(name, 0o100755, content)

    def link(self, name, target):
        self._add(name, 0o120777, target.encode())

    def finish(self):
        self._add("TRAILER!!!", 0, b"")
        return bytes(self.data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def resolve(stage, path):
    """The file behind a link, absolute targets taken as relative to the stage."""
    while os.path.islink(path):
        target = os.readlink(path)
        path = stage + target if target.startswith("/") else os.path.join(os.path.dirname(path), target)
    return path


class Programs:
    """Copies ELF files out of the unpacked packages, never out of this machine."""

    def __init__(self, stage, archive):
        self.stage, self.archive = stage, archive
        self.done = set()

    def _libraries_of(self, path):
        out = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", out.stdout):
            self.library(name)

    def find(self, name, places):
        for place in places:
            path = resolve(self.stage, os.path.join(self.stage, place, name))
            if os.path.exists(path):
                return path
        raise SystemExit(f"mkinitramfs: {name} is in none of the packages")

    def library(self, name):
        if name in self.done:
            return
        self.done.add(name)
        path = self.find(name, LIBRARY_DIRS)
        place = "lib64" if name.startswith("ld-linux") else "lib/x86_64-linux-gnu"
        self.archive.file(f"{place}/{name}", read(path))
        self._libraries_of(path)

    def program(self, name, path=None):
        path = path or self.find(name, ["usr/bin", "bin", "usr/sbin", "sbin"])
        self.archive.file(f"bin/{name}", read(path))
        self._libraries_of(path)


def module_file(path):
    data = read(path)
    return lzma.decompress(data) if path.endswith(".xz") else data


def module_order(kernel):
    """(name, content) of each wanted module, after those it depends on."""
    paths = {}
    for place, _, files in os.walk(os.path.join(kernel, "lib/modules")):
        for name in files:
            if ".ko" in name:
                paths[name.split(".ko")[0].replace("-", "_")] = os.path.join(place, name)
    order = {}

    def visit(name):
        if name in order or name not in paths:  # not in paths: built into the kernel
            return
        content = module_file(paths[name])
        for needed in re.search(rb"\0depends=([^\0]*)\0", content).group(1).decode().split(","):
            visit(needed.replace("-", "_"))
        order[name] = content

    for name in MODULES:
        visit(name)
    if "rdma_rxe" not in order:
        raise SystemExit("mkinitramfs: this kernel has no rdma_rxe")
    return order


def uncompressed_kernel(kernel):
    """The ELF image inside vmlinuz, found by the magic number of its compression."""
    boot = os.path.join(kernel, "boot")
    data = read(os.path.join(boot, next(f for f in os.listdir(boot) if f.startswith("vmlinuz"))))
    unpackers = {
        b"\xfd7zXZ\0": lambda d: lzma.LZMADecompressor().decompress(d),
        b"\x1f\x8b\x08": gzip.decompress,
        b"\x28\xb5\x2f\xfd": lambda d: subprocess.run(
            ["zstd", "-dc"], input=d, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout,
    }
    for magic, unpack in unpackers.items():
        for match in re.finditer(re.escape(magic), data):
            try:
                elf = unpack(data[match.start():])
            except (lzma.LZMAError, zlib.error, OSError, EOFError):
                continue
            if elf.startswith(b"\x7fELF"):
                return elf
    raise SystemExit("mkinitramfs: vmlinuz is packed in a way unknown here")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("stage", "kernel", "agent", "verbspeer", "verbspartner", "init", "output"):
        parser.add_argument("--" + option, required=True)
    args = parser.parse_args()

    archive = Archive()
    for name in ("proc", "sys", "dev", "run", "tmp"):
        archive.directory(name)
    archive.file("init", read(args.init))
    archive.file("bin/agent", read(args.agent))
    archive.file("bin/busybox", read(os.path.join(args.stage, "bin/busybox")))
    # Not busybox's shell: Debian's prefers its own applets to the real ip and ping.
    archive.link("bin/sh", "dash")
    for name in APPLETS:
        archive.link("bin/" + name, "busybox")

    programs = Programs(args.stage, archive)
    for name in PROGRAMS:
        programs.program(name)
    programs.program("verbspeer", args.verbspeer)
    programs.program("verbspartner", args.verbspartner)
    programs.library("libgcc_s.so.1")  # pthread_exit() loads it; no program names it
    driver = next(f for f in os.listdir(os.path.join(args.stage, DRIVERS)) if f.startswith("librxe"))
    archive.file(f"{DRIVERS}/{driver}", read(os.path.join(args.stage, DRIVERS, driver)))
    archive.file("etc/libibverbs.d/rxe.driver", b"driver rxe\n")
    archive.file("etc/hosts", b"127.0.0.1 localhost\n")
    archive.file("etc/nsswitch.conf", b"hosts: files\n")

    modules = module_order(args.kernel)
    for name, content in modules.items():
        archive.file(f"lib/modules/{name}.ko", content)
    archive.file("lib/modules/order", "".join(f"/lib/modules/{m}.ko\n" for m in modules).encode())

    with open(os.path.join(args.output, "initrd.cpio"), "wb") as f:
        f.write(archive.finish())
    with open(os.path.join(args.output, "vmlinux"), "wb") as f:
        f.write(uncompressed_kernel(args.kernel))


if __name__ == "__main__":
    main()
