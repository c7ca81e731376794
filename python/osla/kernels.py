"""Products, factorisations and solves. All are collective, with the same arguments on all ranks."""
from __future__ import annotations

from typing import Any, Generator, NamedTuple

import numpy as np

from . import _core, _words
from ._calls import collective, handle
from ._errors import ArgumentError, SingularError
from .matrix import Matrix, Part, part_of


@collective
def gemm(a: Matrix | Part, b: Matrix | Part, c: Matrix | Part, *, alpha: complex = 1.0,
         beta: complex = 0.0, transa: str = "n", transb: str = "n",
         **options: Any) -> Generator[str, None, None]:
    """C := alpha op(A) op(B) + beta C, op given by "n", "t" or "c". Collective.

    a, b, c: matrices or parts of one dtype; op(A) m x k, op(B) k x n, C m x n, C disjoint from A
    and B. Blocks and grids may differ. options: those of osla_gemm.h, such as panel=.
    """
    parts = part_of(a, "a"), part_of(b, "b"), part_of(c, "c")
    how = [_words.word(x, _words.TRANS, n) for x, n in ((transa, "transa"), (transb, "transb"))]
    factors = _words.factor(alpha, "alpha", a), _words.factor(beta, "beta", a)
    packed = _words.options("gemm", options)
    yield _words.same(transa, transb, *factors)
    _core.gemm(*how, factors[0], parts[0], parts[1], factors[1], parts[2], packed)


@collective
def _product(a: Matrix, b: Matrix) -> Generator[None, None, Matrix]:
    parts = part_of(a, "a"), part_of(b, "b")
    if a.shape[1] != b.shape[0]:
        raise ArgumentError(f"{a.shape[0]} x {a.shape[1]} times {b.shape[0]} x {b.shape[1]}")
    yield
    c = a._like(a.shape[0], b.shape[1], a.block[0], b.block[1], a.device)
    _core.gemm(_core.NOTRANS, _core.NOTRANS, 1.0, *parts, 0.0, part_of(c, "c"),
               _words.options("gemm", {}))
    return c


@collective
def syrk(a: Matrix | Part, c: Matrix | Part, *, uplo: str = "lower", trans: str = "n",
         alpha: complex = 1.0, beta: complex = 0.0, **options: Any) -> Generator[str, None, None]:
    """Triangle `uplo` of C := alpha A A^T + beta C ("n", A is n x k) or alpha A^T A + beta C ("t",
    A is k x n). Collective. `herk` is the Hermitian form."""
    parts = part_of(a, "a"), part_of(c, "c")
    which = _words.word(uplo, _words.UPLO, "uplo"), _words.word(trans, _words.TRANS, "trans")
    factors = _words.factor(alpha, "alpha", a), _words.factor(beta, "beta", a)
    packed = _words.options("gemm", options)
    yield _words.same(uplo, trans, *factors)
    _core.syrk(*which, factors[0], parts[0], factors[1], parts[1], packed)


@collective
def trsm(a: Matrix | Part, b: Matrix | Part, *, side: str = "left", uplo: str = "lower", trans: str = "n",
         diag: str = "nonunit", alpha: complex = 1.0) -> Generator[str, None, None]:
    """B := alpha op(T)^-1 B ("left") or alpha B op(T)^-1 ("right"), T a triangle of A. Collective.
    a, b: matrices or parts of one dtype, B disjoint from A; elements outside of a part are
    unchanged."""
    both = part_of(a, "a"), part_of(b, "b")
    how = (_words.word(side, _words.SIDE, "side"), _words.word(uplo, _words.UPLO, "uplo"),
           _words.word(trans, _words.TRANS, "trans"), _words.word(diag, _words.DIAG, "diag"))
    scale = _words.factor(alpha, "alpha", a)
    yield _words.same(side, uplo, trans, diag, scale)
    _core.trsm(*how, scale, *both)


