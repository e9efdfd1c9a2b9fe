# SPDX-License-Identifier: BSD-3-Clause
"""rdma-core's own tests of verbs, by its Python binding, as Debian installs both (python3-pyverbs): each is unmodified,
and its two ends are queue pairs of one device. What fails is known by name, with the reason (pyverbs-failures), and
fails still, unless it depends on luck; tests that find their subject unsupported skip themselves."""

import glob
import gzip
import os
import re
import shutil

from cases import Skip
from sandbox import Failure, run, scratch
from verbs import under

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALLED = "/usr/share/doc/rdma-core/tests"
PYTHON = "/usr/bin/python3"  # the distribution's, which the binding was built for
# Those of others are for vendors' devices, or skip themselves here as a whole.
MODULES = ("addr", "atomic", "cq", "cq_events", "cqex", "device", "fork", "mr", "parent_domain", "pd", "qp", "qpex",
           "relaxed_ordering", "shared_pd")
CM_MODULES = ("rdmacm",)


def unpack(folder):
    """The tests of these modules, and what they import."""
    for path in glob.glob(os.path.join(INSTALLED, "*.py*")):
        name = os.path.basename(path).removesuffix(".gz")
        if name.startswith("test_") and name[5:-3] not in (*MODULES, *CM_MODULES):
            continue
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rb") as packed, open(os.path.join(folder, name), "wb") as plain:
            shutil.copyfileobj(packed, plain)


def known_failures(module):
    """Which fail, and which may."""
    with open(os.path.join(HERE, "pyverbs-failures")) as f:
        lines = [line.split() for line in f if line.startswith(f"tests.test_{module}.")]
    return tuple({name for name, how, *_ in lines if how == word} for word in ("fails", "races"))


def judge(module, status, said):
    """Its tests that failed are those that are known to."""
    ran = re.search(r"^Ran (\d+) tests? in", said, re.M)
    if not ran or status not in (0, 1):
        raise Failure(f"exit {status}\n{said[-4000:]}")
    failed = set(re.findall(r"^(?:ERROR|FAIL): \w+ \((tests\.[\w.]+)\)", said, re.M))
    fails, races = known_failures(module)
    if failed - races != fails or bool(failed) != bool(status):
        raise Failure(f"not as known: {sorted((failed - races) ^ fails)}\n{said[-8000:]}")
    skipped = re.search(r"skipped=(\d+)", said)
    count, left_out = int(ran[1]), int(skipped[1]) if skipped else 0
    if left_out == count:
        raise Failure(f"all skipped\n{said[-4000:]}")
    return f"{count - left_out - len(failed)} passed, {len(failed)} failed as known, {left_out} skipped"


def own_tests(link, module):
    if not os.path.exists(os.path.join(INSTALLED, "run_tests.py")):
        raise Skip("no-pyverbs")
    with scratch("ndd-pyverbs-") as folder:
        tests = os.path.join(folder, "tests")
        os.mkdir(tests)
        unpack(tests)
        done = run(*under(link.a, PYTHON, os.path.join(tests, "run_tests.py"), "--dev", "ndd0", "-v",
                          f"tests.test_{module}"), check=False, timeout=110)
    return judge(module, done.returncode, done.stdout)


def cases(link):
    for module in MODULES:
        yield f"pyverbs {module}", lambda m=module: own_tests(link, m)


def interface_cases(link):
    """They connect to the address of the device's interface, and skip themselves where it has none."""
    for module in CM_MODULES:
        yield f"pyverbs {module}", lambda m=module: own_tests(link, m)
