"""Star forests: creation, queries, forests made from others, and refused arguments."""
import numpy as np
import pytest

import osla


def ring(world):
    """Two roots on each rank; leaves 4, 0 and 2 of each rank have roots on the next rank and on
    this one."""
    after = (world.rank + 1) % world.size
    rank = np.array([after, world.rank, after])
    return osla.Forest(2, np.array([0, 0, 1]), np.array([4, 0, 2]), rank=rank)


def test_global_numbers(world):
    here, size = world.rank, world.size
    after = (here + 1) % size
    f = osla.Forest(2, np.array([2 * after, 2 * here, 2 * after + 1]))
    roots = np.array([[10.0 * here, 1], [10.0 * here + 1, 2]])
    leaves = f.bcast(roots, np.zeros((3, 2)))
    assert leaves[:, 0].tolist() == [10 * after, 10 * here, 10 * after + 1]
    assert leaves[:, 1].tolist() == [1, 1, 2]
    counts = f.reduce(np.ones(3, np.int64), np.zeros(2, np.int64))
    assert counts.tolist() == [2, 1] == f.degrees().tolist()


def test_what_it_is(world):
    f = ring(world)
    before, after = (world.rank - 1) % world.size, (world.rank + 1) % world.size
    assert (f.n_roots, f.n_edges, f.leaf_space) == (2, 3, 5)
    assert f.root_ranks == sorted({after, world.rank}) and f.leaf_ranks == sorted({before, world.rank})
    assert f.degrees().tolist() == [2, 1]
    edges = {tuple(int(x) for x in edge) for edge in zip(*f.edges())}
    assert edges == {(4, after, 0), (0, world.rank, 0), (2, after, 1)}
    leaves = f.bcast(np.array([10 * world.rank, 10 * world.rank + 1]), np.full(5, -1))
    assert leaves.tolist() == [10 * world.rank, -1, 10 * after + 1, -1, 10 * after]


def test_view(world):
    f = ring(world)
    short, long = f.view(), f.view(edges=True)
    assert short.startswith("forest ") and "2 roots, 3 edges, leaves below 5" in short
    assert len(long.splitlines()) == len(short.splitlines()) + 3
    f.destroy()
    with pytest.raises(osla.StateError):
        f.view()


def test_known_shapes(world):
    n = world.rank + 1
    total = world.size * (world.size + 1) // 2
    values = np.arange(n) + 100 * world.rank
    whole = [i + 100 * r for r in range(world.size) for i in range(r + 1)]
    every = osla.Forest.allgather(n)
    assert every.bcast(values, np.zeros(total, np.int64)).tolist() == whole
    last = world.size - 1
    one = osla.Forest.gather(n, last)
    gathered = one.bcast(values, np.zeros(one.leaf_space, np.int64))
    assert gathered.tolist() == (whole if world.rank == last else [])
    swap = osla.Forest.alltoall(2)
    sent = np.array([[100 * world.rank + q, q] for q in range(world.size) for _ in range(2)])
    got = swap.bcast(sent, np.zeros((2 * world.size, 2), np.int64))
    assert got[:, 0].tolist() == [100 * p + world.rank for p in range(world.size) for _ in range(2)]
    with pytest.raises(osla.ArgumentError):
        osla.Forest.gather(n, world.size)
    with pytest.raises(osla.StateError, match="on rank"):
        if world.size == 1:
            raise osla.StateError("on rank")
        osla.Forest.gather(n, min(world.rank, 1))


