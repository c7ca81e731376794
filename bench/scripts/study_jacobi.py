"""Studies of Jacobi's method on simulated machines: the tables and figures of Bethune, Bull, Dingle,
Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014). Used by study."""

import json
import os
import re
import shutil
import subprocess
import sys

import gnuplot_text

ABOUT = """\
  jacobi-weak      Jacobi's method to a residual of 1e-4 in the modes sync, async, racy (Bethune et al., tables 1 and 2,
                   figures 3, 6, 7, 9). Each rank computes N^3 points and is charged the time of
                   50^3 points. N = 10 on at most 1,024 ranks, 5 on more (--n sets another N)
  jacobi-steps     the time of each step of 100 sweeps (figures 4 and 5)
  jacobi-slow      the solves of jacobi-weak, without and with one core at half speed (section 6.1)
  jacobi-in-flight async with R = 1 to 32 messages under way between hosts (figure 10)
  jacobi-period    halos every 1 to 64 sweeps (figure 11)
  jacobi-levels    the solves of jacobi-weak on one and on two levels, without and with one core at half speed
"""

# The paper's values: points along a side of a rank's cube, and residual at which a solve ends.
POINTS, TOLERANCE = 50, 1e-4
MODES = ("sync", "async", "racy")


def modes(ranks):
    """Returns the modes to simulate. A simulated message arrives whole, so the modes racy and async
    take equal times. Runs of at most 32 ranks have mode racy, too, to show this."""
    return MODES if ranks <= 32 else MODES[:2]


# The paper's tables 1 (MPI) and 2 (SHMEM): processes, mode, least, mean and most iterations,
# seconds. The paper's tables print 8,912 processes; its text says 8,192 and powers of two.
PAPER = {
    "MPI": [(32, "sync", 9100, 9100, 9100, 28.4), (32, "async", 10737, 11245, 12231, 33.8),
            (32, "racy", 8952, 9307, 10140, 27.7), (512, "sync", 37500, 37500, 37500, 132.1),
            (512, "async", 36861, 44776, 51198, 146.9), (512, "racy", 32377, 38763, 44623, 126.4),
            (8192, "sync", 68500, 68500, 68500, 247.1), (8192, "async", 60612, 82381, 96700, 272.5),
            (8192, "racy", 61453, 77952, 90099, 264.9), (32768, "sync", 112000, 112000, 112000, 405.2),
            (32768, "async", 101053, 136337, 165366, 454.4), (32768, "racy", 86814, 118967, 144902, 419.4)],
    "SHMEM": [(32, "sync", 9100, 9100, 9100, 27.6), (32, "async", 8724, 9136, 10784, 26.7),
              (32, "racy", 8496, 9088, 10725, 26.3), (512, "sync", 37500, 37500, 37500, 130.1),
              (512, "async", 32356, 38285, 43178, 117.9), (512, "racy", 32377, 38416, 46291, 117.9),
              (8192, "sync", 68500, 68500, 68500, 251.5), (8192, "async", 32612, 67417, 77382, 215.5),
              (8192, "racy", 47231, 70087, 80620, 219.3), (32768, "sync", 112000, 112000, 112000, 491.1),
              (32768, "async", 11265, 229266, 331664, 858.5), (32768, "racy", 10173, 231919, 314208, 817.6)],
}


def run(o, ranks, mode, **more):
    return {"who": "osla", "kernel": "jacobi", "ranks": ranks, "each": o.each, "n": o.n or (10 if ranks <= 1024 else 5), "nb": 0, "mode": mode} | more


def weak(o):
    return [run(o, p, mode) for p in o.ranks for mode in modes(p)]


def steps(o):
    return [run(o, p, mode, sweeps=100) for p in o.ranks for mode in modes(p)]


def slow(o):
    return [run(o, p, mode, disturbance=d) for p in o.ranks for d in ("", "core=2") for mode in modes(p)]


def in_flight(o):
    return [run(o, p, "async", in_flight=1 << k) for p in o.ranks for k in range(6)]


