"""The runs of each study on simulated machines (bench/scripts/study)."""

import math
import re
import sys


def fail(text, status=2):
    print(f"simulate: {text}", file=sys.stderr)
    sys.exit(status)


def whole(text, what, most):
    if not re.fullmatch("[1-9][0-9]{0,8}", text) or int(text) > most:
        fail(f"{what}: '{text}' is not a whole number from 1 to {most}")
    return int(text)


# Floating-point operations of each kernel, as a multiple of N^3.
FLOPS = {"gemm": 2, "lu": 2 / 3, "lu-nopivot": 2 / 3, "hpl": 2 / 3, "chol": 1 / 3}
# OSLA's block size in each kernel, and that of other programs: the best of 32, 64 and 128 on 16
# ranks of xt4.
BLOCK = {"gemm": 1024, "lu": 64, "chol": 64, "hpl": 64}
PEER_BLOCK = {"gemm": 64, "lu": 32, "lu-nopivot": 32, "chol": 64, "hpl": 64}


def grid_of(ranks):
    rows = next(r for r in range(math.isqrt(ranks), 0, -1) if ranks % r == 0)
    return rows, ranks // rows


def run(who, kernel, ranks, each, **more):
    """Returns a run, a dictionary of its parameters. who: the program (osla, scalapack, hpl or
    mpi); each: ranks on each host."""
    return {"who": who, "kernel": kernel, "ranks": ranks, "each": each} | more


def block_of(kernel, n, grid):
    """Returns OSLA's block size for a matrix of order n on a process grid (rows, columns). It is at
    most n / max(grid), rounded up, unless this is below 32. In larger blocks the matrix would have
    fewer block rows or columns than the grid has rows or columns, so some ranks would own no data.
    If n / max(grid) were rounded down, one process row or column could own one block more than the
    others."""
    return min(BLOCK[kernel], max(32, -(-n // max(grid))))


def of_kernel(o, kernel, ranks, n, each=None, **more):
    """Returns OSLA's run of a kernel, and with --peers the runs of other programs. LU with partial
    pivoting is compared with pdgetrf and HPL. LU without pivoting is compared with a pdgetrf whose
    pivot is always the diagonal element."""
    each = each or o.each
    runs = [run("osla", kernel, ranks, each, n=n, nb=block_of(kernel, n, grid_of(ranks)), **more)]
    pivots = more.get("pivoting") != "none"
    for who, routine in [("scalapack", kernel if pivots else "lu-nopivot")] + [("hpl", "hpl")] * (kernel == "lu" and pivots):
        if who in o.programs:
            runs.append(run(who, routine, ranks, each, n=n, nb=PEER_BLOCK[routine],
                            **{k: v for k, v in more.items() if k == "disturbance"}))
    return runs


def weak_order(o, ranks):
    return round((o.n or 1024) * math.sqrt(ranks) / 64) * 64 or 64


def scaling(kernel, weak, **more):
    def runs(o):
        return [r for p in o.ranks for r in of_kernel(o, kernel, p, weak_order(o, p) if weak else o.n or 16384, **more)]
    return runs


def protocols(o):
    return [run("osla", "gemm", p, o.each, n=o.n or 16384, nb=512, ablate=True) for p in o.ranks]


# For each order of the Hessian: number of indices of an update, seconds to make an update, and
# bytes of memory for updates in flight. The seconds follow from tables I and II of French et al.:
# 64 updates of order 220,000 take 570 s. In the paper a process has 32 GB, enough for four times
# the bytes given here. Assumptions: an update has 4,000 indices for order 220,000, and G has 100
# rows. The paper gives no numbers, but n ~ N_r sqrt(N_theta,phi) indices, for a model of N_r by
# N_theta,phi parameters (depth by latitude and longitude), and at least 100 rows.
UPDATE = {110000: (2000, 4.9, 64 << 20), 220000: (4000, 8.9, 256 << 20), 820000: (8000, 18.0, 1 << 30)}


def updates_of(n):
    """Returns the parameters of the updates of a Hessian of order n. size: number of indices of an
    update; making: seconds to make an update; room: bytes of memory for updates in flight."""
    size, making, room = UPDATE.get(n, UPDATE[220000])
    return {"size": size, "making": making, "room": room}


def updates_of_rank(total, ranks, option):
    """Returns the number of updates of each rank. If the ranks cannot share `total` updates
    equally, ends the study with an error that names `option`."""
    if total % ranks:
        fail(f"{option}: {total} updates cannot be divided equally among {ranks} ranks")
    return total // ranks


def assembly(weak):
    def runs(o):
        n = o.n or 220000
        result = []
        for p in o.ranks:
            updates = (o.updates or 4) if weak else updates_of_rank(o.updates or 4096, p, "--updates")
            result.append(run("osla", "hessian", p, min(o.each, 2), n=n, nb=64, updates=updates, **updates_of(n)))
        return result
    return runs


def disturbed(o):
    return [r for p in o.ranks for kernel in ("gemm", "lu", "chol") for d in ("", "host=2", "line=4", "noise=0.1")
            for r in of_kernel(o, kernel, p, weak_order(o, p), disturbance=d)]


def choices(o):
    result = []
    for p in o.ranks:
        n, (rows, cols) = weak_order(o, p), grid_of(p)
        for kernel in ("gemm", "lu", "chol"):
            best = block_of(kernel, n, (rows, cols))
            for block in (best, best // 2, best // 4 if kernel == "gemm" else best * 2):
                result.append(run("osla", kernel, p, o.each, n=n, nb=block))
            for grid in sorted({(cols, rows), (rows // 2, cols * 2), (rows * 2, cols // 2)} - {(rows, cols)}):
                if grid[0] * grid[1] == p:
                    result.append(run("osla", kernel, p, o.each, n=n, nb=block_of(kernel, n, grid), process_grid=f"{grid[0]}x{grid[1]}"))
            each = o.each
            while each > 1 and p <= o.hosts * (each // 2):
                each //= 2
                result.append(run("osla", kernel, p, each, n=n, nb=best))
    return result


STUDIES = {f"{k}-{how}": scaling(k, how == "weak") for k in ("gemm", "lu", "chol") for how in ("weak", "strong")}
STUDIES |= {f"lu-nopivot-{how}": scaling("lu", how == "weak", pivoting="none") for how in ("weak", "strong")}
STUDIES |= {"gemm-protocols": protocols, "assembly": assembly(False), "assembly-weak": assembly(True),
            "disturbed": disturbed, "choices": choices}
