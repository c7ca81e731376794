"""Checks that every test is in tests/list, and that tests in tests/list are built or distributed;
run by check_tree.sh in the tree's root.

Prints a line for each test that violates this.
"""

import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
from runner import plan  # noqa: E402


def sources_of(makefile):
    """The variables of a Makefile.mk: {program or list: the words of its definition}, including
    continued lines."""
    found = {}
    with open(makefile, encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    for name, words in re.findall(r"^(\w+) *\+?= *(.*)$", text, re.M):
        found.setdefault(name, set()).update(words.split("#")[0].split())
    return found


def main():
    runs = plan.read("tests/list")
    listed = {run.name for run in runs}
    patterns = "test_*.c", "test_*.f90", "test_*.sh", "check_*.sh"
    for file in sorted(file for pattern in patterns for folder in ("tests/*", "apps/*/tests")
                       for file in glob.glob(f"{folder}/{pattern}")):
        name = os.path.basename(file)
        name = name if name.endswith(".sh") else name.split(".")[0]
        if name not in listed:
            print(f"{file}: no line of tests/list names it")
    for path, name in sorted({(run.path, run.name) for run in runs}):
        folder = os.path.dirname(path)
        words = sources_of(f"{folder}/Makefile.mk")
        everything = set().union(*words.values())
        if os.path.basename(path) == name:  # a script, or a program of its own
            if path not in everything:
                print(f"{path}: not in {folder}/Makefile.mk")
        elif f"{folder}/{name}.c" not in words.get(path.replace("/", "_") + "_SOURCES", set()):
            print(f"{folder}/{name}.c: not a source of {path} in {folder}/Makefile.mk")
        elif f"OSLA_TEST_SUITE({name}," not in open(f"{folder}/{name}.c", encoding="utf-8").read():
            print(f"{folder}/{name}.c: it names no suite {name}")


if __name__ == "__main__":
    try:
        main()
    except (plan.ListError, OSError) as error:
        print(error)
