"""Normal equations in HDF5, for orders whose matrix would be too long as text.

A file has the lower triangle of the matrix N; the vectors b and apriori; the vector heads of int64,
with 40 bytes for each parameter: the columns of a SINEX line from the type to the constraint code;
and the numbers observations, unknowns and squares (l^T P l). A file that normals.py writes also has
the vectors estimate (a priori value + correction) and sigma (standard deviation of the estimate),
and has N and b only with --normals. All calls are collective.
"""
import numpy as np
import osla

import sinex

HEAD, COUNTS = 40, ("observations", "unknowns", "squares")


class Writer:
    """A file of combined normal equations and their solution, with the calls of sinex.Writer. The
    file appears when the block of `with` ends without an exception."""

    def __init__(self, path, heads, apriori, first):
        text = "".join(head.ljust(HEAD)[:HEAD] for head in heads).encode("ascii")
        self.apriori, self.file = apriori, osla.File(path, "w")
        self.file.put("heads", np.frombuffer(text, np.int64))
        self.file.put("apriori", apriori)

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is SystemExit:  # normals.py raises SystemExit on all ranks
            self.file.close()
        self.file.__exit__(kind, *rest)

    def vector(self, b):
        self.file.put("b", b)

    def matrix(self, N, rows):
        """Writes N, an osla.Matrix with triangle="lower". `rows` is not used: each rank writes
        a part of the elements."""
        self.file.put("N", N)

    def counts(self, counts):
        """Writes three counts: the number of observations, the number of unknowns, and the weighted
        sum of squares of observed minus computed values."""
        for name, count in zip(COUNTS, counts):
            self.file.put(name, float(count))

    def solution(self, x, sigma, counts):
        """Writes the estimates of the unknowns, which follow from their corrections x, and the
        standard deviations."""
        self.counts(counts)
        self.file.put("estimate", self.apriori + x)
        self.file.put("sigma", sigma)


def write(path, N, heads, apriori, b, counts):
    """Writes a file without a solution. N: an osla.Matrix with triangle="lower"; heads: texts;
    counts: as in Writer.counts."""
    with Writer(path, heads, apriori, True) as out:
        out.vector(b)
        out.matrix(N, None)
        out.counts(counts)


class Normals(sinex.Normals):
    """An HDF5 file of normal equations, with the attributes of sinex.Normals."""

    def __init__(self, path):
        self.path = path
        with osla.File(path) as file:
            self.b, self.apriori = file.vector("b"), file.vector("apriori")
            heads = file.vector("heads", np.int64)
            self.observations, unknowns, self.squares = (file.number(name) for name in COUNTS)
        m = len(self.b)
        if m == 0 or len(self.apriori) != m or heads.nbytes != HEAD * m:
            raise sinex.Fault(f"{path}: b has {m} elements, apriori {len(self.apriori)}, and heads "
                              f"{heads.nbytes} bytes instead of {HEAD * m}")
        self.heads = [head.decode("ascii", "replace") for head in heads.view(f"S{HEAD}")]
        self.names = [sinex.name_of(head) for head in self.heads]
        for what, values in ("b", self.b), ("apriori", self.apriori):
            for k in np.flatnonzero(~np.isfinite(values))[:1]:
                raise sinex.Fault(self.place(self.names[k], f"{what} = {values[k]}"))
        if len(set(self.names)) < m:
            name = next(name for name in self.names if self.names.count(name) > 1)
            last = m - self.names[::-1].index(name)
            raise sinex.Fault(self.place(name, f"{name}, which is also parameter {last}"))
        if unknowns < m:
            raise sinex.Fault(f"{path}: {unknowns:.0f} unknowns, and b has {m} elements")
        self.eliminated = unknowns - m

    def place(self, name, what):
        return f"{self.path}, parameter {self.names.index(name) + 1}: {what}"

    def keep(self, rank, size):
        """Does nothing, so that `share` reads N again at each call."""

    def parts(self, rank, size):
        """Reads N; yields rows, columns and values U of this rank's block columns of the lower
        triangle. Diagonal elements are halved, so that N is the sum of U + U^T."""
        with osla.File(self.path) as file:
            N = file.matrix("N", triangle="lower")
        try:
            m, width = len(self.b), N.block[1]
            if N.shape != (m, m):
                raise sinex.Fault(f"{self.path}: N is {N.shape[0]} x {N.shape[1]}, and b has {m} elements")
            for j in range(rank * width, m, size * width):
                U = N.get(j, j, m - j, min(width, m - j))
                corner = U[:U.shape[1]]
                corner[...] = np.tril(corner, -1) + np.diag(np.diag(corner) / 2)
                for row, col in np.argwhere(~np.isfinite(U))[:1]:
                    raise sinex.Fault(f"{self.path}: element ({j + row + 1}, {j + col + 1}) of N = {U[row, col]}")
                yield slice(j, m), slice(j, j + U.shape[1]), U
        finally:
            N.destroy()
