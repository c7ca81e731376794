"""Sparse matrices, CG and LSQR."""
import numpy as np
import pytest

import osla


def laplacian(world, n):
    """Rows of the path's Laplacian plus one, distributed in blocks that differ."""
    first = [0, *sorted(n * (r + 1) * (r + 2) // (world.size * (world.size + 1))
                        for r in range(world.size))]
    rows = range(first[world.rank], first[world.rank + 1])
    indptr, indices, data = [0], [], []
    for i in rows:
        for j, v in ((i - 1, -1.0), (i, 3.0), (i + 1, -1.0)):
            if 0 <= j < n:
                indices.append(j)
                data.append(v)
        indptr.append(len(indices))
    full = 3 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    arrays = np.array(indptr), np.array(indices, np.int64), np.array(data, float)
    return full, osla.CSR(*arrays), slice(rows.start, rows.stop)


def test_products_and_solvers(world):
    full, a, mine = laplacian(world, 50)
    x = np.sin(np.arange(50.0))
    assert a.shape == (50, 50) and a.first_row == mine.start
    assert np.allclose(a @ x[mine], (full @ x)[mine], atol=1e-13)
    assert np.allclose(a.multiply(x[mine], trans="t"), (full.T @ x)[mine], atol=1e-13)
    b = (full @ x)[mine].copy()
    for jacobi in (0, 1, 3):
        s = osla.cg(a, b, jacobi=jacobi, tolerance=1e-12)
        assert s.end == "converged" and np.allclose(s.x, x[mine], atol=1e-10)
    s = osla.lsqr(a, b, tolerance=1e-13)
    assert s.end == "converged" and np.allclose(s.x, x[mine], atol=1e-8)
    assert osla.cg(a, b, iterations=1).end == "iterations"


def test_refusals(world):
    _, a, mine = laplacian(world, 20)
    with pytest.raises(osla.ArgumentError, match="x: "):
        a @ np.ones(a.columns + 1)
    with pytest.raises(osla.ArgumentError, match="indices: 1 elements where 2"):
        osla.CSR(np.array([0, 2]), np.array([0]), np.ones(2))
    with pytest.raises(osla.ArgumentError, match="begins with 0"):
        osla.CSR(np.array([1, 2]), np.array([0]), np.ones(1))
    with pytest.raises(osla.ArgumentError):
        osla.CSR(np.array([0, 1]), np.array([world.size]), np.ones(1))
    with pytest.raises(osla.ArgumentError, match="tolerance"):
        osla.cg(a, np.ones(a.rows), tolerance=-1.0)


def test_read(world, tmp_path_factory):
    from test_hessian import shared_path
    path = shared_path(world, tmp_path_factory, "a.mtx")
    if world.rank == 0:
        with open(path, "w") as f:
            f.write("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2.0\n3 2 5.0\n")
    world.barrier()
    a = osla.CSR.read(path)
    assert a.shape == (3, 3)
    y = a @ np.ones(a.columns)
    assert (y == np.array([2.0, 0, 5.0])[a.first_row:a.first_row + a.rows]).all()


def test_matrices_from_matrices(world):
    full, a, mine = laplacian(world, 30)
    x = np.cos(np.arange(30.0))
    square = a @ a.transpose()
    assert np.allclose(square @ x[mine], (full @ full.T @ x)[mine], atol=1e-12)
    assert np.array_equal(a.diagonal(), np.diag(full)[mine])
    assert np.array_equal(a.column_squares(), (full**2).sum(axis=0)[mine])
    a.destroy()
    assert np.allclose(square @ x[mine], (full @ full.T @ x)[mine], atol=1e-12)
    with pytest.raises(osla.StateError):
        a.transpose()
    with pytest.raises(osla.StateError):
        square @ a
