"""The study jacobi-blocks on simulated machines: block Jacobi with one block for each rank and inner
solvers, beside Jacobi's method and CG. Used by study."""

import json

import study_jacobi

ABOUT = """\
  jacobi-blocks    Poisson's equation to a residual of 1e-4 by osla-bench splitting: blocks of one point, blocks of a rank
                   solved by CG to 0.1 and 0.01 and by sparse Cholesky, in the modes sync and async (sparse Cholesky also
                   with --lead 1), and blocks of the ranks of a node by CG to 0.1, without and with one core at half
                   speed, beside CG of the library. Each rank has N^3 points. N = 10 (--n sets another N)
"""

INNER = ({"inner": "points"}, {"inner": "cg", "inner_tolerance": 0.1}, {"inner": "cg", "inner_tolerance": 0.01}, {"inner": "sparse"})
CASES = [{"mode": mode} | inner for inner in INNER for mode in ("sync", "async")]
# A second exact solve with the same halos changes nothing. With lead 1 a rank waits for new halos instead.
CASES.append({"mode": "async", "inner": "sparse", "lead": 1})


def of_nodes(o):
    """Returns the cases in which the ranks of a node share a block."""
    return [{"mode": mode, "inner": "cg", "inner_tolerance": 0.1, "group": o.each} for mode in ("sync", "async")]


def blocks(o):
    return [{"who": "osla", "kernel": "splitting", "ranks": p, "each": o.each, "n": o.n or 10, "mode": case["mode"], "disturbance": d} | case
            # one run for each number of ranks and disturbance also solves by CG
            | {"ref": "cg" if case == CASES[0] else "none"}
            for p in o.ranks for d in ("", "core=2") for case in CASES + of_nodes(o)]


STUDIES = {"jacobi-blocks": blocks}


def command(r, start, program, result):
    """Returns the command line of a run, from the words that start a simulation."""
    words = start + ["-s", program, "splitting", "--points", str(r["n"]), "--mode", r["mode"], "--inner", r["inner"],
                     "--ref", r["ref"], "--reps", "1", "--json", result]
    for option in ("inner_tolerance", "lead", "group"):
        if option in r:
            words += ["--" + option.replace("_", "-"), str(r[option])]
    return words


def parse(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def solver_of(r):
    """Returns the name of the solver of a row: that of the blocks, or "CG" for CG of the library."""
    if r["impl"] == "cg":
        return "CG"
    words = f"{r['inner']} {r['inner_tolerance']:g}" if r["inner"] == "cg" else r["inner"]
    return words + (f", {r['group']} ranks" if r.get("group", 1) > 1 else "")


def mode_of(r):
    """Returns the mode of a row, with the option --lead if it was given. CG has one mode, in which
    all ranks wait for one another."""
    return "" if r["impl"] == "cg" else r["mode"] + (f", lead {r['lead']}" if r["lead"] else "")


def ratio(results, r, solver, mode):
    """Returns how many times longer the run of another solver or mode takes than the run r, or ""
    without such a run."""
    other = [x for x in results if (x["ranks"], x["disturbance"], solver_of(x), mode_of(x)) == (r["ranks"], r["disturbance"], solver, mode)]
    return f"{other[0]['seconds_median'] / r['seconds_median']:.3g}" if other else ""


def table(o, results):
    """Returns the table. "inner": iterations of inner CG in a sweep. The last three columns are
    speedups of a row: over sync with the row's solver, over blocks of one point in the row's mode,
    and over CG of the library."""
    rows = [["ranks", "mode", "solver", "seconds", "least", "mean", "most", "inner", "over sync", "over points", "over CG"]]
    for r in results:
        marks, cg = " ".join(filter(None, [mode_of(r), r["disturbance"]])), r["impl"] == "cg"
        sweeps = ["", f"{r['iterations']:.0f}", ""] if cg else [f"{r['sweeps_' + k]:.0f}" for k in ("least", "mean", "most")]
        inner = f"{r['inner_iterations'] / r['sweeps_mean']:.1f}" if not cg and r["inner"] == "cg" else ""
        rows.append([r["ranks"], marks, solver_of(r), f"{r['seconds_median']:.4g}", *sweeps, inner,
                     "" if cg else ratio(results, r, solver_of(r), "sync"), "" if cg else ratio(results, r, "points", r["mode"]),
                     ratio(results, r, "CG", "")])
    return study_jacobi.aligned(rows)


def pictures(o, results):
    """Draws the seconds against the ranks, without and with a slow core."""
    for name, disturbance, title in (("blocks", "", ""), ("blocks-slow", "core=2", ", one core at half speed")):
        curves = {}
        for r in results:
            if r["disturbance"] == disturbance:
                curves.setdefault(f"{solver_of(r)} {mode_of(r)}", []).append((r["ranks"], r["seconds_median"]))
        study_jacobi.draw(o, name, f"inner solvers{title}, {results[0]['n']}^3 points a rank, on {o.machine}, simulated",
                          ("ranks", "simulated seconds to 1e-4"), [(label, "linespoints", points) for label, points in curves.items()],
                          "set logscale x 2\nset logscale y")
