#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The generator makes these mutants of a small source, and each does what its name says when it is alive. What runs
the tests gives a test with parameters each of them."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build  # noqa: E402
import catalogue  # noqa: E402
import rewrite  # noqa: E402

SOURCE = """\
#include <stdbool.h>
#define LIMIT 7
enum colour { RED, GREEN, BLUE };
struct pair { int a, b; };

static int base_log, base_count;

static void
base_note(int *log, int x)
{
	*log = *log * 10 + x;
}

int
base_sample(int x, enum colour c)
{
	struct pair p = {.a = 5, .b = 0};

	base_log = 0;
	if (x < LIMIT && c == GREEN)
		base_note(&base_log, 1);
	base_note(&base_log, 2);
	base_log += 10;
	switch (c) {
	case BLUE:
		base_note(&base_log, 3 | 4);
		break;
	default:
		break;
	}
	base_count++;
	return base_log + p.a;
}

int
base_least(int x, int y)
{
	base_log += x;
	base_log -= y;
	if (y > 9)
		y = 9;
	return x <= y ? x : y;
}
"""
# Of base_sample(): operator, text, and what base_sample(7, GREEN) and base_sample(6, BLUE) return.
EXPECTED = {
    ("init", "5"): (12, 127),
    ("delete", "base_log = 0;"): None,  # depends on what was before
    ("const", "0"): (27, 232),
    ("true", "x < LIMIT && c == GREEN"): (27, 232),
    ("false", "x < LIMIT && c == GREEN"): (17, 132),
    ("true", "x < LIMIT"): (27, 132),
    ("tight", "x < LIMIT"): (17, 132),
    ("loose", "x < LIMIT"): (27, 132),
    ("true", "c == GREEN"): (17, 232),
    ("below", "c == GREEN"): (17, 132),
    ("above", "c == GREEN"): (17, 232),
    ("delete", "base_note(&base_log, 1);"): (17, 132),
    ("const", "1"): (17, 132),
    ("delete", "base_note(&base_log, 2);"): (15, 112),
    ("const", "2"): (18, 142),
    ("swap", "base_note(&base_log, 2); | base_log += 10;"): (107, 1032),
    ("delete", "base_log += 10;"): (7, 32),
    ("const", "10"): (18, 142),
    ("case", "c | BLUE"): (17, 17),
    ("delete", "base_note(&base_log, 3 | 4);"): (17, 17),
    ("drop", "3 | 4"): (17, 128),
    ("delete", "base_count++;"): (17, 132),
    ("return", "base_log + p.a"): (0, 0),
    ("arith", "base_log + p.a"): (7, 122),
}
# All that is made of base_least(): a step of either side of a bound, and no other order of two sums.
LEAST = {
    ("delete", "base_log += x;"), ("delete", "base_log -= y;"),
    ("true", "y > 9"), ("false", "y > 9"), ("tight", "y > 9"), ("delete", "y = 9;"), ("const", "9"),
    ("return", "x <= y ? x : y"), ("true", "x <= y"), ("false", "x <= y"), ("loose", "x <= y"),
}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "%s"
int main(void)
{
	int first = base_sample(7, GREEN);
	printf("%%d %%d", first, base_sample(6, BLUE));
	return 0;
}
"""
# A test of three numbers, of which the second is not always right.
PARAMETERS = """
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

static int numbers[] = {1, SECOND, 3}, runs;

ParameterizedTestParameters(runner, numbers)
{
	return cr_make_param_array(int, numbers, 3);
}

ParameterizedTest(const int *number, runner, numbers)
{
	cr_assert_eq(*number, number - numbers + 1);
	cr_assert_eq(++runs, 1, "in a process of its own");
}
"""


def make(folder):
    """(all mutants of base_sample(), a program with them)"""
    source = folder / "lib/base/sample.c"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    all_of = catalogue.Catalogue(folder)
    all_of.number_all(folder / "numbers")
    source.write_text(rewrite.File(SOURCE, all_of.sites).rendered())
    main = folder / "main.c"
    main.write_text(MAIN % source)
    here = pathlib.Path(__file__).resolve().parent
    build.run("gcc", "-w", "-include", here / "mutant.h", "-o", folder / "program", main, here / "mutant.c")
    return all_of.mutants, folder / "program"


def check(mutants, program):
    for key in LEAST ^ {(m.operator, m.text) for m in mutants if m.function == "base_least"}:
        yield f"{'not made' if key in LEAST else 'made'}: {key}"
    made = {(m.operator, m.text): m for m in mutants if m.function == "base_sample"}
    for key in EXPECTED.keys() - made.keys():
        yield f"not made: {key}"
    for key in made.keys() - EXPECTED.keys():
        yield f"made: {key}"
    for key, m in made.items():
        out = build.run(program, env={"NDD_MUTANT": str(m.number)})
        if EXPECTED.get(key) is not None and tuple(map(int, out.split())) != EXPECTED[key]:
            yield f"{key}: {out}"


def failed(folder, second):
    """What the runner says of the test with these parameters."""
    here = pathlib.Path(__file__).resolve().parent
    source, program = folder / "parameters.c", folder / "parameters"
    source.write_text(PARAMETERS)
    build.run("gcc", "-w", f"-DSECOND={second}", "-o", program, source, here / "mutant.c", here / "forking.c",
              "-lcriterion")
    return subprocess.run([program], input="0 0 60 60 -\n", capture_output=True, text=True, check=True).stdout[:1]


def check_runner(folder):
    for second, want in ((2, "0"), (5, "1")):
        if failed(folder, second) != want:
            yield f"a test of 1, {second} and 3 {'fails' if want == '0' else 'passes'}"


def main():
    if shutil.which("clang") is None and shutil.which("clang-14") is None:
        print("0 passed, 0 failed, 1 skipped")
        return 77
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        mutants, program = make(pathlib.Path(name))
        unharmed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        faults = list(check(mutants, program)) + ([] if unharmed == "17 132" else [f"without any: {unharmed}"])
        faults += check_runner(pathlib.Path(name))
    for fault in faults:
        print(fault)
    print(f"{len(EXPECTED) + 2 - len(faults)} passed, {len(faults)} failed, 0 skipped")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
