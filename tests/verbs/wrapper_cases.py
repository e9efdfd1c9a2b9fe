# SPDX-License-Identifier: BSD-3-Clause
"""ndd-verbs, and what programs hear when the daemon is not as they need it."""

import os
import signal
import socket
import threading

from sandbox import Failure, Process, listens, run, until
from verbs import PORT, under


def want(done, status, *texts):
    if done.returncode != status or not all(text in done.stdout for text in texts):
        raise Failure(f"exit {done.returncode}, wanted {status} and {texts}\n{done.stdout}")


def says_what_it_found(link):
    done = run(link.a.build.ndd_verbs, "--socket", link.a.socket_path, "true")
    want(done, 0, f"dpdk-ndd at {link.a.socket_path}: ndd0 {link.a.addresses[0]}")


def checks(link):
    done = run(link.a.build.ndd_verbs, "--socket", link.a.socket_path, "--check")
    want(done, 0, f"ndd0: {link.a.addresses[0]}, path MTU 4096")


def sets_the_environment(link):
    done = run(*under(link.a, "sh", "-c", "echo $NDD_SOCKET $LD_LIBRARY_PATH"),
               env={**os.environ, "LD_LIBRARY_PATH": "/else"})
    want(done, 0, f"{link.a.socket_path} {link.a.build.folder}/lib/ndverbs:/else")


def program_is_not_there(link):
    want(run(*under(link.a, "no-such-program"), check=False), 127, "No such file")
    want(run(link.a.build.ndd_verbs, check=False), 1, "which program")


def without_wrapper(link):
    """The folder in LD_LIBRARY_PATH is all that it takes."""
    done = link.a.run("env", f"LD_LIBRARY_PATH={link.a.build.folder}/lib/ndverbs", "ibv_devices")
    want(done, 0, "ndd0")


def daemon_dies(link):
    """In the midst of a transfer: both programs end by themselves, with an error."""
    command = ("ib_write_bw", "-d", "ndd0", "-D", "30", "-p", str(PORT))
    with Process(*under(link.a, *command), name="server") as server:
        until(lambda: listens(PORT), "server listens")
        with Process(*under(link.b, *command, "localhost"), name="client") as client:
            begun = link.b.requests()
            until(lambda: link.b.requests() > begun, "requests are carried out")
            link.b.process.stop(signal.SIGKILL)
            status = client.wait(30)
            if status <= 0:
                raise Failure(f"client: exit {status}\n{client.text}")
        server.kill()
    link.b.start()


def daemon_is_removed(link):
    """While a program waits for events."""
    with Process(*under(link.b, link.b.build.verbtest, "removed"), name="verbtest") as waiting:
        waiting.expect("waiting")
        link.b.process.stop(signal.SIGKILL)
        if waiting.wait(30) != 0:
            raise Failure(waiting.text)
    link.b.start()


def cases(link):
    yield "ndd-verbs finds", lambda: says_what_it_found(link)
    yield "ndd-verbs checks", lambda: checks(link)
    yield "ndd-verbs environment", lambda: sets_the_environment(link)
    yield "ndd-verbs no program", lambda: program_is_not_there(link)
    yield "no wrapper", lambda: without_wrapper(link)
    yield "daemon dies", lambda: daemon_dies(link)
    yield "own removed", lambda: daemon_is_removed(link)


# ---- no daemon, or one that is none --------------------------------------------------------------

def no_daemon(build, folder):
    path = os.path.join(folder, "none.sock")
    want(run(build.ndd_verbs, "--socket", path, "ibv_devices", check=False), 2, f"no daemon at {path}", "Is dpdk-ndd")


def said_once(build, folder):
    path = os.path.join(folder, "none.sock")
    environment = {**os.environ, "NDD_SOCKET": path, "LD_LIBRARY_PATH": f"{build.folder}/lib/ndverbs"}
    done = run("ib_write_bw", check=False, env=environment)
    if done.returncode <= 0 or done.stdout.count(f"no daemon at {path}") != 1:
        raise Failure(f"exit {done.returncode}\n{done.stdout}")


def another_version(build, folder):
    """What answers at the socket speaks another protocol: refused in words, no hang."""
    path = os.path.join(folder, "strange.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.bind(path)
        s.listen()

        def answer():
            peer, _ = s.accept()
            with peer:
                peer.recv(4096)
                peer.send(b"x" * 64)

        threading.Thread(target=answer, daemon=True).start()
        want(run(build.ndd_verbs, "--socket", path, "ibv_devices", check=False), 2, "none of this protocol")


def lone_cases(build, folder):
    yield "no daemon", lambda: no_daemon(build, folder)
    yield "said once", lambda: said_once(build, folder)
    yield "another version", lambda: another_version(build, folder)
