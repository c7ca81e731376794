"""Conversions of arguments: values must be preserved. A mask, a fraction, a text or an imaginary
part would silently become other numbers."""
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import osla
from test_hessian import shared_path

NO_INDICES = [(np.array([True, True, False]), "elements of bool .* numpy.flatnonzero"),
              ([True, True, False], "elements of bool"), ([0.5, 1.7, 2.9], "elements of float64"),
              (np.array([0.0, 1.0, 2.0]), "elements of float64"), (["0", "1", "2"], "elements of <U1"),
              (np.array([0, 1, 2], np.uint64), "elements of uint64"), ([0, 1j, 2], "elements of complex"),
              ([0, None, 2], "elements of object"), (np.array([0, 1, 2], "m8[s]"), "elements of time"),
              (np.ma.array([0, 1, 2], mask=[0, 1, 0]), "masked"), ([[0], [1, 2]], "no array")]
NO_NUMBERS = [(np.array([1j, 2, 3]), "elements of complex128"), (["1", "2", "3"], "elements of <U1"),
              ([b"1", b"2", b"3"], "elements of"), ([1.0, None, 3.0], "elements of object"), ([1.0, [2.0], 3.0], "no array"),
              (np.array([1, 2, 3], "m8[s]"), "elements of time"),
              (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "masked")]


@pytest.mark.parametrize("ix, text", NO_INDICES)
def test_what_is_no_index(world, ix, text):
    H = osla.Hessian(4)
    ones, good = np.ones(3), np.arange(3)
    for update in (lambda: H.update(ix, ones, copy=True),
                   lambda: H.update_gradient(ix, ones, copy=True),
                   lambda: H.update_block(ix, good, np.ones((3, 3)), copy=True),
                   lambda: H.update_block(good, ix, np.ones((3, 3)), copy=True)):
        with pytest.raises(osla.ArgumentError, match=text):
            update()
    H.commit()
    assert H.matrix.norm() == 0 and (H.gradient == 0).all()


@pytest.mark.parametrize("values, text", NO_NUMBERS)
def test_what_is_no_number(world, values, text):
    H, ix, a = osla.Hessian(4), np.arange(3), osla.Matrix(3, 3)
    identity = osla.Matrix(3, 3).fill("identity")
    square = np.ma.array(np.ones((3, 3)), mask=True) if text == "masked" else [list(values)] * 3

    def assign():
        a[:, 0] = values

    for call in (lambda: H.update(ix, values, copy=True), assign,
                 lambda: H.update_gradient(ix, values, copy=True),
                 lambda: H.update_block(ix, ix, square, copy=True),
                 lambda: a.put(0, 0, values, copy=True)):
        with pytest.raises(osla.ArgumentError, match=text):
            call()
    assert a.norm() == 0
    lu, cholesky = osla.getrf(identity.copy()), osla.potrf(identity)
    last = world.rank == world.size - 1
    for solve in (lu.solve, cholesky.solve):  # an argument wrong on one rank is refused on all
        with pytest.raises(osla.ArgumentError, match=text):
            solve(values if last else np.ones(3))


def test_what_is_kept(world):
    H, single = osla.Hessian(4, uplo="whole"), osla.Hessian(4, dtype=np.float32)
    for ix in (np.array([1, 2], np.int8), np.array([1, 2], np.uint32), np.array([1, 2], ">i8"), (1, 2),
               np.array([[1, 0], [2, 0]])[:, 0]):
        H.update(ix, np.array([True, True]), copy=True)
        H.update_gradient(ix, np.array([1, 1], np.float16), copy=True)
    for nothing in ([], np.array([]), np.array([], np.float32), np.array([], bool)):
        H.update(nothing, nothing, copy=True)
    H.update(3, 2, copy=True)
    single.update([0], np.array([1 / 3]), copy=True)
    H.commit()
    single.commit()
    each = 5.0 * world.size
    assert (H.gradient == [0, each, each, 0]).all()
    assert H.matrix[1, 2] == each and H.matrix[3, 3] == 4 * world.size
    assert abs(single.matrix[0, 0] - world.size / 9) < 1e-6 * world.size
    a, mine = osla.Matrix(1, world.size), world.rank
    for value in (Fraction(1, 2), Decimal("1.5"), 10**20, np.array(Fraction(1, 2))):
        a[0, mine] = value
        assert a[0, mine] == float(value)
    z = osla.Matrix(2, 2, dtype=np.complex64)
    z[1, 1] = Fraction(1, 2)
    assert z[1, 1] == 0.5
    z[0, :] = [1, 2.5]
    world.barrier()
    assert z[0, 1] == 2.5
    solved = osla.getrf(osla.Matrix(2, 2).fill("identity")).solve([1, 2])
    assert solved.dtype == np.float64 and (solved == [1, 2]).all()
    given = np.array([1.0, 2.0])
    assert osla.potrf(osla.Matrix(2, 2).fill("identity")).solve(given) is not given