def test_made_from_others(world):
    f = osla.Forest.alltoall(1)  # each root has one leaf
    back = f.inverse()
    there = np.arange(world.size) + 10.0 * world.rank
    leaves = f.bcast(there, np.zeros(world.size))
    assert np.array_equal(back.bcast(leaves, np.zeros(world.size)), there)
    assert np.array_equal(f.compose(back).bcast(there, np.zeros(world.size)), there)
    assert np.array_equal(f.compose_inverse(f).bcast(there, np.zeros(world.size)), there)

    star = ring(world)
    with pytest.raises(osla.ArgumentError):
        star.inverse()
    split = star.split()
    assert split.n_roots == 3 and split.degrees().tolist() == [1, 1, 1]
    wide = star.strided(2)
    assert (wide.n_roots, wide.n_edges) == (4, 6)
    assert star.strided(2, 3, 2 + world.rank).n_roots == 6
    both = star.concatenate(f)
    assert both.n_roots == 2 + world.size and both.n_edges == 3 + world.size
    same = star.concatenate(star, star, same_roots=True)
    assert same.degrees().tolist() == [6, 3]
    assert star.embed_roots(np.array([1])).degrees().tolist() == [0, 1]
    assert star.embed_leaves(np.array([0, 2])).n_edges == 2
    star.destroy()
    assert same.degrees().tolist() == [6, 3]
    with pytest.raises(osla.StateError, match="destroyed"):
        star.split()
    with pytest.raises(osla.StateError, match="destroyed"):
        both.compose(star)
    with pytest.raises(osla.StateError, match="destroyed"):
        star.degrees()
    star.destroy()


def test_gather_and_scatter(world):
    """Rank p has a leaf of the root of each rank q <= p, and one more of its own root."""
    root = np.append(np.arange(world.rank + 1), world.rank)
    f = osla.Forest(1, root)
    leaves = 100.0 * world.rank + np.arange(len(root))
    expected = [100.0 * p + world.rank for p in range(world.rank, world.size)]
    expected.insert(1, 101.0 * world.rank + 1)
    gathered = f.gather_leaves(leaves)
    assert gathered.tolist() == expected
    pairs = np.stack([leaves, -leaves], axis=1)
    both = np.empty((len(expected), 2))
    assert f.gather_leaves(pairs, both) is both and np.array_equal(both[:, 1], -gathered)
    back = np.zeros(len(root))
    assert f.scatter_leaves(gathered + 0.5, back) is back and np.array_equal(back, leaves + 0.5)
    text = np.array([b"ab", b"c"] * len(root))[:len(root)]
    assert set(f.gather_leaves(text).tolist()) <= {b"ab", b"c"}
    for call in (lambda: f.gather_leaves(leaves, both), lambda: f.gather_leaves(leaves[1:]),
                 lambda: f.scatter_leaves(both, back), lambda: f.gather_leaves(7)):
        with pytest.raises(osla.ArgumentError):
            call()
    with pytest.raises(osla.Error):  # one rank fails before the gather, and all ranks get an error
        f.gather_leaves(7 if world.rank == 0 else leaves)
    values = np.zeros(len(root))
    transfer = f.bcast_begin(np.ones(1), values)
    with pytest.raises(osla.StateError):  # the forest is in use, stays, and can gather again
        f.destroy()
    transfer.end()
    assert f.gather_leaves(leaves).tolist() == expected
    apart = f._apart
    f.destroy()
    assert apart.destroyed
    with pytest.raises(osla.StateError, match="destroyed"):
        f.gather_leaves(leaves)


