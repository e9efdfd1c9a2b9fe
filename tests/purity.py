#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pure libraries stay pure: no header and no symbol that reaches the operating system.

usage: purity.py SOURCE_ROOT ARCHIVE...      (lib/<room>/lib<name>.a)

Sources: each #include must be one of a few libc headers without state, the CRC, or a header of
these libraries (which of them may include which is checked by devtools/checks/layers). Archives:
each undefined symbol must be one of a few functions of libc that only touch the memory they are
given, the CRC, or a symbol of the archives themselves.
Writable data in an archive is a global, and refused as well.
"""
import pathlib
import re
import subprocess
import sys

LIBC_HEADERS = {"assert.h", "limits.h", "stdbool.h", "stddef.h", "stdint.h",
                "string.h", "sys/queue.h"}
ROOMS = {"base", "shm", "wire", "cm", "roce", "net"}
EXTRA_HEADERS = {"wire": {"isa-l/crc.h"}}
# bcmp: clang writes it for a memcmp() that is only compared with 0.
# __cpu_model: what __builtin_cpu_supports() reads; libgcc's, constant after start.
SYMBOLS = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "memchr", "strlen", "strcmp", "strnlen",
           "crc32_gzip_refl", "__cpu_model", "abort", "__assert_fail", "_GLOBAL_OFFSET_TABLE_",
           "__stack_chk_fail", "__memcpy_chk", "__memset_chk", "__memmove_chk"}
INSTRUMENTATION = re.compile(r"__(asan|ubsan|tsan|sanitizer|gcov|llvm)_|__start___|__stop___")
GLOBALS = re.compile(r"\.t?(data|bss)(?!\.rel\.ro)|\*COM\*")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def check_includes(root):
    for room in sorted(ROOMS):
        allowed = LIBC_HEADERS | EXTRA_HEADERS.get(room, set())
        for path in sorted((root / "lib" / room).rglob("*.[ch]")):
            for name in INCLUDE.findall(path.read_text()):
                ours = (path.parent / name).exists() or name.split("/")[0] in ROOMS
                if name not in allowed and not ours:
                    yield f"{path.relative_to(root)}: includes {name}"


def nm(archive):
    """(name, section) of each symbol; the section of an undefined one is *UND*."""
    out = subprocess.run(["nm", "--format=sysv", archive], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        fields = [f.strip() for f in line.split("|")]
        if len(fields) == 7 and fields[0] != "Name":
            yield fields[0], fields[6]


def check_archives(archives):
    seen = {archive: list(nm(archive)) for archive in archives}
    own = {name for symbols in seen.values() for name, section in symbols if section != "*UND*"}
    for archive, symbols in seen.items():
        # Instrumentation has data of its own; builds without it are the judge of globals.
        plain = not any(INSTRUMENTATION.match(name) for name, _ in symbols)
        for name, section in symbols:
            if section == "*UND*":
                if name not in SYMBOLS | own and not INSTRUMENTATION.match(name):
                    yield f"{archive}: needs {name}"
            elif plain and GLOBALS.match(section):
                yield f"{archive}: global {name} in {section}"


def main():
    root = pathlib.Path(sys.argv[1])
    faults = list(check_includes(root)) + list(check_archives(sys.argv[2:]))
    for fault in faults:
        print(fault)
    print(f"purity: {len(sys.argv) - 2} archives, {len(faults)} faults")
    return 1 if faults or len(sys.argv) < 3 else 0


sys.exit(main())
