"""Tables and pictures of studies on simulated machines (bench/scripts/study)."""

import os
import re
import shutil
import subprocess
import sys

import gnuplot_text
from study_cases import FLOPS


def rate(r):
    """Returns Gflop/s of each core; None for the assembly."""
    flops = FLOPS.get(r["kernel"])
    return flops and flops * r["n"] ** 3 / r["seconds_median"] / r["ranks"] / 1e9


def efficiency(o, r, first):
    if r["kernel"] == "hessian":
        work = r["updates"] * r["ranks"] / (first["updates"] * first["ranks"])
        return work * first["seconds_median"] * first["ranks"] / (r["seconds_median"] * r["ranks"])
    return rate(r) / rate(first)


def table(o, results):
    """Prints a row for each run, with the efficiency against the first run of the same program
    and kernel (for disturbed runs: with as many ranks), and the time of the other program
    divided by OSLA's."""
    heads = ["who", "kernel", "ranks", "a host", "N", "nb", "seconds", "GF/s a core", "of peak", "efficiency", "osla faster"]
    rows, first, ours = [heads], {}, {}
    for r in results:
        kind = (r["who"], r["kernel"], r.get("impl"), o.study == "disturbed" and r["ranks"])
        first.setdefault(kind, r)
        same = ("lu" if r["kernel"] == "hpl" else r["kernel"], r["ranks"], r["n"], r.get("disturbance"))
        if r["who"] == "osla":
            ours.setdefault(same, r)
        gflops = rate(r)
        marks = [r.get("impl") if r.get("ablate") else r["who"], r.get("disturbance"), r.get("process_grid")]
        rows.append([" ".join(filter(None, marks)), r["kernel"], r["ranks"], r["each"], r["n"], r["nb"],
                     f"{r['seconds_median']:.4g}", f"{gflops:.3g}" if gflops else "-",
                     f"{gflops / o.gflops:.2f}" if gflops else "-", f"{efficiency(o, r, first[kind]):.3f}",
                     f"{r['seconds_median'] / ours[same]['seconds_median']:.2f} x" if r["who"] != "osla" and same in ours
                     else ""])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(heads))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def picture(o, results):
    """Draws rates, or the efficiency of the assembly, against ranks."""
    curves = {}
    for r in results:
        label = " ".join(filter(None, [r["who"], r["kernel"], r.get("disturbance"), r.get("process_grid"),
                                       r.get("impl") if r.get("ablate") else None]))
        curves.setdefault(label, []).append(r)
    points = []
    for label, of in curves.items():
        heading = re.sub('["\x00-\x1f]', " ", label)
        points.append("\n".join([f'"{heading}"'] + [f"{r['ranks']:d} {rate(r) or efficiency(o, r, of[0])}" for r in of]))
    unit = "Gflop/s a core" if rate(results[0]) else "efficiency"
    with open(os.path.join(o.out, "curves.dat"), "w") as file:
        file.write("\n\n\n".join(points) + "\n")
    script = f"""set terminal png size 900,600 noenhanced
set output {gnuplot_text.file(o.study + ".png")}
set title {gnuplot_text.text(f"{o.study} on {o.machine}, simulated")}
set logscale x 2
set xlabel 'ranks'
set ylabel {gnuplot_text.text(unit)}
set yrange [0:*]
set key outside below
plot for [i=0:{len(curves) - 1}] 'curves.dat' index i using 1:2 with linespoints title columnheader(1)
"""
    with open(os.path.join(o.out, "picture.gp"), "w") as file:
        file.write(script)
    if not shutil.which("gnuplot") or subprocess.run(["gnuplot", "picture.gp"], cwd=o.out).returncode != 0:
        print("simulate: no picture: gnuplot (Debian package: gnuplot-nox)", file=sys.stderr)
