# SPDX-License-Identifier: BSD-3-Clause
"""What programs see that are written to another interface than libndclient's own."""

from cases import program
from links import Memif
from sandbox import Failure, run, scratch


def scenario(link, name):
    """Of NetworkDirect's interfaces (tests/e2e/spi). Figures, if it has some."""
    done = run(link.build.spitest, name, link.a.socket_path, link.a.addresses[0],
               link.b.socket_path, link.b.addresses[0], link.b.process.pid, timeout=60)
    return done.stdout.strip() or None


def dispatch(link, name, *more):
    """Of NDK's dispatch tables (tests/e2e/kpi)."""
    run(link.build.kpitest, name, link.a.socket_path, link.a.addresses[0], link.b.socket_path,
        link.b.addresses[0], *more, timeout=120)


def daemon_dies(build):
    with scratch() as folder, Memif(build, folder) as link:
        dispatch(link, "daemon-dies", link.a.process.pid)


def by_face(link, face, name):
    """What is the same by each interface (tests/e2e/faces)."""
    run(link.build.facetest, face, name, link.a.socket_path, link.a.addresses[0], link.b.socket_path,
        link.b.addresses[0], timeout=60)


def by_two_processes(link, name, port, *arguments):
    """An example that is a server with -s and a client with -c."""
    example = program(link.build.folder, "doc/examples/" + name)
    with link.b.popen(example, "-s", link.b.addresses[0], port) as server:
        server.expect("listening")
        done = link.a.run(example, "-c", *arguments, timeout=60)
        if server.wait():
            raise Failure(f"the server: exit {server.wait()}\n{server.text}")
    return done.stdout.strip()


def pingpong(link, name):
    """Version 2 with a completion port, version 1 with events."""
    return by_two_processes(link, name, 4000, link.b.addresses[0], 4000, 2000)


def smb_direct(link):
    """NDK's tables: fast registration, remote invalidation and DEFER."""
    return by_two_processes(link, "ndk_smb_direct", 4001, link.a.addresses[0], link.b.addresses[0], 4001, 100)


def rpc(link):
    """libndclient's calls: windows that the server reads, writes and closes."""
    return by_two_processes(link, "rpc", 4002, link.b.addresses[0], 4002, 1000)


def cases(link):
    yield "nd rpc", lambda: rpc(link)
    for name in ("nd1_pingpong", "nd2_pingpong"):
        yield f"spi {name}", lambda n=name: pingpong(link, n)
    for name in run(link.build.spitest, "--list").stdout.split():
        yield f"spi {name}", lambda n=name: scenario(link, n)
    yield "kpi smb-direct", lambda: smb_direct(link)
    for name in run(link.build.kpitest, "--list").stdout.split():
        yield f"kpi {name}", lambda n=name: dispatch(link, n)
    yield "kpi silent-peer", lambda: dispatch(link, "silent", link.a.process.pid)
    for words in run(link.build.facetest, "--list").stdout.splitlines():
        face, name = words.split()
        yield f"face {face} {name}", lambda f=face, n=name: by_face(link, f, n)


def lone_cases(build):
    """Cases that need daemons of their own, because they end one."""
    yield "kpi daemon-dies", lambda: daemon_dies(build)
