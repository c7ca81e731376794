"""Transfers of star forests: types and combinations, begin and end, deallocation, and refused
arguments."""
import gc

import numpy as np
import pytest

import osla
from osla import _core

AT = np.dtype([("value", np.float64), ("at", np.int64)])
REAL = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32,
        np.float64, np.longdouble]
COMPLEX = [np.complex64, np.complex128]


def children(world):
    """Number of living objects, after those that other tests deallocated are destroyed: a
    transfer's forest waits for the transfer."""
    gc.collect()
    for _ in range(3):
        world.collect()
    return _core.children(world._handle)


def test_what_is_dropped_meanwhile(world):
    """A sparse matrix cannot be destroyed while a transfer of any forest is under way: its
    destruction is deferred, and the calls at which the ranks agree do not fail."""
    before = children(world)
    tridiagonal = (np.array([0, 1]), np.array([world.rank]), np.ones(1))
    f = osla.Forest.allgather(1)
    for order in range(2):  # the matrix is made after the transfer, or before it
        matrix = None if order == 0 else osla.CSR(*tridiagonal)
        leaves = np.zeros(world.size)
        transfer = f.bcast_begin(np.full(1, world.rank + 1.0), leaves)
        if order == 0:
            matrix = osla.CSR(*tridiagonal)
        with pytest.raises(osla.StateError, match="under way"):
            matrix.destroy()
        assert (matrix @ np.full(1, 2.0) == 2).all()
        del matrix
        for call in (lambda: osla.Matrix(5, 5), world.barrier, world.collect):
            call()
        assert children(world) == before + 3  # the forest, the transfer, the matrix
        transfer.end()
        assert (leaves == np.arange(world.size) + 1).all()
        del transfer
        assert children(world) == before + 1
    younger, transfer = None, f.bcast_begin(np.zeros(1), leaves)
    younger = osla.CSR(*tridiagonal)
    del younger, transfer
    assert children(world) == before + 1  # destroyed immediately, even if a younger object refuses destruction


def star(world):
    """Root 0 of rank 0, with leaf 0 of every rank."""
    return osla.Forest(1 if world.rank == 0 else 0, np.zeros(1, np.int64))


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_types(world, dtype):
    f, size = star(world), world.size
    mine = np.full((1, 3), world.rank + 2, dtype)
    all_of = np.arange(2, size + 2)
    wanted = {"sum": 1 + all_of.sum(), "prod": all_of.prod(), "replace": size + 1}
    if dtype not in COMPLEX:
        wanted |= {"min": 1, "max": size + 1}
    if dtype not in COMPLEX + [np.longdouble] and np.dtype(dtype).kind == "f":
        wanted["sum exact"] = wanted["sum"]
    wanted["sum arrival"] = wanted["sum"]
    if np.dtype(dtype).kind in "iu":
        wanted |= {"bits or": np.bitwise_or.reduce(all_of) | 1, "logical and": 1,
                   "bits and": np.bitwise_and.reduce(all_of) & 1,
                   "bits xor": np.bitwise_xor.reduce(all_of) ^ 1}
    for combine, value in wanted.items():
        roots = np.ones((f.n_roots, 3), dtype)
        assert f.reduce(mine, roots, combine) is roots
        assert (roots == value).all(), combine
        leaves = f.bcast(roots, np.zeros((1, 3), dtype))
        assert (leaves == value).all() and leaves.dtype == dtype


def test_records(world):
    f = star(world)
    mine = np.array([(-abs(world.rank - 1.0), world.rank)], AT)
    low = np.array([(np.inf, -1)] * f.n_roots, AT)
    f.reduce(mine, low, "minloc")
    if world.rank == 0:
        value = max(1, world.size - 2)
        assert low[0]["value"] == -value and low[0]["at"] == (0 if value == 1 else world.size - 1)
    other = np.dtype([("name", "S5"), ("flag", np.bool_)])
    got = f.bcast(np.array([(b"seven", True)] * f.n_roots, other), np.zeros(1, other))
    assert got[0]["name"] == b"seven" and got[0]["flag"]
    for dtype, combine in ((AT, "sum"), (other, "sum"), (np.float64, "minloc"), (np.float64, "bits or"),
                           (np.complex128, "max"), (np.longdouble, "sum exact")):
        with pytest.raises(osla.ArgumentError, match=" has no "):
            f.reduce(np.zeros(1, dtype), np.zeros(f.n_roots, dtype), combine)