def _right_hand_sides(a: Matrix | Part, b: Any) -> Any:
    """The right-hand sides as a part, or as an array that can be solved in place."""
    if isinstance(b, (Matrix, Part)):
        return part_of(b, "b")
    if isinstance(a, Part):
        raise ArgumentError("b: with factors of a part a Matrix or a Part is needed")
    _core.check_columns(b, "b", _words.dtype(a.dtype), a.shape[0], -1, True)
    return b


def _copied(a: Matrix | Part, b: Any, overwrite: bool) -> Any:
    """The right-hand sides to solve: a matrix is solved in place, an array in a copy unless it may
    be overwritten."""
    if overwrite or isinstance(b, (Matrix, Part)):
        return b
    return _words.numbers(b, "b", a.dtype, copy=True)


def _matrix(factor: Any, what: str) -> Any:
    """The handle of the whole matrix that was factored."""
    if isinstance(factor.matrix, Part):
        raise ArgumentError(f"factor: {what} is of a whole matrix, these factors are of a part")
    return factor.matrix._alive()


class LU:
    """Result of `getrf`: `matrix`, a Matrix or a Part, holds L and U. ipiv: [local rows of the
    whole matrix] int64, as ScaLAPACK's IPIV, or None without pivoting. growth: max |u| / max |a|
    if it was computed, else 0."""

    __slots__ = ("matrix", "ipiv", "growth")

    def __init__(self, matrix: Matrix | Part, ipiv: np.ndarray | None, growth: float) -> None:
        self.matrix, self.ipiv, self.growth = matrix, ipiv, growth

    def __repr__(self) -> str:
        return f"<osla.LU in {self.matrix!r}>"

    @property
    def _root(self) -> Any:
        return self.matrix._root

    @collective
    def solve(self, b: Any, *, trans: str = "n",
              overwrite: bool = False) -> Generator[str, None, Any]:
        """Solves A X = B, or with A^T ("t") or A^H ("c"). Collective. b: a Matrix or Part, which is
        overwritten by the solution; or, unless A is a part, an array [n] or [n, nrhs] that is the
        same on all ranks. For an array X is a new array, or overwrites b if overwrite=True."""
        return (yield from _getrs(self, b, trans, overwrite))

    def inverse(self) -> Matrix:
        """`getri`: the matrix becomes A^-1. Collective."""
        return getri(self)

    @collective
    def rcond(self, anorm: float) -> Generator[None, None, float]:
        """Reciprocal condition number; anorm: A.norm("one") before the factorisation. Collective."""
        own, norm = _matrix(self, "a condition"), _words.real(anorm, "anorm")
        yield
        return _core.condition(False, _core.LOWER, own, self.ipiv, norm)


class Cholesky:
    """Result of `potrf`: triangle `uplo` of `matrix`, a Matrix or a Part, holds the factor."""

    __slots__ = ("matrix", "uplo")

    def __init__(self, matrix: Matrix | Part, uplo: str) -> None:
        self.matrix, self.uplo = matrix, uplo

    def __repr__(self) -> str:
        return f"<osla.Cholesky, {self.uplo}, in {self.matrix!r}>"

    @property
    def _root(self) -> Any:
        return self.matrix._root

    @collective
    def solve(self, b: Any, *, overwrite: bool = False) -> Generator[str, None, Any]:
        """Solves A X = B. Collective. b: as in LU.solve."""
        return (yield from _potrs(self, b, overwrite))

    def inverse(self) -> Matrix:
        """Triangle `uplo` of the matrix becomes that of A^-1 (`potri`). Collective."""
        return potri(self)

    @collective
    def rcond(self, anorm: float) -> Generator[None, None, float]:
        """Reciprocal condition number, as LU.rcond. Collective."""
        own, norm = _matrix(self, "a condition"), _words.real(anorm, "anorm")
        yield
        return _core.condition(True, _words.UPLO[self.uplo], own, None, norm)

    @collective
    def logdet(self) -> Generator[None, None, float]:
        """Logarithm of the determinant of A (`chol_logdet`). Collective."""
        own = _matrix(self, "a determinant")
        yield
        return _core.chol_logdet(own, _words.UPLO[self.uplo])


