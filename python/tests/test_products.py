"""Products with a stored triangle, and with vectors, against numpy."""
import numpy as np
import pytest

import osla
from test_kernels import close, random

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
OP = {"n": lambda x: x, "t": lambda x: x.T, "c": lambda x: x.conj().T}


def whole(x, uplo, hermitian):
    """The full matrix that the stored triangle represents."""
    strict = np.tril(x, -1) if uplo == "lower" else np.triu(x, 1)
    diagonal = np.diag(np.diag(x))
    return strict + (strict.conj() if hermitian else strict).T + (diagonal.real if hermitian
                                                                 else diagonal)


def hidden(x, uplo):
    """A copy whose other triangle, which must not be read, is NaN."""
    y = x.copy()
    y[(np.triu_indices if uplo == "lower" else np.tril_indices)(len(x), 1 if uplo == "lower" else -1)] = np.nan
    return y


def factors(dtype):
    return (2 - 1j, 0.5 + 1j) if np.dtype(dtype).kind == "c" else (2.0, 0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_symm_and_hemm(world, rng, dtype, uplo, side):
    order = 11 if side == "left" else 6
    x, y, z = random(rng, order, order, dtype), random(rng, 11, 6, dtype), random(rng, 11, 6, dtype)
    alpha, beta = factors(dtype)
    a, b = osla.Matrix.from_numpy(hidden(x, uplo), block=3), osla.Matrix.from_numpy(y, block=(2, 4))
    for call, hermitian in ((osla.symm, False), (osla.hemm, True)):
        c, full = osla.Matrix.from_numpy(z, block=4), whole(x, uplo, hermitian)
        call(a, b, c, side=side, uplo=uplo, alpha=alpha, beta=beta)
        close(c.to_numpy(), alpha * (full @ y if side == "left" else y @ full) + beta * z, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("trans", ["n", "c"])
def test_herk(world, rng, dtype, uplo, trans):
    x, z = random(rng, 9, 5, dtype), random(rng, 9, 9, dtype)
    a = osla.Matrix.from_numpy(np.ascontiguousarray(OP[trans](x)), block=2)
    z = whole(z, uplo, True).astype(dtype)
    c = osla.Matrix.from_numpy(z, block=3)
    osla.herk(a, c, uplo=uplo, trans=trans, alpha=2.0, beta=0.5)
    half = np.tril if uplo == "lower" else np.triu
    close(half(c.to_numpy()), half(2 * x @ x.conj().T + 0.5 * z), dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("trans", "ntc")
@pytest.mark.parametrize("diag", ["nonunit", "unit"])
def test_trmm(world, rng, dtype, uplo, trans, diag):
    for side, order in (("left", 10), ("right", 7)):
        x, y = random(rng, order, order, dtype), random(rng, 10, 7, dtype)
        t = np.tril(x) if uplo == "lower" else np.triu(x)
        if diag == "unit":
            np.fill_diagonal(t, 1)
        a, b = osla.Matrix.from_numpy(hidden(x, uplo), block=3), osla.Matrix.from_numpy(y, block=4)
        osla.trmm(a, b, side=side, uplo=uplo, trans=trans, diag=diag, alpha=2.0)
        t = OP[trans](t)
        close(b.to_numpy(), 2 * (t @ y if side == "left" else y @ t), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_with_vectors(world, rng, dtype):
    alpha, beta = factors(dtype)
    x, v, w = random(rng, 12, 8, dtype), random(rng, 8, 1, dtype), random(rng, 12, 1, dtype)
    a = osla.Matrix.from_numpy(x, block=3)
    for trans, right, left in (("n", v, w), ("t", w, v), ("c", w, v)):
        y = osla.Matrix.from_numpy(left, block=(2, 1))
        osla.gemv(a, osla.Matrix.from_numpy(right, block=(5, 1)), y, trans=trans, alpha=alpha,
                  beta=beta)
        close(y.to_numpy(), alpha * OP[trans](x) @ right + beta * left, dtype)
    square = random(rng, 12, 12, dtype)
    u = random(rng, 12, 1, dtype)
    for uplo in ("lower", "upper"):
        a = osla.Matrix.from_numpy(hidden(square, uplo), block=3)
        for call, hermitian in ((osla.symv, False), (osla.hemv, True)):
            y = osla.Matrix.from_numpy(w, block=(2, 1))
            call(a, osla.Matrix.from_numpy(u, block=(4, 1)), y, uplo=uplo, alpha=alpha, beta=beta)
            close(y.to_numpy(), alpha * whole(square, uplo, hermitian) @ u + beta * w, dtype)


def test_parts_and_refusals(world, rng):
    x, v = random(rng, 9, 9), random(rng, 9, 1)
    a, b = osla.Matrix.from_numpy(x, block=2), osla.Matrix.from_numpy(v, block=(3, 1))
    y = osla.Matrix(9, 1, block=(3, 1))
    osla.gemv(a.part(1, 2, 4, 5), b.part(3, 0, 5, 1), y.part(5, 0, 4, 1))
    close(y.to_numpy(), np.concatenate((np.zeros((5, 1)), x[1:5, 2:7] @ v[3:8])))
    last = world.rank == world.size - 1
    with pytest.raises(osla.ArgumentError, match="side = 'top'"):
        osla.symm(a, a, y, side="top" if last else "left")
    with pytest.raises(osla.ArgumentError, match="x: a Matrix is needed, not ndarray"):
        osla.gemv(a, v if last else b, y)
    with pytest.raises(osla.ArgumentError, match="alpha = 'x'"):
        osla.trmm(a, b, alpha="x" if last else 1)
    for call in (lambda: osla.gemv(a, b, osla.Matrix(4, 1)), lambda: osla.symm(a, b, a),
                 lambda: osla.hemv(a, osla.Matrix(9, 1, dtype="f4"), y), lambda: osla.trmm(b, a),
                 lambda: osla.herk(a, osla.Matrix(3, 3)), lambda: osla.trmm(a, a)):
        with pytest.raises(osla.ArgumentError):
            call()
    b.destroy()
    with pytest.raises(osla.StateError, match="was destroyed"):
        osla.symv(a, b, y)
