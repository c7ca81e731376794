#!/usr/bin/env python3
"""Writes a file of updates for `osla assemble`, and can read back H and g. Needs numpy and h5py.

  python3 write_updates.py updates.h5 100
  osla assemble --n 100 --output system.h5 updates.h5
  osla solve system.h5 --output x.h5
"""
import sys

import h5py
import numpy as np


def make_up(update, n):
    """Makes up what your code would compute: k data that depend on some of n unknowns."""
    random = np.random.default_rng(update)
    count, k = random.integers(5, 15), 3
    ix = random.choice(n, count, replace=False)  # from 0, in any order
    G = random.standard_normal((k, count))  # derivatives: a row for each datum
    return ix, G, np.ones(k), random.standard_normal(k)  # weights, residuals


def write(path, n, updates=50):
    ix, G, w, r = zip(*(make_up(u, n) for u in range(updates)))
    with h5py.File(path, "w") as file:
        file["offset"] = np.cumsum([0] + [len(i) for i in ix])
        file["ix"] = np.concatenate(ix)
        file["G"] = np.concatenate([panel.T for panel in G])  # a row for each index
        file["w"] = np.stack(w)
        file["r"] = np.stack(r)


def read_system(path):
    """Returns H, with both triangles filled, and g from a file that `osla assemble` wrote."""
    with h5py.File(path) as file:
        H, g, uplo = file["H"][:].T, file["g"][:], file["H"].attrs["uplo"]
    if H.ndim == 1:  # the lower triangle, column by column; --full gives a square
        column, row = np.triu_indices(len(g))
        packed, H = H, np.zeros((len(g), len(g)))
        H[row, column] = packed
    H = np.triu(H) if uplo in ("upper", b"upper") else np.tril(H)
    return H + H.T - np.diag(np.diag(H)), g


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