def test_what_is_too_large(world):
    single, a = osla.Hessian(4, dtype=np.float32), osla.Matrix(2, 2, dtype=np.float32)
    with pytest.raises(osla.ArgumentError, match="too large for float32"):
        single.update([0], [1e300], copy=True)
    with pytest.raises(osla.ArgumentError, match="too large for float32"):
        a[0, 0] = 1e39
    with pytest.raises(osla.ArgumentError, match="too large for float64"):
        a[0, 0] = 10**400
    for call in (a.scale, lambda x: a.add(x, a)):
        with pytest.raises(osla.ArgumentError, match="alpha: the number is too large for float64"):
            call(10**400)
    a[0, 0] = np.inf
    world.barrier()
    assert a[0, 0] == np.inf


def test_factors(world):
    """Elements of real types cannot hold an imaginary part."""
    a, b, c = (osla.Matrix(3, 3).fill("identity") for _ in range(3))
    column = osla.Matrix(3, 1)
    calls = [lambda x: osla.gemm(a, b, c, alpha=x), lambda x: osla.gemm(a, b, c, beta=x),
             lambda x: osla.syrk(a, c, alpha=x), lambda x: osla.symm(a, b, c, beta=x),
             lambda x: osla.trmm(a, c, alpha=x), lambda x: osla.trsm(a, c, alpha=x),
             lambda x: osla.gemv(a, column, column, alpha=x), lambda x: c.scale(x),
             lambda x: c.part(0, 0, 2, 2).scale(x), lambda x: osla.herk(a, c, alpha=x),
             lambda x: c.add(x, a)]
    for call in calls:
        for factor in (1j, np.complex128(1j), "2"):
            with pytest.raises(osla.ArgumentError, match="number is needed"):
                call(factor)
    assert (c.to_numpy() == np.eye(3)).all()
    c.scale(2 + 0j)
    assert c[0, 0] == 2
    line = osla.CSR(np.array([0, 1]), np.array([world.rank]), np.ones(1))
    for number in (1j, np.complex64(1e-3 + 5j), np.array(1e-3 + 5j)):
        for call, name in ((lambda: osla.Hessian(3, initial=number), "initial"),
                           (lambda: osla.cg(line, np.ones(1), tolerance=number), "tolerance"),
                           (lambda: osla.refine(a, osla.LU(a, None, 0), b, c, target=number), "target")):
            with pytest.raises(osla.ArgumentError, match=f"{name} = .* a real number is needed"):
                call()
    with pytest.raises(IndexError):
        c[True, 0]


def test_advice(world):
    """Messages recommend what the call offers: copy=True, or a numpy function."""
    H, a, line = osla.Hessian(4), osla.Matrix(2, 2).fill("identity"), osla.CSR(np.array([0, 1]), np.array([world.rank]), np.ones(1))
    lu, row = osla.getrf(a.copy()), np.array([0, 1])
    for call in (lambda: H.update([0], np.ones(1)), lambda: H.update(row, [1.0, 2.0]),
                 lambda: H.update_block(row, [0, 1], np.ones((2, 2))), lambda: H.update_gradient(row, [1.0, 2.0]),
                 lambda: a.put(0, 0, [1.0]), lambda: a.put(0, 0, np.ones((2, 2)))):
        with pytest.raises(osla.ArgumentError, match="copy=True"):
            call()
    for call, text in ((lambda: osla.CSR([0, 1], row, row), r"numpy.asarray\(indptr, numpy.int64\) makes one"),
                       (lambda: osla.cg(line, [1.0]), r"numpy.asarray\(b, numpy.float64\) makes one"),
                       (lambda: line @ [1.0], r"numpy.asarray\(x, numpy.float64\) makes one"),
                       (lambda: lu.solve([1.0, 2.0], overwrite=True), r"numpy.asarray\(b, numpy.float64\)"),
                       (lambda: lu.solve(np.ones((2, 2)), overwrite=True), "asfortranarray makes such an array$"),
                       (lambda: H.update_once(1, [0]), r"numpy.asarray\(ix, numpy.int64\)")):
        with pytest.raises(osla.ArgumentError, match=text):
            call()


def test_vectors_of_files(world, tmp_path_factory):
    path = shared_path(world, tmp_path_factory, "vectors.h5")
    with osla.File(path, "w") as f:
        f.put("fractions", np.array([0.5, 1.7]))
        f.put("whole", np.array([2**53 + 1]))
        with pytest.raises(osla.ArgumentError):
            f.put("truths", np.array([True]))
        with pytest.raises(osla.ArgumentError):
            f.put("complex", 1j)
    with osla.File(path) as f:
        with pytest.raises(osla.Error):
            f.vector("fractions", np.int64)
        with pytest.raises(osla.Error):
            f.vector("whole")


def test_tuples_are_no_memory(world):
    """A tuple of four describes a matrix in device memory only if its capsule has as many bytes."""
    with osla.Hessian(8) as H:
        for G, text in (((None, 1, 2, 1), "do not fit into the 0 bytes"), ((None, -1, 2, 1), "k = -1 rows of G is negative")):
            with pytest.raises(osla.ArgumentError, match=text):
                H.update(np.array([1, 2]), G)
