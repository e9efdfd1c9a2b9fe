#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: embed.py FILE NAME OUTPUT: a C header with the file as an array of that name."""
import pathlib
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
rows = (", ".join(f"0x{b:02x}" for b in data[at:at + 16]) for at in range(0, len(data), 16))
pathlib.Path(sys.argv[3]).write_text(
    f"static const unsigned char {sys.argv[2]}[] = {{\n\t" + ",\n\t".join(rows) + ",\n};\n")
