"""Products with a matrix of which one triangle is stored, and with vectors (osla_products.h). All
are collective, with the same arguments on all ranks. Operands are matrices or parts of one
dtype, in any blocks and on any grids of one transport. The triangle that `uplo` does not name is
never read."""
from __future__ import annotations

from typing import Any, Generator

from . import _core, _words
from ._calls import collective
from .matrix import Matrix, Part, part_of


def _sides(side: str, uplo: str) -> tuple[int, int]:
    return _words.word(side, _words.SIDE, "side"), _words.word(uplo, _words.UPLO, "uplo")


def _factors(alpha: Any, beta: Any, a: Matrix | Part) -> tuple[complex, complex]:
    return _words.factor(alpha, "alpha", a), _words.factor(beta, "beta", a)


@collective
def symm(a: Matrix | Part, b: Matrix | Part, c: Matrix | Part, *, side: str = "left",
         uplo: str = "lower", alpha: complex = 1.0, beta: complex = 0.0,
         **options: Any) -> Generator[str, None, None]:
    """C := alpha A B + beta C ("left") or alpha B A + beta C ("right"), A symmetric. Collective.

    a: m x m ("left") or n x n, triangle `uplo` stored; b, c: m x n, c disjoint from a and b.
    Complex types: A = A^T; `hemm` is the Hermitian form. options: those of osla_gemm.h.
    """
    parts = part_of(a, "a"), part_of(b, "b"), part_of(c, "c")
    how, (scale, keep) = _sides(side, uplo), _factors(alpha, beta, a)
    packed = _words.options("gemm", options)
    yield _words.same(side, uplo, scale, keep)
    _core.symm(*how, scale, parts[0], parts[1], keep, parts[2], packed)


@collective
def hemm(a: Matrix | Part, b: Matrix | Part, c: Matrix | Part, *, side: str = "left",
         uplo: str = "lower", alpha: complex = 1.0, beta: complex = 0.0,
         **options: Any) -> Generator[str, None, None]:
    """C := alpha A B + beta C ("left") or alpha B A + beta C ("right"), A Hermitian; otherwise as
    `symm`. The diagonal of A is treated as real. Collective."""
    parts = part_of(a, "a"), part_of(b, "b"), part_of(c, "c")
    how, (scale, keep) = _sides(side, uplo), _factors(alpha, beta, a)
    packed = _words.options("gemm", options)
    yield _words.same(side, uplo, scale, keep)
    _core.hemm(*how, scale, parts[0], parts[1], keep, parts[2], packed)


@collective
def herk(a: Matrix | Part, c: Matrix | Part, *, uplo: str = "lower", trans: str = "n",
         alpha: float = 1.0, beta: float = 0.0, **options: Any) -> Generator[str, None, None]:
    """Triangle `uplo` of C := alpha A A^H + beta C ("n", a: n x k) or alpha A^H A + beta C ("c",
    a: k x n); c: n x n. The imaginary parts of C's diagonal become zero. Collective."""
    parts = part_of(a, "a"), part_of(c, "c")
    which = _words.word(uplo, _words.UPLO, "uplo"), _words.word(trans, _words.TRANS, "trans")
    factors = _words.real(alpha, "alpha"), _words.real(beta, "beta")
    packed = _words.options("gemm", options)
    yield _words.same(uplo, trans, *factors)
    _core.herk(*which, factors[0], parts[0], factors[1], parts[1], packed)


@collective
def trmm(a: Matrix | Part, b: Matrix | Part, *, side: str = "left", uplo: str = "lower",
         trans: str = "n", diag: str = "nonunit", alpha: complex = 1.0,
         **options: Any) -> Generator[str, None, None]:
    """B := alpha op(T) B ("left") or alpha B op(T) ("right"), in place, T a triangle of A.
    Collective. a: m x m ("left") or n x n, disjoint from b; b: m x n. diag "unit": the diagonal
    of T is treated as 1."""
    parts = part_of(a, "a"), part_of(b, "b")
    how = (*_sides(side, uplo), _words.word(trans, _words.TRANS, "trans"),
           _words.word(diag, _words.DIAG, "diag"))
    scale, packed = _words.factor(alpha, "alpha", a), _words.options("gemm", options)
    yield _words.same(side, uplo, trans, diag, scale)
    _core.trmm(*how, scale, *parts, packed)


@collective
def gemv(a: Matrix | Part, x: Matrix | Part, y: Matrix | Part, *, trans: str = "n",
         alpha: complex = 1.0, beta: complex = 0.0) -> Generator[str, None, None]:
    """y := alpha op(A) x + beta y. Collective. a: m x n; x: n x 1 ("n") or m x 1; y: m x 1 or n x
    1; y may be x. Elements of A are not communicated."""
    parts = part_of(a, "a"), part_of(x, "x"), part_of(y, "y")
    how, (scale, keep) = _words.word(trans, _words.TRANS, "trans"), _factors(alpha, beta, a)
    yield _words.same(trans, scale, keep)
    _core.gemv(how, scale, parts[0], parts[1], keep, parts[2])


@collective
def symv(a: Matrix | Part, x: Matrix | Part, y: Matrix | Part, *, uplo: str = "lower",
         alpha: complex = 1.0, beta: complex = 0.0) -> Generator[str, None, None]:
    """y := alpha A x + beta y, A symmetric, triangle `uplo` stored. Collective. a: n x n; x, y: n x
    1. Complex types: A = A^T; `hemv` is the Hermitian form."""
    parts = part_of(a, "a"), part_of(x, "x"), part_of(y, "y")
    which, (scale, keep) = _words.word(uplo, _words.UPLO, "uplo"), _factors(alpha, beta, a)
    yield _words.same(uplo, scale, keep)
    _core.symv(which, scale, parts[0], parts[1], keep, parts[2])


@collective
def hemv(a: Matrix | Part, x: Matrix | Part, y: Matrix | Part, *, uplo: str = "lower",
         alpha: complex = 1.0, beta: complex = 0.0) -> Generator[str, None, None]:
    """y := alpha A x + beta y, A Hermitian; otherwise as `symv`. The diagonal of A is treated as
    real. Collective."""
    parts = part_of(a, "a"), part_of(x, "x"), part_of(y, "y")
    which, (scale, keep) = _words.word(uplo, _words.UPLO, "uplo"), _factors(alpha, beta, a)
    yield _words.same(uplo, scale, keep)
    _core.hemv(which, scale, parts[0], parts[1], keep, parts[2])
