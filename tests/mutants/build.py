# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree whose libraries have all mutants inside, and a build of its tests.

Files that are as before are left alone, so a second build compiles what has changed."""

import filecmp
import json
import os
import pathlib
import shutil
import subprocess

import rewrite

HERE = pathlib.Path(__file__).resolve().parent
# Locals that a mutant leaves unset are always the same garbage.
FLAGS = "-w -DROCE_CHECKS -ftrivial-auto-var-init=pattern"


def run(*command, **kw):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **kw)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))[:100]}: exit status {done.returncode}\n"
                           + "\n".join(done.stdout.splitlines()[-30:]))
    return done.stdout


class Build:
    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self.tree = folder / "tree"
        self.build = folder / "build"
        self.programs = None

    def copy(self, written):
        """written: {path: text} of the files with mutants."""
        wanted = set()
        for folder, folders, files in os.walk(self.root):
            at = pathlib.Path(folder)
            if at == self.root:
                folders[:] = [f for f in folders if f in ("lib", "tests", "app", "drivers", "doc", "devtools", "config")]
            for name in files:
                path = str((at / name).relative_to(self.root))
                wanted.add(path)
                to = self.tree / path
                to.parent.mkdir(parents=True, exist_ok=True)
                if path in written:
                    text = written[path].encode("latin-1")
                    if not to.exists() or to.read_bytes() != text:
                        to.write_bytes(text)
                elif not to.exists() or not filecmp.cmp(at / name, to, shallow=False):
                    shutil.copy2(at / name, to)
                    os.utime(to)
        for path in self.tree.rglob("*"):
            if path.is_file() and str(path.relative_to(self.tree)) not in wanted:
                path.unlink()

    def make(self, catalogue):
        """Returns how many numbers there are."""
        self.folder.mkdir(exist_ok=True)
        last = catalogue.number_all(self.folder / "numbers")
        by_file = {}
        for site in catalogue.sites:
            by_file.setdefault(site.span[0], []).append(site)
        self.copy({path: rewrite.File(catalogue.sources.text[path], sites).rendered()
                   for path, sites in by_file.items()})
        header = self.tree / "tests/mutants/mutant.h"
        objects = self.runtime()
        self.configure("-Ddaemon=disabled", "-Dtests=enabled", "-Dwerror=false", "-Dbuildtype=plain",
                       f"-Dc_args=-O1 {FLAGS} -include {header}", f"-Dc_link_args={' '.join(objects)}")
        run("ninja", "-C", self.build)
        return last

    def configure(self, *options):
        stamp, said = self.build / "options", "\n".join(options)
        if not stamp.exists() or stamp.read_text() != said:
            shutil.rmtree(self.build, ignore_errors=True)
            run("meson", "setup", self.build, self.tree, *options)
            stamp.write_text(said)

    def runtime(self):
        """The objects that every program is linked with. Ninja does not know of them."""
        objects = []
        for source in ("tests/mutants/mutant.c", "tests/mutants/forking.c"):
            name = self.folder / f"{pathlib.Path(source).stem}.o"
            before = name.read_bytes() if name.exists() else b""
            run("gcc", "-O2", "-fPIC", "-Wall", "-Werror", "-c", "-o", name, self.tree / source)
            if name.read_bytes() != before:
                for program in [*self.build.glob("tests/unit/test_*"), self.build / "tests/sim/sim"]:
                    if program.is_file():
                        program.unlink()
            objects.append(str(name))
        return objects

    def sources_of(self, program):
        """The sources that a test program consists of, beside the libraries."""
        if self.programs is None:
            targets = json.loads((self.build / "meson-info/intro-targets.json").read_text())
            self.programs = {t["name"]: [os.path.relpath(p, self.tree) for group in t["target_sources"]
                                         for p in group.get("sources", ())] for t in targets}
        return self.programs[program]
