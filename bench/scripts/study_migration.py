"""A study on simulated machines that repeats Fig. 11 of Zhang et al., The PetscSF scalable
communication layer (2022): a mesh moves to the ranks that METIS chose. Used by study."""

from study_cases import run

SIDE = 64  # the mesh is a cube of SIDE^3 cells: an assumption, because the paper gives no size
# Distributions of the mesh before the migration (osla-bench forest --start), each with the largest
# number of ranks that is simulated. A pair of ranks that exchanges cells has buffers, and from
# "rand" almost each pair exchanges cells: 420 ranks take 12.2 GB of memory.
STARTS = {"seq": 3360, "chunks": 3360, "rand": 420}
RANKS = (42, 84, 168, 420, 840, 1680, 3360)  # 42 ranks a node; the paper begins at 420 ranks


def runs(m):
    side = round((m.n or SIDE**3) ** (1 / 3))
    return [run("osla", "forest", p, m.each, n=side**3, first=start)
            for p in m.ranks for start, most in STARTS.items() if p <= most]


def words_of(r):
    """Returns the command-line arguments of osla-bench for a run."""
    return ["forest", "--case", "migrate", "--start", r["first"], "--partition", "--n", str(r["n"]), "--reps", "1", "--ref", "none"]


def table(o, results):
    """Returns a table with a row for each number of ranks, and a column of simulated seconds for
    each of STARTS."""
    seconds = {(r["ranks"], r["first"]): f"{r['seconds_median']:.4g}" for r in results}
    rows = [["ranks", "cells", *STARTS]]
    rows += [[p, results[0]["n"], *(seconds.get((p, start), "") for start in STARTS)] for p in dict.fromkeys(p for p, _ in seconds)]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def panels(results):
    """Returns the panel of the figure: seconds against ranks, with a curve for each of STARTS."""
    curves = [(start.capitalize(), [(r["ranks"], r["seconds_median"]) for r in results if r["first"] == start], "linespoints")
              for start in STARTS if any(r["first"] == start for r in results)]
    title = f"migration of {results[0]['n']} cells on {results[0]['machine']}, simulated"
    return [{"title": title, "xlabel": "processes", "ylabel": "seconds", "log": "xy", "curves": curves}]


FIGURE = (("summit",), RANKS, runs, panels)
