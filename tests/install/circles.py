"""Circles between the files of a folder: groups of sources that call each other, by the symbols of their objects.

usage: circles.py BUILD    (in the tree's root; BUILD is a built folder)
"""

import pathlib
import re
import subprocess
import sys

FOLDERS = ("src", "kernels", "tools", "apps", "bench", "ga_adapt", "scalapack_adapt", "python", "fortran")


def objects_of(build):
    """The objects of each source, as {folder: {source: [object]}}; the name of an object ends in that of its source."""
    found = {}
    for path in sorted(pathlib.Path(build).rglob("*.o")):
        folder = path.parent.parent if path.parent.name == ".libs" else path.parent
        folder = folder.relative_to(build).as_posix()
        source = re.sub(r"^.*-", "", path.name)[:-2] + ".c"
        if folder.startswith(FOLDERS) and pathlib.Path(folder, source).is_file():
            found.setdefault(folder, {}).setdefault(source, []).append(path)
    return found


def symbols(objects):
    """The symbols that the objects define, and those that they use."""
    defined, used = set(), set()
    for line in subprocess.run(["nm", "-P", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) >= 2 and not words[0].endswith(":"):
            (used if words[1] in "Uw" else defined if words[1].isupper() else set()).add(words[0])
    return defined, used


def circles(calls):
    """Strongly connected components of more than one node (Tarjan 1972) in {node: set of nodes}."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(calls[node]):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            first = stack.index(node)
            if len(stack) - first > 1:
                found.append(sorted(stack[first:]))
            del stack[first:]

    for node in sorted(calls):
        if node not in order:
            visit(node)
    return found


def main(build):
    offences = []
    for folder, sources in sorted(objects_of(build).items()):
        table = {source: symbols(objects) for source, objects in sources.items()}
        owner = {name: source for source, (defined, _) in table.items() for name in defined}
        calls = {source: {owner[name] for name in used if name in owner} - {source} for source, (_, used) in table.items()}
        for group in circles(calls):
            offences.append(f"{folder}: a circle of {len(group)} files: {' '.join(group)}")
    print("\n".join(offences) or "no circle in any folder")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
