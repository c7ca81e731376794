"""Fixed-point iterations that wait for their neighbours, or do not (osla_iterate.h)."""
from __future__ import annotations

from typing import Any, Generator, NamedTuple

import numpy as np

from . import _core, _words
from ._calls import collective, handle
from ._errors import ArgumentError
from .matrix import Matrix
from .sparse import CSR


class Iterated(NamedTuple):
    """How an iteration ended. end: "converged"; "stagnated" (the residual is rounding, and larger
    than was asked for), "sweeps" (as many as were allowed), "diverged", "stalled" (a rank made no
    step for `patience` seconds). residual: |b - A x| of the x that is returned; where it diverged or
    stalled a stale estimate. rounding: bound of the rounding in it; error: bound of max |x -
    solution| / v, 0: none is known; alpha: with bound_steps, below 1 where it is proved that every
    mode converges. sweeps: of this rank; least, most: of all."""

    x: np.ndarray
    end: str
    residual: float
    start: float
    norm: float
    rounding: float
    error: float
    sweeps: int
    least: int
    most: int
    alpha: float
    seconds: float


def _share(a: CSR | Matrix) -> tuple[Any, int, int, int]:
    """The handle, where this rank's rows begin and end, and the length of b and x here."""
    if isinstance(a, CSR):
        own = handle(a, CSR, "a")
        return own, 0, a.rows, a.rows
    own, transport = handle(a, Matrix, "a"), a.grid.transport
    first, last = (_core.even_start(a.shape[0], transport.size, transport.rank + i) for i in (0, 1))
    return own, first, last, a.shape[0]


@collective
def iterate(a: CSR | Matrix, b: np.ndarray, x: np.ndarray | None = None, *, mode: str = "async",
            block: int = 1, factor: str = "cholesky", uplo: str = "whole", bound_steps: int = 0,
            **options: Any) -> Generator[None, None, Iterated]:
    """Solves A x = b by sweeps x := x + B^-1 (b - A x), B the blocks on A's diagonal. Collective.

    mode: "async": no rank waits, a sweep takes the newest values that are here; "racy": also
    mixtures of them; "sync": in lock-step. In every mode the x that is returned has the residual
    that is reported. a: CSR: b, x: [rows] float64 of this rank. Matrix of float64: b, x: [n], the
    same on all ranks; uplo: "lower" or "upper" where it is symmetric and one triangle is stored. x:
    the first guess, which stays as it is; None: zero. block: 1: the diagonal, more: blocks of so many
    rows, which by `factor` "cholesky" are positive definite, by "lu" of any kind. bound_steps: looks
    first, by so many sweeps, for a proof that it converges. options: tolerance, norm,
    omega, sweeps, period, lead, in_flight, check, patience, proven.
    """
    if not isinstance(a, (CSR, Matrix)):
        raise ArgumentError(f"a: a CSR or a Matrix is needed, not {type(a).__name__}")
    own, first, last, length = _share(a)
    triangle = _words.word(uplo, _words.STORED_TRIANGLE, "uplo")
    steps = _words.whole(bound_steps, "bound_steps", 0)
    blocks = _core.options("blocks", {"block": _words.whole(block, "block", 1),
                                      "factor": _words.word(factor, _words.BLOCK_FACTOR, "factor")})
    packed = _core.options("iterate", {**options, "mode": _words.word(mode, _words.MODE, "mode")})
    _core.check_line(b, "b", _core.DOUBLE, length, False)
    if x is not None:
        _core.check_line(x, "x", _core.DOUBLE, length, False)
    yield
    mine = np.zeros(last - first) if x is None else np.array(x[first:last])
    end, *rest = _core.iterate(own, triangle, b[first:last], mine, blocks, packed, steps)
    if isinstance(a, Matrix):
        whole = np.zeros(length)
        whole[first:last] = mine
        _core.allreduce(a._root, whole)
        mine = whole
    return Iterated(mine, _words.ITERATE_END[end], *rest)
