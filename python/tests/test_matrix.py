"""Matrices: local arrays, blocks, whole arrays, and refused arguments."""
import numpy as np
import pytest

import osla

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(0, 0, 3), (1, 1, 1), (7, 5, 2), (5, 9, (3, 4)), (6, 4, 50)]


def values(m, n, dtype):
    x = np.arange(m * n, dtype=np.float64).reshape(m, n) + 1
    return (x + 1j * x[::-1]).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


@pytest.mark.parametrize("m, n, block", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_and_from_numpy(world, m, n, block, dtype):
    x = values(m, n, dtype)
    for order in "CF":
        a = osla.Matrix.from_numpy(np.array(x, order=order), block=block)
        assert a.shape == (m, n) and a.dtype == np.dtype(dtype)
        assert (a.to_numpy() == x).all()
    root = world.size - 1
    b = osla.Matrix.from_numpy(x if world.rank == root else None, root=root, shape=(m, n),
                               dtype=dtype, block=block)
    back = b.to_numpy(root=0)
    assert (back is None) == (world.rank != 0)
    if world.rank == 0:
        assert (back == x).all() and back.flags.f_contiguous


@pytest.mark.parametrize("m, n, block", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_local_array(world, m, n, block, dtype):
    x = values(m, n, dtype)
    a = osla.Matrix(m, n, block=block, dtype=dtype)
    local = a.local
    assert local.shape == (a.local_rows.size, a.local_columns.size) and local.dtype == dtype
    assert local.size == 0 or local.strides[0] == local.itemsize
    assert local.shape[1] <= 1 or local.strides[1] == a.lld * local.itemsize
    assert (local == 0).all() and local.flags.writeable
    local[...] = x[np.ix_(a.local_rows, a.local_columns)]
    assert (a.to_numpy() == x).all()  # values stored in `local` are in the matrix, because it is the matrix's memory
    total = np.array([float(local.size)])
    world.allreduce(total)
    assert total[0] == m * n


def test_two_process_rows(world):
    if world.size != 4:
        pytest.skip("4 ranks")
    grid = osla.Grid(2, 2, order="columns")
    x = values(9, 11, np.float64)
    a = osla.Matrix.from_numpy(x, block=(2, 3), grid=grid)
    assert (grid.prow, grid.pcol) == (world.rank % 2, world.rank // 2)
    assert (a.local == x[np.ix_(a.local_rows, a.local_columns)]).all()


def test_idle_ranks(world):
    grid = osla.Grid(1, 1)
    a = osla.Matrix.from_numpy(np.eye(4), grid=grid)
    assert a.local.shape == ((4, 4) if world.rank == 0 else (0, 0))
    assert a.norm("fro") == 2.0


def test_get_and_put(world):
    x = values(10, 12, np.float64)
    a = osla.Matrix.from_numpy(x, block=3)
    assert (a.get(2, 3, 5, 7) == x[2:7, 3:10]).all()
    assert a.get(2, 3, 0, 7).shape == (0, 7)
    assert (a[2:7, 3:10] == x[2:7, 3:10]).all() and (a[-1] == x[-1]).all()
    assert a[4, 5] == x[4, 5] and (a[:, 2] == x[:, 2]).all() and a[3:1].shape == (0, 12)
    world.barrier()
    if world.rank == 0:
        a.put(1, 2, np.asfortranarray(-x[1:4, 2:6]))
        a[8, 9] = 1000
        a[9] = np.arange(12)
        a[0:2, 0:2] = 5
    world.barrier()
    x[1:4, 2:6] *= -1
    x[8, 9], x[9], x[0:2, 0:2] = 1000, np.arange(12), 5
    assert (a.to_numpy() == x).all()


def test_blocks_that_are_refused(world):
    a = osla.Matrix(6, 6, block=2)
    block = np.ones((3, 4))
    cases = [(np.ones((3, 4)), "Fortran order"), (np.ones((2, 2), np.float32, order="F"), "'f'"),
             (np.ones((2, 2, 2), order="F"), "3 dimensions"), ([[1.0]], "an array of float64"),
             (np.ones((7, 1), order="F"), "7"), (np.ones((4, 4), ">f8", order="F"), "type")]
    for bad, text in cases:
        with pytest.raises(osla.ArgumentError, match=text):
            a.put(0, 0, bad)
    record = np.zeros(4, dtype=[("a", "i1"), ("x", "f8")])["x"]
    with pytest.raises(osla.ArgumentError):
        a.put(0, 0, record)
    a.put(0, 0, block, copy=True)
    a.put(0, 0, np.ones((6, 8))[::2, ::2].T, copy=True)
    a.put(0, 0, block.T)  # a column-major array needs no copy
    a.put(0, 0, np.asfortranarray(np.ones((4, 6)))[:3, ::2])  # columns are not adjacent in memory
    with pytest.raises(osla.ArgumentError, match="rows 4 .. 6"):
        a.get(4, 0, 3, 1)
    with pytest.raises(osla.ArgumentError, match="i = -1 is below 0"):
        a.get(-1, 0, 1, 1)
    with pytest.raises(IndexError):
        a[6, 0]
    with pytest.raises(IndexError):
        a[::2, 0]
    world.barrier()


def test_from_numpy_refuses(world):
    with pytest.raises(osla.ArgumentError, match="two dimensions"):
        osla.Matrix.from_numpy(np.ones(3))
    with pytest.raises(osla.ArgumentError, match="int64"):
        osla.Matrix.from_numpy(np.ones((2, 2), np.int64))
    with pytest.raises(osla.ArgumentError, match=r"\(2, 3\) of float64 where \(3, 2\)"):
        osla.Matrix.from_numpy(np.ones((2, 3)) if world.rank == 0 else None, root=0, shape=(3, 2),
                               dtype=float)
    with pytest.raises(osla.ArgumentError, match="root"):
        osla.Matrix.from_numpy(np.ones((2, 3)), root=world.size, shape=(2, 3), dtype=float)


def test_whole_matrices(world):
    x = values(6, 6, np.complex128)
    a = osla.Matrix.from_numpy(x, block=2)
    b = osla.Matrix(6, 6, block=3, dtype=np.complex128)
    a.copy_to(b, "c")
    assert (b.to_numpy() == x.conj().T).all()
    c = a.copy()
    c.add(2.0, a, -1.0)
    assert (c.to_numpy() == x).all()
    for which, order in (("one", 1), ("inf", np.inf), ("fro", "fro")):
        assert np.isclose(a.norm(which), np.linalg.norm(x, order), rtol=1e-13)
    assert np.isclose(a.norm("max"), np.abs(x).max())
    assert (a.mirror("lower").to_numpy() == np.tril(x) + np.tril(x, -1).T).all()
    with pytest.raises(osla.ArgumentError, match="which = 'two'"):
        a.norm("two")
    with osla.Matrix(2, 2) as d:
        assert d.fill("identity").norm("max") == 1
    assert d.destroyed


def test_parts(world, rng):
    x = rng.normal(size=(13, 11))
    a = osla.Matrix.from_numpy(x, block=(3, 4))
    part = a.part(2, 3, 6, 5)
    assert part.shape == (6, 5) and part.dtype == np.float64 and "6 x 5 at (2, 3)" in repr(part)
    assert part.norm("one") == pytest.approx(np.abs(x[2:8, 3:8]).sum(axis=0).max())
    a.part(2, 3, 5, 5).copy_to(a.part(8, 6, 5, 5))
    x[8:13, 6:11] = x[2:7, 3:8]
    assert np.array_equal(a.to_numpy(), x)
    b = osla.Matrix(5, 6, block=2)
    part.copy_to(b, "t")
    assert np.array_equal(b.to_numpy(), x[2:8, 3:8].T)
    assert part.scale(-2.0) is part
    x[2:8, 3:8] *= -2
    a.part(0, 0, 2, 2).fill("identity")
    x[:2, :2] = np.eye(2)
    assert np.array_equal(a.to_numpy(), x)
    x *= 0.5
    assert np.array_equal(a.scale(0.5).to_numpy(), x)
    with pytest.raises(osla.ArgumentError):
        part.copy_to(a.part(3, 3, 6, 5))
    with pytest.raises(osla.ArgumentError):
        a.part(10, 0, 4, 1).norm()
    with pytest.raises(osla.ArgumentError, match="not ndarray"):
        osla.Part(x, 0, 0, 1, 1).norm()
    a.destroy()
    with pytest.raises(osla.StateError):
        part.norm()


@pytest.mark.parametrize("n, block", [(0, 3), (1, 1), (7, 2), (9, 4), (6, 50)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangle(world, n, block, dtype):
    """`get` returns both triangles of a symmetric matrix of which only the lower one is stored."""
    x = values(n, n, dtype)
    lower = np.tril(x)
    symmetric = lower + np.tril(x, -1).conj().T
    for root in (None, world.size - 1):
        mine = x if root is None or root == world.rank else None
        a = osla.Matrix.from_numpy(mine, root=root, shape=(n, n), dtype=dtype, block=block,
                                   triangle="lower")
        assert a.triangle == "lower" and a.shape == (n, n) and a.lld == 0
        assert (np.tril(a.to_numpy()) == lower).all()
        assert (a.get(0, 0, n, n)[~np.eye(n, dtype=bool)] == symmetric[~np.eye(n, dtype=bool)]).all()
    assert "lower triangle" in repr(a) and osla.Matrix(n, n, block=block).triangle is None
    with pytest.raises(osla.UnsupportedError, match="lower triangle alone"):
        a.local
    a.destroy()


def test_triangle_solve(world):
    """Factorisation, solution, determinant and accumulator on a matrix with triangle="lower"."""
    n = 23
    x = values(n, n, np.float64) / n**2
    full = x @ x.T + n * np.eye(n)
    a = osla.Matrix(n, n, block=4, triangle="lower")
    assert not a.to_numpy().any()
    world.barrier()
    if world.rank == 0:
        a.put(0, 0, np.asfortranarray(full))
    b = np.arange(n) + 1.0
    factor = osla.potrf(a)
    assert np.allclose(factor.solve(b), np.linalg.solve(full, b), rtol=1e-12)
    assert np.allclose(factor.logdet(), np.linalg.slogdet(full)[1], rtol=1e-12)
    zeros = osla.Matrix(n, n, block=4, triangle="lower")
    with osla.Hessian(on=zeros) as H:
        H.update_block(np.arange(n), np.arange(n), np.asfortranarray(full / world.size))
    assert H.matrix.triangle == "lower" and np.allclose(zeros.to_numpy(), full, rtol=1e-14)


def test_refused_triangles(world):
    for words, error, text in [
            ({"triangle": "upper"}, osla.ArgumentError, "triangle = 'upper': None or 'lower' is needed"),
            ({"triangle": True}, osla.ArgumentError, "triangle = True"),
            ({"n": 5, "triangle": "lower"}, osla.ArgumentError, "with 4 x 5 elements in blocks of 96 x 96"),
            ({"block": (2, 3), "triangle": "lower"}, osla.ArgumentError, "blocks of 2 x 3"),
            ({"device": "cuda", "triangle": "lower"}, osla.UnsupportedError, "leave out one of the two")]:
        with pytest.raises(error, match=text):
            osla.Matrix(**{"m": 4, "n": 4, **words})
    with pytest.raises(osla.ArgumentError, match="with 4 x 3 elements"):
        osla.Matrix.from_numpy(np.ones((4, 3)), triangle="lower")
    if world.size > 1:
        with pytest.raises(osla.Error):
            osla.Matrix(4, 4, triangle="lower" if world.rank == 0 else None)