def test_reduce_with(world):
    """Root 1 of rank 0 has two leaves on each rank, root 0 none. The function does not commute."""
    f = osla.Forest(2, np.array([1, 1]), rank=np.zeros(2, np.int64))
    leaves = np.array([[2.0 * world.rank, 1.0], [2.0 * world.rank + 1, 1.0]])
    roots, calls = np.full((2, 2), 100.0), []

    def combine(x, y):
        calls.append(x.shape)
        return x / 2 + y

    assert f.reduce_with(leaves, roots, combine) is roots
    expected = np.full((2, 2), 100.0)
    for value in range(2 * world.size if world.rank == 0 else 0):
        expected[1] = expected[1] / 2 + (value, 1.0)
    assert np.array_equal(roots, expected)
    assert calls == [(1, 2)] * (2 * world.size if world.rank == 0 else 0)
    texts = f.reduce_with(np.array([b"a", b"b"]), np.array([b"c", b"d"]),
                          lambda x, y: np.where(x > y, x, y))
    assert texts.tolist() == [b"c", b"d"]
    for arguments in ((leaves, roots, 7), (leaves, roots[:1], combine), (leaves[1:], roots, combine),
                      (leaves, roots.astype(np.float32), combine), (7, roots, combine)):
        with pytest.raises(osla.ArgumentError):
            f.reduce_with(*arguments)
    with pytest.raises(osla.Error):  # one rank fails before the reduction, and all ranks get an error
        f.reduce_with(leaves, roots, 7 if world.rank == 0 else combine)
    if world.rank == 0:
        with pytest.raises(ZeroDivisionError):
            f.reduce_with(leaves, roots, lambda x, y: 1 // 0)
    else:
        f.reduce_with(leaves, roots, combine)


def test_sections(world):
    """Root j of rank p has p + j values; rank p has leaves of the two roots of the next rank, the
    second one first."""
    after = (world.rank + 1) % world.size
    f = osla.Forest(2, np.array([1, 0]), rank=np.array([after, after]))
    counts = world.rank + np.arange(2)
    of_leaves = f.bcast(counts, np.zeros(2, np.int64))
    assert of_leaves.tolist() == [after + 1, after]
    starts = [np.append(0, np.cumsum(n)) for n in (counts, of_leaves)]
    values = f.sections(*starts)
    assert (values.n_roots, values.n_edges) == (2 * world.rank + 1, 2 * after + 1)
    mine = 10.0 * world.rank + np.arange(values.n_roots)
    got = values.bcast(mine, np.zeros(values.leaf_space)) - 10 * after
    assert got.tolist() == list(range(after, 2 * after + 1)) + list(range(after))
    worse = starts[1] + (world.rank == world.size - 1) * np.array([0, 0, 1])
    with pytest.raises(osla.ArgumentError, match="leaf 1 of rank .* values, but its root 0 of rank"):
        f.sections(starts[0], worse)
    for roots, leaves in ((starts[0][1:], starts[1]), (starts[0], starts[1] + 1), (-starts[0], starts[1]),
                          (starts[0], 7)):
        with pytest.raises(osla.ArgumentError):
            f.sections(roots, leaves)


def test_lists_that_are_refused(world):
    none = np.zeros(0, np.int64)
    for arguments, options in (((2, np.array([2 * world.size])), {}),  # the last rank has fewer roots
                               ((2, np.array([2])), {"rank": np.array([0])}),
                               ((2, np.array([0])), {"rank": np.array([world.size])}),
                               ((2, np.array([0])), {"rank": np.array([2**40])}),
                               ((2, np.array([0])), {"rank": np.zeros(2, np.int64)}),
                               ((2, np.array([0])), {"rank": np.zeros(1, np.int32)}),
                               ((2, np.array([-1])), {}), ((-1, none), {}), ((0.5, none), {}),
                               ((2, np.array([0.0])), {}), ((2, [0]), {}),
                               ((2, np.array([0, 1]), np.array([3, 3])), {}),
                               ((2, np.array([0, 1]), np.array([-1, 3])), {}),
                               ((2, np.array([0, 1]), np.array([3])), {})):
        with pytest.raises(osla.ArgumentError):
            osla.Forest(*arguments, **options)
    last = world.rank == world.size - 1
    with pytest.raises(osla.ArgumentError, match="3"):  # the index is wrong on one rank only
        osla.Forest(2, np.array([3 if last else 1]), rank=np.array([0]))
    if world.size > 1:
        with pytest.raises(osla.StateError, match="by ranks"):
            osla.Forest(2, np.array([0]), rank=np.array([0]) if last else None)
    f = osla.Forest(2, np.array([0]))
    for call in (lambda: f.compose(7), lambda: f.embed_roots(np.array([2])), lambda: f.strided(0),
                 lambda: f.embed_leaves(np.array([1])), lambda: f.strided(2, 1),
                 lambda: f.concatenate(osla.Forest(1, none), same_roots=True)):
        with pytest.raises(osla.ArgumentError):
            call()


def test_no_leaves_at_all(world):
    none = np.zeros(0, np.int64)
    f = osla.Forest(1 if world.rank == 0 else 0, none)
    assert f.bcast(np.ones(f.n_roots), np.zeros(0)).size == 0
    assert f.reduce(np.zeros(0), np.ones(f.n_roots)).tolist() == [1.0] * f.n_roots
    assert f.root_ranks == [] == f.leaf_ranks