def _refuse(routine: str, info: int, what: str) -> None:
    if info > 0:
        raise SingularError(f"{routine}: {what.format(info)}", info)


@collective
def getrf(a: Matrix | Part, *, pivoting: str = "partial", **options: Any) -> Generator[str, None, LU]:
    """A := P^T L U in place; A is a matrix or a part. Collective. pivoting: "partial", "tournament"
    or "none"; options: look_ahead.

    SingularError, on all ranks: a pivot is zero, or the factors cannot be trusted.
    """
    own = part_of(a, "a")
    kind = _words.word(pivoting, _words.PIVOTING, "pivoting")
    packed = _words.options("lu", {**options, "pivoting": kind})
    matrix = a.matrix if isinstance(a, Part) else a
    ipiv = None if kind == _core.PIVOT_NONE else np.zeros(matrix.local_rows.size, np.int64)
    yield _words.same(pivoting, **options)
    info, growth, trusted = _core.getrf(own, ipiv, packed)
    _refuse("getrf", info, "the pivot of column {} (from 1) is zero or not a number")
    if not trusted:
        raise SingularError(f"getrf: elements grew by {growth:g}, or a pivot has no reciprocal", 0)
    return LU(a, ipiv, growth)


@collective
def potrf(a: Matrix | Part, uplo: str = "lower", **options: Any) -> Generator[str, None, Cholesky]:
    """A := L L^H ("lower") or U^H U ("upper") in place; A is a matrix or a part, whose other
    triangle is unchanged. Collective. options: look_ahead.

    SingularError, on all ranks: A is not positive definite; info is the order of the first
    leading minor that is not.
    """
    own, which = part_of(a, "a"), _words.word(uplo, _words.UPLO, "uplo")
    packed = _words.options("cholesky", options)
    yield _words.same(uplo, **options)
    info = _core.potrf(own, which, packed)
    _refuse("potrf", info, "the leading minor of order {} is not positive definite")
    return Cholesky(a, uplo)


@collective
def potri(factor: Cholesky, **options: Any) -> Generator[str, None, Matrix]:
    """Triangle `uplo` of the factor's matrix := that of A^-1, in place of the factor. Returns the
    matrix. Collective."""
    if not isinstance(factor, Cholesky):
        raise ArgumentError("factor: what potrf returned is needed")
    own, packed = _matrix(factor, "an inverse"), _words.options("cholesky", options)
    yield _words.same(factor.uplo, **options)
    info = _core.potri(own, _words.UPLO[factor.uplo], packed)
    _refuse("potri", info, "element {} (from 1) of the factor's diagonal is zero")
    return factor.matrix


@collective
def getri(factor: LU, **options: Any) -> Generator[str, None, Matrix]:
    """The factors' matrix := A^-1, in place of the factors. Returns the matrix. Collective."""
    if not isinstance(factor, LU):
        raise ArgumentError("factor: what getrf returned is needed")
    own, packed = _matrix(factor, "an inverse"), _words.options("lu", options)
    yield _words.same(**options)
    info = _core.getri(own, factor.ipiv, packed)
    _refuse("getri", info, "element {} (from 1) of U's diagonal is zero")
    return factor.matrix


@collective
def potrs(factor: Cholesky, b: Any) -> Generator[str, None, None]:
    """B := A^-1 B, in place. Collective. b: a Matrix or Part; or, unless A is a part, an array [n]
    or [n, nrhs] in column-major order, of A's dtype, the same on all ranks."""
    yield from _potrs(factor, b, True)


def _potrs(factor: Cholesky, b: Any, overwrite: bool) -> Generator[str, None, Any]:
    if not isinstance(factor, Cholesky):
        raise ArgumentError("factor: what potrf returned is needed")
    own, x = part_of(factor.matrix, "factor"), _copied(factor.matrix, b, overwrite)
    rhs = _right_hand_sides(factor.matrix, x)
    yield _words.same(factor.uplo)
    _core.potrs(_words.UPLO[factor.uplo], own, rhs)
    return x


