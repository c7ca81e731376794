"""Studies on simulated machines that repeat the figures and tables of Krishnan et al. (2010), of
French et al. (2015) and of Zhang et al. (2022). The pictures also show values of the papers, but
only those that texts and tables give: the papers print most values in pictures only."""

import json
import os

import study_migration
from study_cases import FLOPS, of_kernel, protocols, run, updates_of, updates_of_rank

here = os.path.dirname(os.path.abspath(__file__))


# ---- Krishnan, Lewis, Vishnu, Scaling linear algebra kernels using remote memory access ----

def beside(m, kernel, ranks, n, **more):
    """Returns OSLA's run and, with --peers, ScaLAPACK's."""
    return [r for r in of_kernel(m, kernel, ranks, n, **more) if r["who"] in ("osla", "scalapack")]


NODE_ORDERS = (512, 1024, 2048, 4096, 8192)


def node_runs(m):
    """Returns the runs on one node, where OSLA's grid has one process row."""
    products = [r | ({"nb": min(1024, r["n"] // r["ranks"])} if r["who"] == "osla" else {})
                for p in m.ranks for n in NODE_ORDERS for r in beside(m, "gemm", p, n)]
    return products + [r for p in m.ranks for n in NODE_ORDERS for r in beside(m, "lu", p, n, pivoting="none")]


# Least and largest number of ranks for each N of Krishnan et al., Fig. 4.
ORDERS = {4096: (16, 1024), 16384: (64, 8192), 65536: (1024, 8192)}


def strong_runs(m):
    return [r for p in m.ranks for n, (least, most) in ORDERS.items() if least <= p <= most for r in beside(m, "gemm", p, n)]


def lu_runs(m):
    return [r for p in m.ranks for r in beside(m, "lu", p, 8000, pivoting="none")]


def weak_runs(m):
    return [r for p in m.ranks if p != 10000 or m.machine == "xt4" for r in beside(m, "gemm", p, round(1024 * p ** 0.5))]


WHO = {"osla": "OSLA", "scalapack": "ScaLAPACK", "mpi": "MPI_Accumulate"}


def total_rate(r):
    """Returns Gflop/s of all ranks."""
    return FLOPS[r["kernel"]] * r["n"] ** 3 / r["seconds_median"] / 1e9


def curves(results, x, y, label):
    """Returns curves (label, points, style) through the points (x(r), y(r)) of the runs r. Runs
    with equal label(r) form a curve. Curves are sorted by their first run in `results`."""
    found = {}
    for r in results:
        found.setdefault(label(r), []).append((x(r), y(r)))
    return [(name, sorted(points), "linespoints") for name, points in found.items()]


def program(r):
    return WHO[r["who"]]


def measured(folder, kernel):
    """Returns curves of the rates that were measured on two cores (results/FOLDER)."""
    best = {}
    with open(os.path.join(here, "..", "..", "results", folder, "results.jsonl")) as file:
        for r in map(json.loads, file):
            who = WHO.get(r["impl"].split("-")[0])
            if r["kernel"] == kernel and who and r["ranks"] == 2 and r["precision"] == "d" and r["grid"] == "1x2":
                best[who, r["n"]] = max(r["rate"], best.get((who, r["n"]), 0))
    return [(f"{who}, measured", sorted((n, rate) for (w, n), rate in best.items() if w == who), "linespoints")
            for who in WHO.values() if any(w == who for w, n in best)]


def kernel_of(r):
    return r["kernel"].split("-")[0]


def node_panels(results):
    axes = {"xlabel": "matrix size N", "ylabel": "Gflop/s", "log": "x"}
    panels = []
    for kernel, name in (("gemm", "dgemm"), ("lu", "LU without pivoting")):
        paper = [("paper, RMA", [(4096, 58)], "points"), ("paper, ScaLAPACK", [(4096, 20)], "points")] if kernel == "gemm" else []
        mine = [r for r in results if kernel_of(r) == kernel]
        panels.append(axes | {"title": f"{name}, 8 ranks on a node, simulated",
                              "curves": curves(mine, lambda r: r["n"], total_rate, program) + paper})
    for folder, kernel in (("gemm", "gemm"), ("lu-chol", "lu")):
        panels.append(axes | {"title": f"{kernel}{' with pivoting' if kernel == 'lu' else ''}, 2 ranks on 2 cores, measured",
                              "curves": measured(folder, kernel)})
    return panels


def scaling_panels(results, y, ylabel, paper, label=program):
    """Returns a panel for each machine, with y(r) against ranks. paper: for each machine, the
    curves of the paper's values."""
    return [{"title": f"{NAMES[machine]}, simulated", "xlabel": "processes", "ylabel": ylabel, "log": "xy",
             "curves": curves([r for r in results if r["machine"] == machine], lambda r: r["ranks"], y, label) +
             paper.get(machine, [])} for machine in dict.fromkeys(r["machine"] for r in results)]


NAMES = {"opteron": "InfiniBand (opteron)", "xt4": "Cray XT4", "xc30": "Cray XC30"}


def seconds(r):
    return r["seconds_median"]


def strong_panels(results):
    return scaling_panels(results, total_rate, "Gflop/s", {}, lambda r: f"{program(r)}, N = {r['n']}")


def lu_panels(results):
    return scaling_panels(results, total_rate, "Gflop/s", {})


def weak_panels(results):
    # the paper gives 60 and 42 Tflop/s, on 10,000 processes with N = 102,400
    paper = [(f"paper, {name}", [(10000, 2 * 102400**3 / rate)], "points")
             for name, rate in (("RMA", 60e12), ("ScaLAPACK", 42e12))]
    return scaling_panels(results, seconds, "seconds", {"xt4": paper})


# Krishnan et al., Table I: protocol, as in the names of osla-bench's variants, and the paper's
# Tflop/s. Variants with "unshifted+" before this name begin with the rank's own block; without it,
# all ranks begin with the first owner. Without zero copy the cores copy each message (machine
# opteron-copies).
PROTOCOLS = (("none", 3.5), ("nonblocking", 4.1), ("zero-copy", 4.9), ("zero-copy+nonblocking", 5.9),
             ("zero-copy+nonblocking+order", 6.2))


def protocol_panels(results):
    of = {(r["impl"], "copies" in r["machine"]): total_rate(r) / 1000 for r in results}
    rows = []
    for name, paper in PROTOCOLS:
        copies, ordered = "zero-copy" not in name, "order" in name
        rates = [of.get((f"osla:{begin}{name}", copies), float("nan")) for begin in ("" if ordered else "unshifted+", "")]
        rows.append((name.replace("+", "\\n"), (paper, *rates)))
    title = f"protocols on {results[0]['ranks']} ranks, N = {results[0]['n']}, simulated"
    return [{"title": title, "xlabel": "", "ylabel": "Tflop/s",
             "bars": (("paper", "begin with the own block", "begin with the first owner"), rows)}]


# ---- French, Zheng, Romanowicz, Yelick, Parallel Hessian assembly (2015) ----

# French et al., Table I: seconds, by (order, number of updates) and by ranks.
TABLE_1 = {(110000, 4096): {4: 5070.59, 16: 1271.40, 64: 322.24},
           (110000, 32768): {4: 39948.20, 16: 10016.61, 64: 2538.74, 256: 640.96, 1024: 171.68}}
# French et al., Table II: seconds by ranks, for order 220,000 and 64 updates of each rank.
TABLE_2 = {"UPC++": {16: 591.18, 64: 592.50, 256: 597.24, 1024: 609.96}, "MPI": {64: 1064.50, 256: 1345.66, 1024: 3467.65}}
# French et al., Table I: numbers of updates
UPDATES = (4096, 32768)


def assembly_runs(m):
    return [run("osla", "hessian", p, min(m.each, 2), n=110000, nb=64,
                updates=updates_of_rank(total, p, "--ranks"), **updates_of(110000))
            for total in UPDATES for p in m.ranks]


def assembly_weak_runs(m):
    parameters = {"n": 220000, "nb": 64, "updates": m.updates or 64} | updates_of(220000)
    ours = [run("osla", "hessian", p, min(m.each, 2), **parameters) for p in m.ranks]
    theirs = [run("mpi", "accumulate", p, min(m.each, 2), **parameters) for p in m.ranks if p > 16]
    return ours + (theirs if "accumulate" in m.programs else [])


def ideal(points):
    """Returns the points of ideal scaling from the first one."""
    (p0, t0), *_ = points
    return [(p, t0 * p0 / p) for p, t in points]


def assembly_panels(results):
    time, ratio = [], []
    for total in UPDATES:
        mine = sorted((r["ranks"], seconds(r)) for r in results if r["updates"] * r["ranks"] == total)
        paper = sorted(TABLE_1[110000, total].items())
        for name, points in (("OSLA", mine), ("paper", paper)):
            if points:
                label = f"{name}, {total} updates"
                style = "linespoints" if name == "OSLA" else "points"
                time.append((label, points, style))
                ratio.append((label, [(p, best / t) for (p, t), (_, best) in zip(points, ideal(points))], style))
        if mine:
            time.append((f"ideal, {total} updates", ideal(mine), "lines"))
    axes = {"xlabel": "P", "title": "N = 110,000 on the Cray XC30, simulated"}
    return [axes | {"ylabel": "seconds", "log": "xy", "curves": time},
            axes | {"ylabel": "E_R, ratio to ideal", "log": "x", "least": 0.8, "curves": ratio}]


# Phases of an update: key in a run's result, and label.
PHASES = (("split", "binning"), ("transfer", "sending"), ("add", "adding on the node"), ("product", "product"), ("wait", "commit"))


def assembly_weak_panels(results):
    mine = [r for r in results if r["who"] == "osla"]
    each = mine[0]["updates"]
    theirs = [(f"paper, {name}", sorted(of.items()), "points") for name, of in TABLE_2.items()] if each == 64 else []
    rows = [(r["ranks"], [r["phases"][key] for key, _ in PHASES]) for r in mine]
    title = f"{each} updates of a rank, N = 220,000, simulated"
    return [{"title": title, "xlabel": "P", "ylabel": "seconds", "log": "x",
             "curves": curves(results, lambda r: r["ranks"], seconds, program) + theirs},
            {"title": "where the time of updates goes, simulated", "xlabel": "P", "ylabel": "seconds of a rank", "stacked": True,
             "bars": ([name for _, name in PHASES], rows)}]


# For each figure: machines, numbers of ranks, function that returns the runs on a machine, and
# function that returns the panels of the picture.
FIGURES = {
    "krishnan-figure-3": (("opteron",), (8,), node_runs, node_panels),
    "krishnan-figure-4": (("opteron", "xt4"), (16, 64, 256, 1024, 4096, 8192), strong_runs, strong_panels),
    "krishnan-figure-5": (("opteron", "xt4"), (16, 64, 256, 1024, 1600), lu_runs, lu_panels),
    "krishnan-figure-6": (("opteron", "xt4"), (16, 64, 256, 1024, 4096, 10000), weak_runs, weak_panels),
    "krishnan-table-1": (("opteron", "opteron-copies"), (1024,), protocols, protocol_panels),
    "french-table-1": (("xc30",), (4, 16, 64, 256, 1024), assembly_runs, assembly_panels),
    "french-table-2": (("xc30",), (16, 64, 256, 1024), assembly_weak_runs, assembly_weak_panels),
    "zhang-figure-11": study_migration.FIGURE,
}
