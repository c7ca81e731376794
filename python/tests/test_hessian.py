"""The accumulator."""
import threading

import numpy as np
import pytest

import osla

N = 40


def data(rng, count=60, width=7, k=3):
    """Updates of integers, whose sums are exact in any order, and the sums."""
    full, gradient, updates = np.zeros((N, N)), np.zeros(N), []
    for _ in range(count):
        ix = rng.choice(N, width, replace=False)
        G = np.asfortranarray(rng.integers(-4, 5, (k, width)).astype(float))
        g = G[0].copy()
        full[np.ix_(ix, ix)] += G.T @ G
        gradient[ix] += g
        updates.append((ix, G, g))
    return full, gradient, updates


@pytest.mark.parametrize("uplo", ["lower", "upper", "whole"])
def test_sums(world, rng, uplo):
    full, gradient, updates = data(rng)
    with osla.Hessian(N, block=8, uplo=uplo) as H:
        for ix, G, g in updates[world.rank::world.size]:
            H.update(ix, G)
            H.update_gradient(ix, g)
    keep = {"lower": np.tril, "upper": np.triu, "whole": lambda x: x}[uplo]
    assert (keep(H.matrix.to_numpy()) == keep(full)).all()
    assert (H.gradient == gradient).all()
    assert H.stats["updates"] == len(updates[world.rank::world.size])
    H.reset()
    H.commit()
    assert H.matrix.norm() == 0 and (H.gradient == 0).all()


def test_half(world, rng):
    full, gradient, updates = data(rng)
    with osla.Hessian(N, block=8, half=True) as H:
        for ix, G, g in updates[world.rank::world.size]:
            H.update(ix, G)
            H.update_gradient(ix, g)
    assert (H.matrix.to_numpy() == full).all()
    assert (H.matrix.get(3, 5, 20, 30) == full[3:23, 5:35]).all()
    assert (H.gradient == gradient).all()
    with pytest.raises(osla.UnsupportedError, match="lower triangle alone"):
        np.asarray(H.matrix.local)
    with pytest.raises(osla.ArgumentError, match="set uplo to OSLA_LOWER"):
        osla.Hessian(N, uplo="upper", half=True)


def test_arrays_as_they_come(world, rng):
    """Rows, transposed C arrays, columns that are apart, float32; other arrays with copy=True."""
    H = osla.Hessian(N, block=8, uplo="whole")
    expected = np.zeros((N, N))
    ix = np.array([3, 1, 3])
    row = np.array([1.0, 2.0, 3.0])
    wide = np.asfortranarray(np.arange(24.0).reshape(4, 6))
    for G in (row, row.reshape(1, 3), np.ones((3, 2)).T, wide[:2, ::2], wide[1:3, 1:4],
              np.arange(6.0)[::2], np.empty((0, 3))):
        if world.rank == 0:
            H.update(ix, G)
        G = G.reshape(-1, 3)
        for a in range(3):
            for b in range(3):
                expected[ix[a], ix[b]] += G[:, a] @ G[:, b]
    if world.rank == 0:
        H.update([0, 5], [[1, 2], [3, 4]], copy=True)
        H.update_block(np.array([0]), np.array([1, 2]), np.array([[7.0, 8.0]], order="F"))
        H.update_block([1], [2], [[9]], copy=True)
    expected[np.ix_([0, 5], [0, 5])] += np.array([[1, 2], [3, 4]]).T @ [[1, 2], [3, 4]]
    expected[0, 1:3] += [7, 8]
    expected[1, 2] += 9
    H.commit()
    assert (H.matrix.to_numpy() == expected).all()
    single = osla.Hessian(4, update_dtype=np.float32)
    single.update(np.arange(2), np.ones((1, 2), np.float32))
    with pytest.raises(osla.ArgumentError, match="where float32 is needed"):
        single.update(np.arange(2), np.ones(2))