@collective
def getrs(factor: LU, b: Any, *, trans: str = "n") -> Generator[str, None, None]:
    """B := op(A)^-1 B, in place. Collective. b: as in potrs."""
    yield from _getrs(factor, b, trans, True)


def _getrs(factor: LU, b: Any, trans: str, overwrite: bool) -> Generator[str, None, Any]:
    if not isinstance(factor, LU):
        raise ArgumentError("factor: what getrf returned is needed")
    own, x = part_of(factor.matrix, "factor"), _copied(factor.matrix, b, overwrite)
    rhs = _right_hand_sides(factor.matrix, x)
    how = _words.word(trans, _words.TRANS, "trans")
    yield _words.same(trans)
    _core.getrs(how, own, factor.ipiv, rhs)
    return x


@collective
def residual(a: Matrix, x: Matrix, b: Matrix) -> Generator[None, None, float]:
    """|b - A x|_inf / ((|A|_inf |x|_inf + |b|_inf) n eps), the largest over the columns; a good
    solution gives about 1. a: the matrix before its factorisation. Collective."""
    all_three = handle(a, Matrix, "a"), handle(x, Matrix, "x"), handle(b, Matrix, "b")
    yield
    return _core.residual(*all_three)


class Refined(NamedTuple):
    """Result of a refinement. iterations: number of those that improved X; residual: `residual` of
    X; converged: it is as small as requested."""

    iterations: int
    residual: float
    converged: bool


@collective
def refine(a: Matrix, factor: LU | Cholesky, b: Matrix, x: Matrix,
           **options: Any) -> Generator[str, None, Refined]:
    """X := X + A^-1 (B - A X) until the residual is small enough, or decreases by less than a half.
    Collective. a: the matrix before its factorisation, with both triangles, or for Cholesky also
    with triangle="lower"; factor: the factors of a or of a matrix near a, also in single precision;
    x: the initial guess, which is overwritten by the solution. options: max_iterations, target."""
    if not isinstance(factor, (LU, Cholesky)):
        raise ArgumentError("factor: what getrf or potrf returned is needed")
    factors, uplo = _matrix(factor, "refinement"), getattr(factor, "uplo", "lower")
    matrices = handle(a, Matrix, "a"), handle(b, Matrix, "b"), handle(x, Matrix, "x")
    packed = _words.options("refine", options)
    yield _words.same(type(factor).__name__, uplo)
    return Refined(*_core.refine(isinstance(factor, Cholesky), _words.UPLO[uplo], factors,
                                 getattr(factor, "ipiv", None), *matrices, packed))


class Mixed(NamedTuple):
    """Result of a solve in mixed precision. path: "single"; "factor" or "stalled": the solve used
    factors in double precision; "singular": x is meaningless."""

    path: str
    info: int
    single_iterations: int
    iterations: int
    residual: float
    converged: bool


def _mixed(cholesky: bool, uplo: str, a: Matrix, b: Matrix, x: Matrix,
           options: dict[str, Any]) -> Generator[str, None, Mixed]:
    matrices = handle(a, Matrix, "a"), handle(b, Matrix, "b"), handle(x, Matrix, "x")
    which, packed = _words.word(uplo, _words.UPLO, "uplo"), _words.options("refine", options)
    yield _words.same(uplo)
    path, *rest = _core.mixed(cholesky, which, *matrices, packed)
    return Mixed(_words.MIXED[path], *rest)


@collective
def gesv_mixed(a: Matrix, b: Matrix, x: Matrix, **options: Any) -> Generator[str, None, Mixed]:
    """Solves A X = B in double precision by LU in single precision and refinement. Collective. a is
    not changed. options: max_iterations, target."""
    return (yield from _mixed(False, "lower", a, b, x, options))


@collective
def posv_mixed(a: Matrix, b: Matrix, x: Matrix, *, uplo: str = "lower",
               **options: Any) -> Generator[str, None, Mixed]:
    """Solves A X = B in double precision by Cholesky in single precision and refinement. a is not
    changed, and has both triangles or triangle="lower". Collective. options:
    max_iterations, target."""
    return (yield from _mixed(True, uplo, a, b, x, options))
