"""The study gemm-layers: a product of one size on more and more ranks, with and without layers of
ranks that divide k (osla_gemm_options.layers). Used by study."""

import math
import re

import gnuplot_text
from study_cases import FLOPS, block_of, grid_of, run

ABOUT = """\
  gemm-layers      products of N = 4096, 8192, 16384 (--n) with 1, 2 and 4 layers of ranks, in the orders of the grid nodes
                   and tiles, and across without layers; words that a rank receives beside COSMA's count and the lower bound
"""

ORDERS = {1: ("nodes", "tiles", "across"), 2: ("nodes", "tiles"), 4: ("nodes", "tiles")}


def has_layers(ranks, c):
    """Returns whether OSLA's grid for this number of ranks, the one nearest to a square, can be cut
    into groups of r x s ranks with r s = c."""
    rows, columns = grid_of(ranks)
    return any(c % r == 0 and rows % r == 0 and columns % (c // r) == 0 for r in range(1, c + 1))


def layers(o):
    return [run("osla", "gemm", p, o.each, n=n, nb=block_of("gemm", n, grid_of(p)), order=order, layers=c)
            for n in ([o.n] if o.n else (4096, 8192, 16384)) for p in o.ranks for c in ORDERS for order in ORDERS[c]
            if has_layers(p, c)]


STUDIES = {"gemm-layers": layers}


def part_of_peak(o, r):
    return FLOPS["gemm"] * r["n"] ** 3 / r["seconds_median"] / r["ranks"] / 1e9 / o.peaks[r["machine"]]


def words_of_plan(text, ranks):
    """Returns how many elements of 8 bytes a rank needs of A and B and receives as partial sums:
    the mean over the ranks, from the output `text` of osla-bench --plan; None if it has no plan.
    In the run, ranks of a node share transfers, so that the node receives fewer elements. Elements
    that a rank packs, because blocks are narrower than 64 columns, count as well."""
    found = re.search(r"^ +all +[0-9]+ +[0-9]+ +([0-9]+) +([0-9]+) +([0-9]+) ", text, re.M)
    return sum(map(int, found.groups())) / 8 / ranks if found else None


def words_of_cosma(r):
    """Returns COSMA's count of the words that a rank receives (Kwasniewski et al., SC 2019): 2 m n k
    / (P sqrt(S)) + S for a product of m x n elements with inner size k on P ranks with S words of
    memory each. With c layers, a rank of OSLA has S = c m n / P words of C."""
    memory = r["layers"] * r["n"] ** 2 / r["ranks"]
    return 2 * r["n"] ** 3 / (r["ranks"] * math.sqrt(memory)) + memory


def words_of_bound(r):
    """Returns the least number of words that a rank receives, for any size of memory (Ballard,
    Demmel, Holtz, Lipshitz, Schwartz, SPAA 2012). One of P ranks does 1 / P of the m n k
    multiplications. For them it uses at least 3 (m n k / P)^(2/3) elements of A, B and C (Loomis
    and Whitney), and it owns 1 / P of the elements of each matrix."""
    return 3 * (r["n"] ** 3 / r["ranks"]) ** (2 / 3) - 3 * r["n"] ** 2 / r["ranks"]


def table(o, results):
    heads = ["ranks", "N", "layers", "order", "seconds", "of peak", "over best without", "words", "COSMA", "ratio", "bound"]
    rows, alone = [heads], {}
    for r in results:
        if r["layers"] == 1:
            key = r["n"], r["ranks"]
            alone[key] = min(alone.get(key, math.inf), r["seconds_median"])
    for r in results:
        cosma = words_of_cosma(r)
        rows.append([r["ranks"], r["n"], r["layers"], r["order"], f"{r['seconds_median']:.4g}",
                     f"{part_of_peak(o, r):.3f}", f"{alone[r['n'], r['ranks']] / r['seconds_median']:.3f}",
                     f"{r['words']:.0f}", f"{cosma:.0f}", f"{r['words'] / cosma:.3f}", f"{words_of_bound(r):.0f}"])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(heads))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def script(o, results):
    """Returns the gnuplot script and the data of the picture: for each N and number of layers, the
    rate in the best order as a part of the peak."""
    curves = {}
    for r in results:
        label = f"N = {r['n']}, " + ("no layers" if r["layers"] == 1 else f"{r['layers']} layers")
        best = curves.setdefault(label, {})
        best[r["ranks"]] = max(best.get(r["ranks"], 0), part_of_peak(o, r))
    blocks = ["\n".join([f'"{label}"'] + [f"{p} {part:.4f}" for p, part in sorted(best.items())]) for label, best in curves.items()]
    return f"""set terminal png size 900,600 noenhanced
set output {gnuplot_text.file(o.study + ".png")}
set title {gnuplot_text.text(f"products of one size on {o.on[0].machine}, best order, simulated")}
set logscale x 2
set xlabel 'ranks'
set ylabel 'part of the peak of a core'
set yrange [0:1]
set key outside below maxrows 3
plot for [i=0:{len(curves) - 1}] 'curves.dat' index i using 1:2 with linespoints title columnheader(1)
""", blocks
