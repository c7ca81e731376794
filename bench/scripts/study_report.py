"""Tables and pictures of studies on simulated machines (bench/scripts/study)."""

import os
import re
import shutil
import subprocess
import sys

import gnuplot_text
from study_cases import FLOPS, grid_of


def rate(r):
    """Returns Gflop/s of each core; None for the assembly."""
    flops = FLOPS.get(r["kernel"])
    return flops and flops * r["n"] ** 3 / r["seconds_median"] / r["ranks"] / 1e9


def efficiency(o, r, first):
    if r["kernel"] in ("hessian", "accumulate"):
        work = r["updates"] * r["ranks"] / (first["updates"] * first["ranks"])
        return work * first["seconds_median"] * first["ranks"] / (r["seconds_median"] * r["ranks"])
    return rate(r) / rate(first)


def table(o, results):
    """Returns a table with a row for each run. "Efficiency" compares the run with the first run of
    its program and kernel, and in the study `disturbed` with the first one on an equal number of
    ranks. "Osla faster" is the time of another program divided by OSLA's."""
    heads = ["who", "kernel", "ranks", "a host", "N", "nb", "seconds", "GF/s a core", "of peak", "efficiency", "osla faster"]
    rows, first, ours = [heads], {}, {}
    for r in results:
        kind = (r["who"], r["kernel"], r.get("impl"), r["machine"], o.study == "disturbed" and r["ranks"])
        first.setdefault(kind, r)
        kernel = {"hpl": "lu", "lu-nopivot": "lu", "accumulate": "hessian"}.get(r["kernel"], r["kernel"])
        same = (kernel, r["machine"], r["ranks"], r["n"], r.get("updates"), r.get("disturbance"))
        if r["who"] == "osla":
            ours.setdefault(same, r)
        gflops = rate(r)
        peak = o.peaks[r["machine"]]
        marks = [len(o.peaks) > 1 and r["machine"], r.get("impl") if r.get("ablate") else r["who"], r.get("disturbance"), r.get("process_grid")]
        rows.append([" ".join(filter(None, marks)), r["kernel"], r["ranks"], r["each"], r["n"], r["nb"],
                     f"{r['seconds_median']:.4g}", f"{gflops:.3g}" if gflops else "-",
                     f"{gflops / peak:.2f}" if gflops else "-", f"{efficiency(o, r, first[kind]):.3f}",
                     f"{r['seconds_median'] / ours[same]['seconds_median']:.2f} x" if r["who"] != "osla" and same in ours
                     else ""])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(heads))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def draw(o, script, blocks):
    """Writes the data and the gnuplot script of a picture, and draws it if gnuplot is installed."""
    with open(os.path.join(o.out, "curves.dat"), "w") as file:
        file.write("\n\n\n".join(blocks) + "\n")
    with open(os.path.join(o.out, "picture.gp"), "w") as file:
        file.write(script)
    if not shutil.which("gnuplot") or subprocess.run(["gnuplot", "picture.gp"], cwd=o.out).returncode != 0:
        print("simulate: no picture: gnuplot failed or is missing (Debian package: gnuplot-nox)",
              file=sys.stderr)


def heading(label):
    return '"' + re.sub('["\x00-\x1f]', " ", str(label)) + '"'


def picture(o, results):
    """Draws rates, or the efficiency of the assembly, against ranks."""
    curves = {}
    for r in results:
        label = " ".join(filter(None, [r["who"], r["kernel"], r.get("disturbance"), r.get("process_grid"),
                                       r.get("impl") if r.get("ablate") else None]))
        curves.setdefault(label, []).append(r)
    blocks = ["\n".join([heading(label)] + [f"{r['ranks']:d} {rate(r) or efficiency(o, r, of[0])}" for r in of])
              for label, of in curves.items()]
    unit = "Gflop/s a core" if rate(results[0]) else "efficiency"
    draw(o, f"""set terminal png size 900,600 noenhanced
set output {gnuplot_text.file(o.study + ".png")}
set title {gnuplot_text.text(f"{o.study} on {o.machine}, simulated")}
set logscale x 2
set xlabel 'ranks'
set ylabel {gnuplot_text.text(unit)}
set yrange [0:*]
set key outside below
plot for [i=0:{len(curves) - 1}] 'curves.dat' index i using 1:2 with linespoints title columnheader(1)
""", blocks)


def panel_script(panel, blocks):
    """Returns the gnuplot commands of a panel, and appends the panel's data to `blocks`, a list of
    texts."""
    axes = "\n".join(f"set {key} {gnuplot_text.text(panel[key])}" for key in ("title", "xlabel", "ylabel"))
    first = len(blocks)
    if "bars" in panel:
        names, rows = panel["bars"]
        blocks.append("\n".join([" ".join(["x", *map(heading, names)])] +
                                [" ".join([heading(name), *(f"{v:g}" for v in values)]) for name, values in rows]))
        how = "rowstacked" if panel.get("stacked") else "clustered gap 1"
        return f"""{axes}
unset logscale
set yrange [0:*]
set style data histograms
set style histogram {how}
set style fill solid 0.8 border -1
set boxwidth 0.8
plot for [i=2:{len(names) + 1}] 'curves.dat' index {first} using i:xtic(1) title columnheader(i)
"""
    parts = []
    for label, points, style in panel["curves"]:
        parts.append(f"'curves.dat' index {len(blocks)} using 1:2 with {style} title columnheader(1)")
        blocks.append("\n".join([heading(label)] + [f"{x} {y}" for x, y in points]))
    log = panel.get("log", "")
    return f"""{axes}
unset logscale
{"set logscale x 2" if "x" in log else ""}
{"set logscale y 10" if "y" in log else ""}
set yrange [{panel.get("least", "*" if "y" in log else 0)}:*]
plot {", ".join(parts)}
"""


def choices_panels(results):
    """Returns the panels of the study `choices`: for each kernel and number of ranks the speed of
    each choice, relative to that of the first. The label of a bar has the grid, the block size and
    the number of ranks on a node."""
    runs = {}
    for r in results:
        runs.setdefault((r["kernel"], r["ranks"], r["n"]), []).append(r)
    panels = []
    for (kernel, ranks, n), of in runs.items():
        rows = [("\\n".join([r.get("process_grid") or "x".join(map(str, grid_of(ranks))), str(r["nb"]), str(r["each"])]),
                 [of[0]["seconds_median"] / r["seconds_median"]]) for r in of]
        panels.append({"title": f"{kernel}, {ranks} ranks, N = {n}, simulated", "xlabel": "",
                       "ylabel": "speed relative to the first bar",
                       "bars": (["process grid, block size, ranks on a node"], rows)})
    return panels


def figure(o, panels):
    """Draws panels, two in a row."""
    blocks, rows = [], (len(panels) + 1) // 2
    scripts = [panel_script(panel, blocks) for panel in panels]
    draw(o, f"""set terminal png size {1300 if len(panels) > 1 else 800},{550 * rows} noenhanced
set output {gnuplot_text.file(o.study + ".png")}
set key bmargin center maxrows 4
set bmargin 9
set multiplot layout {rows},{min(2, len(panels))}
""" + "\n".join(scripts) + "unset multiplot\n", blocks)