def test_refusals(world):
    H = osla.Hessian(N)
    ix, G = np.arange(3), np.ones((2, 3), order="F")
    cases = [((ix.astype(np.int32), G), "ix: elements of type 'i'"),
             ((np.arange(6)[::2], G), "do not follow one another"),
             ((ix, np.ones((2, 3))), "Fortran order"), ((ix, np.ones((2, 4), order="F")), "2 x 4"),
             ((ix, G.astype(np.float32)), "'f'"), (([0, 1, 2], G), "an array of int64"),
             ((ix, None), "an array of float64"), ((ix.reshape(3, 1), G), "2 dimensions"),
             ((np.array([0, 1, N]), G), str(N)), ((np.array([0, -1, 2]), G), "-1")]
    for arguments, text in cases:
        with pytest.raises(osla.ArgumentError, match=text):
            H.update(*arguments)
    with pytest.raises(osla.ArgumentError, match="values: 2 elements where 3"):
        H.update_gradient(ix, np.ones(2))
    H.update(ix, G)
    with pytest.raises(osla.StateError):
        H.matrix
    with pytest.raises(osla.StateError):
        H.gradient
    H.commit()
    assert H.matrix[0, 0] == 2.0 * world.size
    for initial, begin in ((0, 0.0), (None, -np.inf)):
        with osla.Hessian(2, combine="max", **({} if initial is None else {"initial": initial})) as m:
            pass
        assert (m.matrix.to_numpy()[0, 0] == begin)
    for options in ({"dtype": np.float32, "update_dtype": np.float64}, {"initial": np.nan}, {"uplo": "low"}, {"combine": 3}, {"dtype": complex}, {"block": 0},
                    {"rings": 1}):
        with pytest.raises((osla.ArgumentError, osla.UnsupportedError)):
            osla.Hessian(N, **options)


def test_an_exception_in_the_block(world):
    with pytest.raises(KeyError):
        with osla.Hessian(4) as H:
            H.update(np.arange(2), np.ones(2))
            raise KeyError("on all ranks")
    with pytest.raises(osla.StateError):  # the accumulator was not committed
        H.matrix


def test_threads(world, rng):
    full, _, updates = data(rng, count=200)
    H = osla.Hessian(N, block=8)
    mine = updates[world.rank::world.size]

    def work(part):
        for ix, G, _ in part:
            H.update(ix, G)

    threads = [threading.Thread(target=work, args=(mine[i::3],)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    H.commit()
    assert (np.tril(H.matrix.to_numpy()) == np.tril(full)).all()


def test_options(world, rng):
    H = osla.Hessian(4, combine="max", uplo="whole")
    H.update_block(np.array([1]), np.array([2]), np.full((1, 1), float(world.rank)))
    H.commit()
    assert H.matrix[1, 2] == world.size - 1 and H.matrix[0, 0] == -np.inf
    world.barrier()
    E = osla.Hessian(4, order_independent=True, bound=100.0, gradient_bound=10.0)
    E.update(np.array([0]), np.array([0.1]))
    E.commit()
    assert np.isclose(E.matrix[0, 0], 0.01 * world.size)


def test_restart(world, rng, tmp_path_factory):
    full, gradient, updates = data(rng)
    path = shared_path(world, tmp_path_factory, "checkpoint.h5")
    H = osla.Hessian(N, block=8)
    mine = [i for i in range(len(updates)) if i % world.size == world.rank]
    for i in mine[:len(mine) // 2]:
        ix, G, g = updates[i]
        assert H.update_once(i, ix, G, gradient=g)
        assert not H.update_once(i, ix, G, gradient=g) and H.has_id(i)
    H.checkpoint(path, "a job")
    H.destroy()
    again = osla.Hessian(N, block=16)
    with pytest.raises(osla.FileError):
        again.restore(path, "another job")
    again.restore(path, "a job")
    for i in mine:
        ix, G, g = updates[i]
        again.update_once(i, ix, G, gradient=g)
    again.commit()
    assert (np.tril(again.matrix.to_numpy()) == np.tril(full)).all()
    assert (again.gradient == gradient).all()


def shared_path(world, tmp_path_factory, name):
    """A path that is the same on all ranks."""
    text = np.zeros(512)
    if world.rank == 0:
        path = str(tmp_path_factory.mktemp("osla") / name).encode()
        text[:len(path)] = list(path)
    world.allreduce(text)
    return bytes(text.astype(np.uint8)).rstrip(b"\0").decode()
