#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a manual page's NAME section names, a line each.

usage: names.py PAGE
"""
import re
import sys


def names(path):
    with open(path) as f:
        section = re.search(r"^\.Sh NAME\n(.*?)^\.Nd ", f.read(), re.M | re.S)
    return re.findall(r"^\.Nm (\S+)", section.group(1), re.M)


if __name__ == "__main__":
    print("\n".join(names(sys.argv[1])))