def period(o):
    return [run(o, p, mode, period=1 << k) for p in o.ranks for mode in ("sync", "async") for k in range(7)]


def levels(o):
    return [run(o, p, mode, disturbance=d, levels=k) for p in o.ranks for d in ("", "core=2") for mode in MODES[:2] for k in (1, 2)]


STUDIES = {"jacobi-weak": weak, "jacobi-steps": steps, "jacobi-slow": slow, "jacobi-in-flight": in_flight,
           "jacobi-period": period, "jacobi-levels": levels}


def tolerance(n):
    """Returns the residual, relative to the first residual, at which a solve with n points along a
    side of a rank's cube ends. It corresponds to TOLERANCE for POINTS points. The first residual
    lies on a face of the grid, which has n^2 points, so its norm grows as n. The residual of a
    smooth error is about n^-2 at each of n^3 points, so its norm falls as n^-0.5. The ratio falls
    as n^-1.5."""
    return TOLERANCE * (POINTS / n) ** 1.5


def command(r, start, program, result):
    """Returns the command line of a run, from the words that start a simulation."""
    words = start + ["-s", program, "jacobi", "--points", str(r["n"]), "--mode", r["mode"], "--ref", "none",
                     "--reps", "1", "--json", result]
    if r["n"] < POINTS:
        words += ["--cost-points", str(POINTS)]
    if "sweeps" in r:
        words += ["--sweeps", str(r["sweeps"]), "--trace", "/dev/null"]
    else:
        words += ["--tolerance", f"{tolerance(r['n']):.4g}"]
    if "sweeps" not in r and "levels" not in r:
        words += ["--record", result + ".record"]
    for option in ("in_flight", "period", "levels"):
        if option in r:
            words += ["--" + option.replace("_", "-"), str(r[option])]
    return words


