"""Products, factorisations and solves against numpy."""
import numpy as np
import pytest

import osla

SIZES = [1, 5, 33]


def random(rng, m, n, dtype=np.float64):
    x = rng.normal(size=(m, n))
    return (x + 1j * rng.normal(size=(m, n))).astype(dtype) if np.dtype(dtype).kind == "c" \
        else x.astype(dtype)


def close(x, y, dtype=np.float64):
    eps = np.finfo(dtype).eps
    scale = max(1.0, np.abs(y).max(initial=0.0))
    assert np.abs(x - y).max(initial=0.0) <= 200 * eps * scale * max(1, y.shape[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("transa", "ntc")
def test_gemm(world, rng, dtype, transa):
    op = {"n": lambda x: x, "t": lambda x: x.T, "c": lambda x: x.conj().T}
    x, y, z = random(rng, 13, 9, dtype), random(rng, 9, 7, dtype), random(rng, 13, 7, dtype)
    a = osla.Matrix.from_numpy(x if transa == "n" else np.ascontiguousarray(op[transa](x)), block=4)
    b, c = osla.Matrix.from_numpy(y, block=3), osla.Matrix.from_numpy(z, block=(4, 3))
    alpha = 2 - 1j if np.dtype(dtype).kind == "c" else 2.0
    osla.gemm(a, b, c, alpha=alpha, beta=0.5, transa=transa, panel=4)
    close(c.to_numpy(), alpha * x @ y + 0.5 * z, dtype)


def test_gemm_layers(world, rng):
    x, y, z = random(rng, 13, 29), random(rng, 29, 7), random(rng, 13, 7)
    a, b = osla.Matrix.from_numpy(x, block=4), osla.Matrix.from_numpy(y, block=3)
    c, runs = osla.Matrix.from_numpy(z, block=(4, 3)), []
    osla.gemm(a, b, c, alpha=2.0, beta=0.5, layers=world.size)
    close(c.to_numpy(), 2 * x @ y + 0.5 * z)
    for _ in range(3):
        osla.gemm(a, b, c, layers=world.size)
        runs.append(c.to_numpy().tobytes())
    assert len(set(runs)) == 1
    with pytest.raises(osla.ArgumentError, match=f"layers = {world.size + 1} exceeds the {world.size} ranks"):
        osla.gemm(a, b, c, layers=world.size + 1)
    with pytest.raises(osla.ArgumentError, match="layers = -1 is negative"):
        osla.gemm(a, b, c, layers=-1)
    if world.size > 1:
        with pytest.raises(osla.MemoryError, match="the option memory is 100, but with"):
            osla.gemm(a, b, c, layers=world.size, memory=100)
        with pytest.raises(osla.UnsupportedError, match="osla_syrk: layers = .* only osla_gemm has layers"):
            osla.syrk(a, osla.Matrix(13, 13, block=4), layers=world.size)
    assert c.to_numpy().tobytes() == runs[0]


def test_parts_and_matmul(world, rng):
    x, y = random(rng, 12, 8), random(rng, 8, 10)
    a, b = osla.Matrix.from_numpy(x, block=3), osla.Matrix.from_numpy(y, block=2)
    c = osla.Matrix(12, 10, block=4)
    osla.gemm(a.part(2, 1, 6, 5), b.part(0, 3, 5, 4), c.part(1, 1, 6, 4))
    expected = np.zeros((12, 10))
    expected[1:7, 1:5] = x[2:8, 1:6] @ y[0:5, 3:7]
    close(c.to_numpy(), expected)
    close((a @ b).to_numpy(), x @ y)
    with pytest.raises(osla.ArgumentError, match="12 x 8 times 12 x 8"):
        a @ a
    with pytest.raises(osla.ArgumentError):
        osla.gemm(a.part(10, 0, 6, 5), b.part(0, 0, 5, 4), c.part(0, 0, 6, 4))
    with pytest.raises(osla.ArgumentError, match="a: a Matrix is needed, not ndarray"):
        osla.gemm(x, b, c)
    with pytest.raises(TypeError):
        a @ x


def test_syrk(world, rng):
    x = random(rng, 9, 5)
    a, c = osla.Matrix.from_numpy(x, block=2), osla.Matrix(9, 9, block=2)
    osla.syrk(a, c, uplo="upper", alpha=2.0)
    close(c.to_numpy(), np.triu(2 * x @ x.T))
    d = osla.Matrix(5, 5, block=2)
    osla.syrk(a, d, trans="t")
    close(d.to_numpy(), np.tril(x.T @ x))
    z, old = random(rng, 9, 5, np.complex128), random(rng, 9, 9, np.complex128)
    e = osla.Matrix.from_numpy(old, block=2)
    osla.syrk(osla.Matrix.from_numpy(z, block=2), e, alpha=2j, beta=1 - 1j)
    close(np.tril(e.to_numpy()), np.tril(2j * z @ z.T + (1 - 1j) * old))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
def test_cholesky(world, rng, n, dtype, uplo):
    x = random(rng, n, n, dtype)
    spd = (x @ x.conj().T + n * np.eye(n)).astype(dtype)
    b = random(rng, n, 3, dtype)
    a = osla.Matrix.from_numpy(spd, block=4)
    anorm = a.norm("one")
    factor = osla.potrf(a, uplo)
    rhs = osla.Matrix.from_numpy(b, block=(4, 2))
    assert factor.solve(rhs) is rhs
    close(rhs.to_numpy(), np.linalg.solve(spd, b), dtype)
    close(factor.solve(b), np.linalg.solve(spd, b), dtype)
    close(factor.solve(b[:, 0]), np.linalg.solve(spd, b[:, 0]), dtype)
    in_place = np.array(b, order="F")
    assert factor.solve(in_place, overwrite=True) is in_place
    close(in_place, np.linalg.solve(spd, b), dtype)
    assert 0 < factor.rcond(anorm) <= 1.001
    assert factor.logdet() == pytest.approx(np.linalg.slogdet(spd.astype(complex))[1], rel=1e-5, abs=1e-5)
    inverse = factor.inverse().mirror(uplo).to_numpy()
    if np.dtype(dtype).kind != "c":
        close(inverse, np.linalg.inv(spd), dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("pivoting", ["partial", "tournament", "none"])
def test_lu(world, rng, n, pivoting):
    x = random(rng, n, n) + (n * np.eye(n) if pivoting == "none" else 0)
    b = random(rng, n, 2)
    a = osla.Matrix.from_numpy(x, block=4)
    lu = osla.getrf(a, pivoting=pivoting)
    assert (lu.ipiv is None) == (pivoting == "none")
    close(lu.solve(b), np.linalg.solve(x, b))
    close(lu.solve(b[:, 1], trans="t"), np.linalg.solve(x.T, b[:, 1]))
    rhs = osla.Matrix.from_numpy(b, block=(4, 1))
    lu.solve(rhs)
    close(rhs.to_numpy(), np.linalg.solve(x, b))
    one = np.linalg.norm(x, 1)
    assert lu.rcond(one) >= 0.9 / (one * np.linalg.norm(np.linalg.inv(x), 1))
    close(lu.inverse().to_numpy(), np.linalg.inv(x))


def test_trsm(world, rng):
    x = np.tril(random(rng, 8, 8)) + 8 * np.eye(8)
    b = random(rng, 8, 3)
    a, rhs = osla.Matrix.from_numpy(x, block=3), osla.Matrix.from_numpy(b, block=(3, 2))
    osla.trsm(a, rhs, alpha=2.0)
    close(rhs.to_numpy(), np.linalg.solve(x, 2 * b))


def test_trsm_with_parts(world, rng):
    x, b = random(rng, 12, 12) + 8 * np.eye(12), random(rng, 10, 5)
    a, rhs = osla.Matrix.from_numpy(x, block=3), osla.Matrix.from_numpy(b, block=(3, 2))
    for i in (3, 4):  # a block corner, and an interior position
        osla.trsm(a.part(i, i, 6, 6), rhs.part(2, 1, 6, 3))
        b[2:8, 1:4] = np.linalg.solve(np.tril(x[i:i + 6, i:i + 6]), b[2:8, 1:4])
        close(rhs.to_numpy(), b)
    with pytest.raises(osla.ArgumentError, match="B overlaps A"):
        osla.trsm(a.part(0, 0, 6, 6), a.part(3, 0, 6, 2))


def test_mixed(world, rng):
    x = random(rng, 20, 20) + 20 * np.eye(20)
    b = random(rng, 20, 2)
    a, rhs = osla.Matrix.from_numpy(x, block=4), osla.Matrix.from_numpy(b, block=(4, 1))
    sol = osla.Matrix(20, 2, block=(4, 1))
    how = osla.gesv_mixed(a, rhs, sol)
    assert how.path == "single" and how.converged and how.residual < 10
    close(sol.to_numpy(), np.linalg.solve(x, b))
    assert osla.residual(a, sol, rhs) < 10
    spd = osla.Matrix(20, 20, block=4).fill("spd", 3)
    assert osla.posv_mixed(spd, rhs, sol).converged


def test_refine(world, rng):
    x, b = random(rng, 18, 18) + 18 * np.eye(18), random(rng, 18, 2)
    spd = x @ x.T
    for full, factor in ((x, osla.getrf), (spd, osla.potrf)):
        a, rhs = osla.Matrix.from_numpy(full, block=4), osla.Matrix.from_numpy(b, block=(4, 2))
        sol = osla.Matrix(18, 2, block=(4, 2))
        made = factor(osla.Matrix.from_numpy(full.astype(np.float32), block=4))
        how = osla.refine(a, made, rhs, sol, target=1.0)
        assert how.converged and how.iterations >= 1 and how.residual <= 1
        close(sol.to_numpy(), np.linalg.solve(full, b))
    with pytest.raises(osla.ArgumentError, match="what getrf or potrf"):
        osla.refine(a, a, rhs, sol)


def test_numerical_failure(world):
    bad = np.eye(6)
    bad[3, 3] = -1
    with pytest.raises(osla.SingularError, match="minor of order 4") as caught:
        osla.potrf(osla.Matrix.from_numpy(bad, block=2))
    assert caught.value.info == 4 and isinstance(caught.value, np.linalg.LinAlgError)
    assert isinstance(caught.value, osla.Error)
    bad[3, 3] = 0
    with pytest.raises(osla.SingularError, match="column 4"):
        osla.getrf(osla.Matrix.from_numpy(bad, block=2))


def test_refusals(world, rng):
    a = osla.Matrix.from_numpy(np.eye(6), block=2)
    factor = osla.potrf(a)
    for b, text in ((np.ones(5), "5 x 1 where 6 x 1"), (np.ones((6, 2)), "Fortran order"),
                    (np.ones(6, np.float32), "'f'"), ("b", "an array")):
        with pytest.raises(osla.ArgumentError, match=text):
            osla.potrs(factor, b)
    fixed = np.ones(6)
    fixed.flags.writeable = False
    with pytest.raises(osla.ArgumentError, match="cannot be written to"):
        factor.solve(fixed, overwrite=True)
    with pytest.raises(osla.ArgumentError, match="what potrf returned"):
        osla.potrs(a, np.ones(6))
    with pytest.raises(osla.ArgumentError):
        osla.potrf(osla.Matrix(4, 6))
    with pytest.raises(osla.ArgumentError):
        osla.potrf(osla.Matrix(4, 4, block=(2, 3)))


@pytest.mark.parametrize("at", [(4, 4), (3, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_factors_of_parts(world, rng, at, dtype):
    i, j = at
    x = random(rng, 20, 21, dtype)
    spd = random(rng, 9, 9, dtype)
    x[i:i + 9, j:j + 9] = spd @ spd.conj().T + 9 * np.eye(9)
    b = random(rng, 12, 6, dtype)
    kept, y = x[i:i + 9, j:j + 9].copy(), b[2:11, 1:4].copy()
    a, rhs = osla.Matrix.from_numpy(x, block=4), osla.Matrix.from_numpy(b, block=(4, 2))
    factor = osla.potrf(a.part(i, j, 9, 9))
    assert factor.solve(rhs.part(2, 1, 9, 3)) is not None
    b[2:11, 1:4] = np.linalg.solve(kept, y)
    close(rhs.to_numpy(), b, dtype)
    found = a.to_numpy()
    x[i:i + 9, j:j + 9] = np.tril(np.linalg.cholesky(kept)) + np.triu(kept, 1)
    close(found, x, dtype)  # elements around the part are unchanged

    x[i:i + 9, j:j + 9] = kept
    a = osla.Matrix.from_numpy(x, block=4)
    lu = osla.getrf(a.part(i, j, 9, 9))
    assert lu.ipiv.shape == a.local_rows.shape
    lu.solve(rhs.part(2, 1, 9, 3), trans="c")
    b[2:11, 1:4] = np.linalg.solve(kept.conj().T, b[2:11, 1:4])
    close(rhs.to_numpy(), b, dtype)
    for call in (lu.inverse, factor.inverse, lambda: lu.rcond(1.0), lambda: factor.rcond(1.0),
                 factor.logdet):
        with pytest.raises(osla.ArgumentError, match="these factors are of a part"):
            call()
    for call in (lu.solve, factor.solve):
        with pytest.raises(osla.ArgumentError, match="a Matrix or a Part is needed"):
            call(np.ones(9, dtype))
    with pytest.raises(osla.ArgumentError):
        osla.potrf(a.part(15, 15, 9, 9))
    with pytest.raises(osla.ArgumentError, match="part = 'x'"):
        osla.getrf(a.part("x", 0, 9, 9))
