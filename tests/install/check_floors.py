"""Checks that includes point downward only (doc/design.md, section 2): lists every include that
does not. Run in the tree's root.

A folder may include its own headers and those of the folders that RULES lists. Public headers
are included by name, and belong to the folders that include/README.md names.
"""

import pathlib
import re
import sys

BELOW_KERNELS = "src/file src/matrix src/memory src/transport src/blas src/device src/base"
RULES = {
    "src/base": "",
    "src/device": "src/base",
    "src/blas": "src/device src/base",
    "src/device/fake": "src/device src/blas src/base",
    "src/device/cuda": "src/device",
    "src/transport": "src/device src/base",
    "src/transport/mpi": "src/transport src/base",
    "src/transport/armci": "src/transport src/transport/mpi src/base",
    "src/transport/shmem": "src/transport src/transport/mpi src/base",
    "src/simulation": "src/transport src/blas src/base",
    "src/memory": "src/device src/device/fake src/transport src/base",
    "src/matrix": "src/memory src/transport src/blas src/device src/base",
    "src/file": "src/matrix src/memory src/transport src/blas src/base",
    "kernels/common": BELOW_KERNELS,
    "kernels/gemm": f"kernels/common {BELOW_KERNELS}",
    "kernels/products": f"kernels/common kernels/gemm {BELOW_KERNELS}",
    "kernels/lu": f"kernels/common {BELOW_KERNELS}",
    "kernels/chol": f"kernels/common {BELOW_KERNELS}",
    "kernels/inverse": f"kernels/common kernels/chol kernels/lu {BELOW_KERNELS}",
    "kernels/hessian": f"kernels/common {BELOW_KERNELS}",
    "kernels/forest": f"kernels/common {BELOW_KERNELS}",
    "kernels/sparse": f"kernels/common kernels/forest {BELOW_KERNELS}",
    "kernels/iterate": f"kernels/common kernels/sparse kernels/forest {BELOW_KERNELS}",
    "kernels/solve": f"kernels/common kernels/gemm kernels/products kernels/lu kernels/chol {BELOW_KERNELS}",
}
# Only src/transport may use MPI's one-sided calls.
RMA = re.compile(r"\bMPI_(Win_[a-z_]+|R?[Pp]ut|R?[Gg]et|R?[Aa]ccumulate|R?[Gg]et_accumulate|Fetch_and_op|Compare_and_swap) *\(|"
                 r"\bMPI_Win\b")
FOREIGN = (("GA or ARMCI", re.compile(r'[<"](ga|armci|macdecls)\.h'), lambda file: re.match(r"src/transport/[^/]*armci|ga_adapt/|tests/|bench/", file)),
           ("OpenSHMEM", re.compile(r'[<"]shmem\.h'), lambda file: re.match(r"src/transport/shmem/|tests/|bench/", file)),
           ("SimGrid's", re.compile(r'[<"]simgrid'), lambda file: file.startswith(("src/simulation/", "bench/peers/", "bench/scripts/"))))


def public_rooms():
    rooms = {}
    for line in pathlib.Path("include/README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 4:
            rooms.update({header: cells[1] for header in cells[2].split() if header.endswith(".h")})
    return rooms


def sources(*folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp"):
                yield path.as_posix(), path.read_text(encoding="utf-8")


def main():
    rooms, offences = public_rooms(), []
    present = {path.name for path in pathlib.Path("include").glob("*.h")}
    if set(rooms) != present:
        offences.append(f"include/README.md: its table and the folder differ in {' '.join(sorted(set(rooms) ^ present))}")
    for file, text in sources("include", "src", "kernels", "tools", "apps", "bench", "ga_adapt", "scalapack_adapt", "python", "fortran"):
        room = rooms.get(file[8:]) if file.startswith("include/") else file.rpartition("/")[0]
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
            if not found:
                if file.startswith(("src", "kernels", "tools", "apps")) and not file.startswith("src/transport/") and RMA.search(line):
                    offences.append(f"{file}:{number}: MPI's one-sided calls above the transport")
                continue
            for whose, pattern, allowed in FOREIGN:
                if pattern.search(line) and not allowed(file):
                    offences.append(f"{file}:{number}: headers of {whose} outside their place")
            target = rooms.get(found[2]) or (found[2].rpartition("/")[0] if pathlib.Path(found[2]).is_file() else None)
            if file.startswith("apps/") and "/tests/" not in file:  # an application may include public headers, tools/common/, and its own headers
                if target and not found[2].startswith(("osla_", "tools/common/", "apps/")) and found[2] != "osla.h":
                    offences.append(f"{file}:{number}: an application includes {found[2]} of {target}")
            elif found[2].startswith("apps/") and file != "tools/osla.c" and not file.startswith(("apps/", "tests/")):
                offences.append(f"{file}:{number}: includes {found[2]}; an application is included by tools/osla.c alone")
            if room not in RULES or target in (None, room):  # folders above the kernels may include everything; or a system header
                continue
            if target not in RULES[room].split():
                offences.append(f"{file}:{number}: {room} includes {found[2]} of {target}; it may include: {RULES[room] or 'nothing else'}")
    print("\n".join(offences) or "every include points downward")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
