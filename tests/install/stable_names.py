"""The functions of the stable headers, and a check that a binding has them
(python/tests/bindings.py, fortran/left_out.py)."""
import pathlib
import re
import sys


def functions(root: pathlib.Path) -> set[str]:
    """Names, without osla_, that the headers of osla.h declare."""
    names = re.findall(r'#include "(osla_\w+\.h)"', (root / "include/osla.h").read_text())
    found = set()
    for name in names:
        path = root / "include" / name
        text = re.sub(r"/\*.*?\*/|#(\\\n|.)*?\n", " ", path.read_text(), flags=re.S)
        found |= set(re.findall(r"\bosla_(\w+)\(", text))
    return found


def compare(root: pathlib.Path, called: set[str], left_out: dict[str, str], where: str) -> None:
    """Ends with a list of functions that are neither called nor left out, and of names that are
    left out although they are called or do not exist. left_out: for each reason, names or
    patterns of names."""
    declared = functions(root)
    listed = [name for names in left_out.values() for name in names.split()]
    left = declared - called
    missing = sorted(x for x in left if not any(re.fullmatch(name, x) for name in listed))
    stale = sorted(name for name in listed if not any(re.fullmatch(name, x) for x in left))
    if missing or stale or len(declared) < 200:
        sys.exit(f"not in {where}, and not among what is left out: {missing}; there, and in {where} or gone: {stale}")
    print(f"{len(declared) - len(left)} of {len(declared)} functions are in {where}")
