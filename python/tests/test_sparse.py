"""Sparse matrices, CG and LSQR."""
import numpy as np
import pytest

import osla


def laplacian(world, n):
    """Rows of the path graph's Laplacian plus the identity, distributed in unequal blocks."""
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
    assert np.array_equal(a.column_norms(), np.sqrt((full**2).sum(axis=0))[mine])
    a.destroy()
    assert np.allclose(square @ x[mine], (full @ full.T @ x)[mine], atol=1e-12)
    with pytest.raises(osla.StateError):
        a.transpose()
    with pytest.raises(osla.StateError):
        square @ a


def whole(world, a):
    """The whole matrix as an array on all ranks, from each rank's rows."""
    full = np.zeros(a.shape)
    for i in range(a.rows):
        columns, values = a.row(i)
        assert columns.dtype == np.int64 and (np.diff(columns) > 0).all()
        full[a.first_row + i, columns] = values
    parts = osla.Forest.allgather(full.shape[0])
    every = parts.bcast(full, np.zeros((parts.leaf_space, full.shape[1])))
    return every.reshape(world.size, *full.shape).sum(axis=0)


def test_rows_and_other_numbers(world):
    full, a, mine = laplacian(world, 24)
    assert np.array_equal(whole(world, a), full)
    assert a.ghosts <= 2 and (a.ghosts > 0) == (world.size > 1 and a.rows > 0)
    number = (np.arange(24) * 5 + 3) % 24                   # a permutation
    last = 24 if world.rank == world.size - 1 else 0        # the last rank gets all rows
    b = a.renumber(number[mine].copy(), last)
    assert b.rows == last
    expected = np.zeros_like(full)
    expected[np.ix_(number, number)] = full
    assert np.array_equal(whole(world, b), expected)
    assert a.renumber(number[mine].copy()).rows == a.rows
    for wrong in (np.full(a.rows, 24), np.zeros(a.rows + 1, np.int64), np.zeros(a.rows)):
        with pytest.raises(osla.ArgumentError):
            a.renumber(wrong)
    for row in (-1, a.rows, 1.5):
        with pytest.raises(osla.ArgumentError):
            a.row(row)


def test_parts_and_coarse_ones(world):
    full, a, mine = laplacian(world, 24)
    chosen = np.array([5, 0, 23, 5])
    columns = np.arange(world.rank, 24, 2 * world.size)
    every = np.concatenate([np.arange(r, 24, 2 * world.size) for r in range(world.size)])
    part = a.submatrix(chosen, columns)
    assert part.shape == (4 * world.size, len(every)) and part.columns == len(columns)
    assert np.array_equal(whole(world, part), np.tile(full[np.ix_(chosen, every)], (world.size, 1)))
    with pytest.raises(osla.ArgumentError):
        a.submatrix(np.array([24]), columns)
    with pytest.raises(osla.ArgumentError):
        a.submatrix(chosen, np.array([0, 0]))
    p = a.submatrix(np.arange(mine.start, mine.stop), columns)  # any matrix can be a prolongation
    assert np.allclose(whole(world, a.galerkin(p)), full[:, every].T @ full @ full[:, every],
                       atol=1e-12)
    a.destroy()
    for call in (lambda: a.row(0), lambda: a.galerkin(p), lambda: p.galerkin(a),
                 lambda: a.submatrix(chosen, columns)):
        with pytest.raises(osla.StateError):
            call()


def test_values_of_products_again(world):
    full, a, mine = laplacian(world, 24)
    columns = np.arange(world.rank, 24, 2 * world.size)
    every = np.concatenate([np.arange(r, 24, 2 * world.size) for r in range(world.size)])
    p = a.submatrix(np.arange(mine.start, mine.stop), columns)
    square, coarse = a @ a, a.galerkin(p)
    new = np.where(full != 0, full + np.arange(24.0)[:, None] / 8, 0)
    values = np.concatenate([new[i][full[i] != 0] for i in range(mine.start, mine.stop)] +
                            [np.empty(0)])
    a.set_values(values)
    assert np.array_equal(whole(world, a), new)
    a.multiply_numeric(a, square)
    assert np.allclose(whole(world, square), new @ new, atol=1e-12)
    a.galerkin_numeric(p, coarse)
    assert np.allclose(whole(world, coarse), full[:, every].T @ new @ full[:, every], atol=1e-12)
    with pytest.raises(osla.ArgumentError, match="did not compute C from these two matrices"):
        a.multiply_numeric(p, square)
    with pytest.raises(osla.ArgumentError):
        a.set_values(np.zeros(a.entries + 1))
    square.destroy()
    with pytest.raises(osla.StateError):
        a.multiply_numeric(a, square)


def test_read_vectors_and_graphs(world, tmp_path_factory):
    from test_hessian import shared_path
    path = shared_path(world, tmp_path_factory, "b.mtx")
    graph = shared_path(world, tmp_path_factory, "g.graph")
    if world.rank == 0:
        with open(path, "w") as f:
            f.write("%%MatrixMarket matrix array real general\n5 1\n1\n2\n3\n4\n5\n")
        with open(graph, "w") as f:
            f.write("3 2\n2\n1 3\n2\n")
    world.barrier()
    mine = 5 if world.rank == world.size - 1 else 0
    assert osla.read_vector(path, mine).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0][:mine]
    with pytest.raises(osla.ArgumentError):
        osla.read_vector(path, mine + 1)
    with pytest.raises(osla.FileError, match="g.graph"):
        osla.read_vector(graph, mine)
    assert whole(world, osla.CSR.read_metis(graph)).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    with pytest.raises(osla.FileError, match="b.mtx"):
        osla.CSR.read_metis(path)