def parse(text, path):
    """Returns the rows of a run: one row. A solve to a residual adds the sweeps of each rank and
    the residuals that rank 0 recorded. A run with a trace adds, for each kind of event, the number
    of events and their seconds, summed over the ranks."""
    with open(path) as file:
        row = json.loads(file.readline())
    record = path + ".record"
    if os.path.exists(record):
        with open(record) as file:
            found = json.load(file)
        os.remove(record)
        profile, row["sweeps_of_ranks"] = found["profile"], [rank["sweeps"] for rank in found["ranks"]]
        row["profile"] = profile[:: max(1, len(profile) // 400)]
    kinds = re.findall(r"^([a-z_]+) +([0-9]+) +([0-9.e+-]+) +[0-9.e+-]+  ", text, re.M)
    if kinds:
        row["events"] = {kind: {"events": int(events), "seconds": float(seconds)} for kind, events, seconds in kinds}
    return [row]


# ---- tables and pictures ----

def scale(r):
    """Returns the factor that converts the sweeps of a run to sweeps "as of POINTS^3 points a
    rank": the sweeps of Jacobi's method grow with the square of the points along a side."""
    return (POINTS / r["n"]) ** 2


def rate(r):
    return r["sweeps_mean"] / r["seconds_median"]


def of_paper(kind, ranks, mode):
    return next((row for row in PAPER[kind] if row[:2] == (ranks, mode)), None)


# Steps of a sweep, and the kinds of events in a trace that belong to each step.
PARTS = {"sweep": ("sweep",), "pack": ("pack",), "send": ("put_issue", "issue", "notify", "copy", "flush"),
         "wait": ("notify_wait", "wait", "barrier", "allreduce")}


def parts(r):
    """Returns the milliseconds that each step of a sweep takes, as the mean over ranks and sweeps;
    `other` is the time that belongs to no step."""
    each = 1e3 / (r["ranks"] * r["sweeps"])
    out = {name: each * sum(r["events"].get(kind, {"seconds": 0})["seconds"] for kind in kinds)
           for name, kinds in PARTS.items()}
    return out | {"other": max(0.0, 1e3 * r["seconds_median"] / r["sweeps"] - sum(out.values()))}


def table_of_levels(results):
    """Returns the rows of the study jacobi-levels. The last two columns are speedups of the row's
    run: over mode sync with the row's number of levels, and over one level in the row's mode."""
    rows = [["ranks", "mode", "levels", "seconds", "least", "mean", "most", "corrections", "over sync", "over one level"]]
    seconds = {(r["ranks"], r["disturbance"], r["mode"], r["levels"]): r["seconds_median"] for r in results}
    for r in results:
        mine, key = r["seconds_median"], (r["ranks"], r["disturbance"])
        rows.append([r["ranks"], " ".join(filter(None, [r["mode"], r["disturbance"]])), r["levels"], f"{mine:.4g}",
                     *(f"{r['sweeps_' + k]:.0f}" for k in ("least", "mean", "most")), f"{r['corrections']:.0f}" if "corrections" in r else "",
                     *(f"{seconds[key + other] / mine:.2f}" if key + other in seconds else "" for other in (("sync", r["levels"]), (r["mode"], 1)))])
    return rows


def table(o, results):
    return aligned(table_of_levels(results) if o.study == "jacobi-levels" else table_of_sweeps(o, results))


def aligned(rows):
    """Returns a table as text, with columns of equal width."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def table_of_sweeps(o, results):
    heads = ["ranks", "mode", "seconds", "least", "mean", "most", "as 50^3", "sweeps/s", "over sync", "MPI", "SHMEM"]
    if o.study == "jacobi-steps":
        heads = ["ranks", "mode", "ms a sweep", *PARTS, "other"]
    rows, sync = [heads], {}
    for r in results:
        if r["mode"] == "sync" and not r.get("period", 1) > 1:
            sync[r["ranks"], r.get("disturbance")] = r
        marks = " ".join(filter(None, [r["mode"], r.get("disturbance"), "R=%d" % r["in_flight"] if o.study == "jacobi-in-flight"
                                       else None, "N=%d" % r["period"] if o.study == "jacobi-period" else None]))
        if o.study == "jacobi-steps":
            rows.append([r["ranks"], marks, f"{1e3 * r['seconds_median'] / r['sweeps']:.3f}", *(f"{ms:.3f}" for ms in parts(r).values())])
            continue
        base = sync.get((r["ranks"], r.get("disturbance")))
        theirs = ["%.2f" % (of_paper(kind, r["ranks"], "sync")[5] / of_paper(kind, r["ranks"], r["mode"])[5])
                  if of_paper(kind, r["ranks"], r["mode"]) else "" for kind in ("MPI", "SHMEM")]
        rows.append([r["ranks"], marks, f"{r['seconds_median']:.4g}", *(f"{r['sweeps_' + k]:.0f}" for k in ("least", "mean", "most")),
                     f"{scale(r) * r['sweeps_mean']:.0f}", f"{rate(r):.1f}",
                     f"{base['seconds_median'] / r['seconds_median']:.3f}" if base else "", *theirs])
    return rows


def histogram(r, bins=40):
    """Returns the points (sweeps, number of ranks) of a histogram; sweeps as of POINTS^3 points."""
    sweeps = r["sweeps_of_ranks"]
    low, width = min(sweeps), (max(sweeps) - min(sweeps)) / bins or 1
    count = [0] * bins
    for s in sweeps:
        count[min(bins - 1, int((s - low) / width))] += 1
    return [(scale(r) * (low + (i + 0.5) * width), c) for i, c in enumerate(count)]


def draw(o, name, title, axes, curves, more=""):
    """Draws curves, a list of (label, style, points), into NAME.png."""
    blocks = "\n\n\n".join("\n".join([f'"{label}"'] + [" ".join(map(str, p)) for p in points]) for label, _, points in curves)
    with open(os.path.join(o.out, name + ".dat"), "w") as file:
        file.write(blocks + "\n")
    plots = ", ".join(f"'{name}.dat' index {i} using 1:2 with {style} title columnheader(1)" for i, (_, style, _) in enumerate(curves))
    with open(os.path.join(o.out, name + ".gp"), "w") as file:
        file.write(f"""set terminal png size 900,600 noenhanced
set output '{name}.png'
set title {gnuplot_text.text(title)}
set xlabel {gnuplot_text.text(axes[0])}
set ylabel {gnuplot_text.text(axes[1])}
set key outside below
{more}
plot {plots}
""")
    if not shutil.which("gnuplot") or subprocess.run(["gnuplot", name + ".gp"], cwd=o.out).returncode != 0:
        print("simulate: no picture: gnuplot failed or is missing (Debian package: gnuplot-nox)",
              file=sys.stderr)


def curves_of(results, value, key="ranks"):
    """Returns curves (label, style, points) through the points (r[key], value(r)) of the runs r."""
    out, sizes = {}, {r["n"] for r in results}
    for r in results:
        label = " ".join(filter(None, [r["mode"], r.get("disturbance"), f"{r['levels']} levels" if r.get("levels", 1) > 1 else "",
                                       f"n = {r['n']}" if len(sizes) > 1 else ""]))
        out.setdefault(label, []).append((r[key], value(r)))
    return [(label, "linespoints", points) for label, points in out.items()]


def papers(value):
    """Returns the paper's values: a curve of points (ranks, value of a row of PAPER) for each mode
    in MPI and in SHMEM."""
    return [(f"paper, {kind} {mode}", "points", [(row[0], value(row)) for row in PAPER[kind] if row[1] == mode])
            for kind in PAPER for mode in MODES]


def pictures(o, results):
    log = "set logscale x 2"
    where = f"on {o.machine}, simulated"
    if o.study == "jacobi-steps":
        for mode in MODES:
            mine = [r for r in results if r["mode"] == mode]
            names = [*PARTS, "other"]
            sums = lambda r, k: sum(list(parts(r).values())[: k + 1])
            draw(o, f"steps-{mode}", f"figure 4, {mode}: a sweep by steps (stacked), {where}", ("ranks", "ms a sweep"),
                 [(names[k], "linespoints", [(r["ranks"], sums(r, k)) for r in mine])
                  for k in range(len(names))], log + "\nset yrange [0:*]")
        return
    if o.study == "jacobi-levels":
        draw(o, "levels", f"one and two levels, {where}", ("ranks", "simulated seconds"),
             curves_of(results, lambda r: r["seconds_median"]), log + "\nset yrange [0:*]")
        return
    if o.study == "jacobi-in-flight":
        draw(o, "in-flight", f"figure 10: messages under way, {where}", ("R", "simulated seconds"),
             curves_of(results, lambda r: r["seconds_median"], "in_flight"), log + "\nset yrange [0:*]")
        return
    if o.study == "jacobi-period":
        draw(o, "period", f"figure 11: period of the halos, {where}", ("N", "simulated seconds"),
             curves_of(results, lambda r: r["seconds_median"], "period"), log + "\nset yrange [0:*]")
        return
    draw(o, "rates", f"figure 3: sweeps per second, {where}", ("ranks", "sweeps per second"),
         curves_of(results, rate) + papers(lambda row: row[3] / row[5]), log + "\nset yrange [0:*]")
    draw(o, "iterations", f"figure 6: mean sweeps to a residual of 1e-4, as of 50^3 points a rank, {where}", ("ranks", "mean sweeps"),
         curves_of(results, lambda r: scale(r) * r["sweeps_mean"]) + papers(lambda row: row[3]), log)
    last = [r for r in results if r["ranks"] == o.ranks[-1] and "sweeps_of_ranks" in r]
    draw(o, "histogram", f"figure 7: sweeps of {o.ranks[-1]} ranks, as of 50^3 points a rank, {where}", ("sweeps", "ranks"),
         [(label, "lines", histogram(r)) for r in last if r["mode"] != "sync"
          for label in [" ".join(filter(None, [r["mode"], r.get("disturbance")]))]])
    draw(o, "profile", f"figure 9: residuals of {o.ranks[-1]} ranks, {where}", ("simulated seconds", "residual / first residual"),
         [(" ".join(filter(None, [r["mode"], r.get("disturbance")])), "lines", r["profile"]) for r in last], "set logscale y")