def test_fetch(world):
    f = star(world)
    counter = np.full(f.n_roots, 100)
    before = f.fetch(counter, np.array([world.rank + 1]))
    total = world.size * (world.size + 1) // 2
    assert counter.tolist() == [100 + total] * f.n_roots
    assert before.tolist() == [100 + world.rank * (world.rank + 1) // 2]
    own = np.zeros(1, np.int64)
    assert f.fetch_begin(counter, np.array([1]), own).end() is own
    assert own[0] == 100 + total + world.rank
    arrived = np.zeros(f.n_roots, np.int64)
    before = f.fetch(arrived, np.ones(1, np.int64), combine="sum arrival")
    assert arrived.tolist() == [world.size] * f.n_roots and 0 <= before[0] < world.size
    for combine in ("sum arrival", "sum exact"):
        with pytest.raises(osla.ArgumentError):
            f.fetch(np.zeros(f.n_roots), np.zeros(1), combine=combine)


def test_begun_and_ended(world):
    f, g = star(world), osla.Forest.allgather(1)
    counts = np.zeros(f.n_roots, np.int64)
    first = f.reduce_begin(np.ones(1, np.int64), counts)
    with g.bcast_begin(np.array([float(world.rank)]), np.zeros(world.size)) as second:
        pass
    assert second.result.tolist() == list(range(world.size))
    assert first.end() is counts and counts.tolist() == [world.size] * f.n_roots
    for ended in (first, second):
        with pytest.raises(osla.StateError, match="has ended"):
            ended.end()
        with pytest.raises(osla.StateError, match="has ended"):
            ended.test()
    third = f.bcast_begin(counts, np.zeros(1, np.int64))
    while not third.test():
        pass
    assert third.result.tolist() == [world.size]


def test_under_way(world):
    f = star(world)
    begun = [f.bcast_begin(np.full(f.n_roots, float(i)), np.zeros(1)) for i in range(8)]
    with pytest.raises(osla.StateError, match="has not ended"):
        f.bcast(np.zeros(f.n_roots), np.zeros(1))
    if world.size > 1:  # on all but one rank the transfer has ended
        last = world.rank == world.size - 1
        if not last:
            begun[0].end()
        with pytest.raises(osla.StateError, match="has not ended"):
            f.bcast(np.zeros(f.n_roots), np.zeros(1))
        if last:
            begun[0].end()
    with pytest.raises(osla.StateError):
        f.destroy()
    for i, transfer in enumerate(begun):
        if i > 0 or world.size == 1:
            assert transfer.end().tolist() == [i]
    f.bcast(np.zeros(f.n_roots), np.zeros(1))
    f.destroy()
    with pytest.raises(osla.StateError, match="has ended"):
        begun[3].end()


def test_dropped(world):
    before = children(world)
    f = star(world)
    leaves = [np.zeros(100000) for _ in range(4)]
    wide = osla.Forest(100000 * (world.rank == 0), np.arange(100000))
    for i in range(4):
        transfer = wide.bcast_begin(np.full(wide.n_roots, float(i + 1)), leaves[i])
        if i == 1 and world.rank == 0:
            transfer.end()
        del transfer  # no other reference to the roots of the transfer exists
    world.collect()
    assert [a.min() == a.max() == i + 1 for i, a in enumerate(leaves)] == [True] * 4
    kept = f.bcast_begin(np.ones(f.n_roots), np.zeros(1))
    if world.rank > 0:
        kept = None
    world.collect()
    assert kept is None or kept.end().tolist() == [1.0]
    del f, wide, kept
    assert children(world) == before


def test_one_array(world):
    """A rank's two roots and its leaf, whose root is the next rank's first, in one array."""
    f = osla.Forest(2, np.array([2 * (world.rank + 1) % (2 * world.size)]), np.array([2]))
    points = np.full(3, float(world.rank))
    f.bcast(points[:2], points)
    assert points.tolist() == [world.rank, world.rank, (world.rank + 1) % world.size]
    f.reduce(points, points[:2])
    assert points[0] == 2 * world.rank and points[1] == world.rank


def test_arrays_that_are_refused(world):
    f = osla.Forest(2, np.array([0, 1, 1]) + 2 * world.rank)
    good = np.zeros((3, 2))
    odd = np.zeros(2 * 8 + 1, np.uint8)[1:].view(np.float64)
    for bad in (np.zeros(2), np.zeros((2, 2), np.float32), np.zeros((2, 4))[:, ::2], np.zeros((3, 2)),
                np.zeros((2, 2), object), [[0.0] * 2] * 2, np.zeros((2, 2), order="F"), None, 1.0):
        with pytest.raises(osla.ArgumentError):
            f.bcast(bad, good)
        with pytest.raises(osla.ArgumentError):
            f.reduce(good, bad)
    with pytest.raises(osla.ArgumentError, match="aligned"):
        f.bcast(odd, np.zeros(3))
    for record in (AT, np.dtype([("value", np.float32), ("at", np.int32)])):
        with pytest.raises(osla.ArgumentError, match="aligned"):
            f.bcast(np.zeros(2 * 16 + 1, np.uint8)[1:2 * record.itemsize + 1].view(record), np.zeros(3, record))
    with pytest.raises(osla.ArgumentError, match="0 numbers per vertex"):
        f.bcast(np.zeros((2, 0)), np.zeros((3, 0)))
    with pytest.raises(osla.ArgumentError, match="combine = 'mean'"):
        f.bcast(np.zeros(2), np.zeros(3), "mean")
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(osla.ArgumentError, match="written"):
        f.bcast(np.zeros(2), frozen)
    f.reduce(frozen, np.zeros(2))
    both = np.zeros(5)
    with pytest.raises(osla.ArgumentError, match="overlap"):
        f.bcast(both[:2], both[2 - 1:4])
    with pytest.raises(osla.ArgumentError, match="overlap"):
        f.fetch(np.zeros(2), both[:3], both[1:4])
    last = world.rank == world.size - 1
    with pytest.raises(osla.ArgumentError, match="shape"):  # the shape is wrong on one rank only
        f.bcast(np.zeros(3 if last else 2), np.zeros(3))
    if world.size > 1:  # arguments are valid on each rank, but differ between ranks
        with pytest.raises(osla.StateError, match="float32"):
            dtype = np.float32 if last else np.float64
            f.bcast(np.zeros(2, dtype), np.zeros(3, dtype))
        with pytest.raises(osla.StateError, match="max"):
            f.reduce(np.zeros(3), np.zeros(2), "max" if last else "min")
    assert f.bcast(np.ones(2), np.zeros(3)).tolist() == [1.0] * 3
