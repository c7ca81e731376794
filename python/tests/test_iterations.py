"""Iterations, and sweeps as a preconditioner, against numpy."""
import numpy as np
import pytest

import osla
from test_sparse import laplacian

MODES = ["async", "racy", "sync"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", [1, 4])
def test_sparse(world, mode, block):
    full, a, mine = laplacian(world, 60)
    x = np.cos(np.arange(60.0))
    b = full @ x
    first = np.full(a.rows, 2.0)
    found = osla.iterate(a, b[mine].copy(), first, mode=mode, block=block, tolerance=1e-12,
                         bound_steps=5)
    assert found.end == "converged" and np.all(first == 2)
    assert np.allclose(found.x, x[mine], atol=1e-10)
    assert found.least <= found.sweeps <= found.most and 0 < found.residual <= 1e-12 * found.norm
    assert found.alpha < 1 and 0 < found.error < 1e-8


@pytest.mark.parametrize("uplo", ["whole", "lower", "upper"])
@pytest.mark.parametrize("mode", MODES)
def test_dense(world, rng, uplo, mode):
    n = 23
    x, full = rng.normal(size=n), rng.normal(size=(n, n))
    if uplo != "whole":
        full = full + full.T
    full += np.diag(np.abs(full).sum(axis=1) + 1)
    stored = {"whole": full, "lower": np.tril(full), "upper": np.triu(full)}[uplo]
    a = osla.Matrix.from_numpy(stored, block=(4, 3))
    for block, factor in ((1, "cholesky"), (5, "lu")):
        found = osla.iterate(a, full @ x, mode=mode, uplo=uplo, block=block, factor=factor,
                             tolerance=1e-13)
        assert found.end == "converged" and found.x.shape == (n,)
        assert np.allclose(found.x, x, atol=1e-10)


def test_ends_and_refusals(world):
    full, a, mine = laplacian(world, 40)
    b = np.ones(a.rows)
    few = osla.iterate(a, b, mode="sync", sweeps=2, tolerance=1e-14)
    assert few.end == "sweeps" and few.most == 2
    wild = osla.Matrix.from_numpy(np.array([[1.0, 9.0], [9.0, 1.0]]), block=1)
    assert osla.iterate(wild, np.ones(2), mode="sync").end == "diverged"
    assert osla.iterate(wild, np.ones(2), mode="sync", sweeps=1, bound_steps=3).alpha >= 1
    with pytest.raises(osla.StateError):
        osla.iterate(wild, np.ones(2), proven=True)
    for bad, options in ((b[:-1] if a.rows else np.ones(1), {}), (b.astype(np.float32), {}), (b, {"mode": "fast"}),
                         (b, {"tolerances": 1}), (b, {"block": 0}), (b, {"omega": -1})):
        with pytest.raises(osla.ArgumentError):
            osla.iterate(a, bad, **options)
    with pytest.raises(osla.ArgumentError, match="a CSR or a Matrix"):
        osla.iterate(full, b)
    with pytest.raises(osla.ArgumentError):
        osla.iterate(osla.Matrix(4, 4, dtype=np.float32), np.ones(4))
    only_here = b if world.rank else np.full(a.rows + 1, 1.0)  # too long on one rank only
    with pytest.raises(osla.ArgumentError):
        osla.iterate(a, only_here)


@pytest.mark.parametrize("mode", MODES)
def test_preconditioner(world, mode):
    full, a, mine = laplacian(world, 80)
    b = np.sin(np.arange(80.0))[mine].copy()
    plain = osla.cg(a, b, tolerance=1e-10)
    swept = osla.cg(a, b, jacobi=1, sweeps=3, mode=mode, tolerance=1e-10)
    assert swept.end == "converged"
    if mode == "sync":
        assert swept.iterations < plain.iterations
    assert np.allclose(swept.x, plain.x, atol=1e-8)
    with pytest.raises(osla.ArgumentError):
        osla.cg(a, b, sweeps=-1)


@pytest.mark.parametrize("mode", MODES)
def test_diffusion(world, mode):
    points = (4, 5, 6)
    d = osla.Diffusion(points, start="mode")
    assert 0 < d.spectral_radius < 1 and np.prod(d.ranks) <= world.size
    assert 0 < np.prod(d.count) <= 120 and all(f + c <= n for f, c, n in zip(d.first, d.count, points))
    x = d.initial()
    assert x.shape == tuple(c + 2 for c in d.count)
    grids = [np.arange(f, f + c + 2) / (n + 1) for f, c, n in zip(d.first, d.count, points)]
    wave = np.einsum("i,j,k->ijk", *(np.sin(np.pi * g) for g in grids))
    inner = (slice(1, -1),) * 3
    assert np.allclose(x[inner], wave[inner], atol=1e-14)
    one = d.iterate(x, mode="sync", sweeps=1, tolerance=1e-15)
    assert one.end == "sweeps" and np.allclose(one.x[inner], d.spectral_radius * wave[inner], atol=1e-14)
    done = d.iterate(mode=mode, tolerance=1e-12, bound_steps=4)
    assert done.end == "converged" and np.abs(done.x[inner]).max() < 1e-9 and 0 < done.alpha < 1
    assert np.allclose(x[inner], wave[inner], atol=1e-14)


def test_diffusion_of_a_source(world):
    d = osla.Diffusion([3, 3, 3], [1, 1, 1], radius=0.5, offset=0)
    assert d.ranks == (1, 1, 1) and d.count == ((3, 3, 3) if world.rank == 0 else (0, 0, 0))
    found = d.iterate(mode="sync", tolerance=1e-12)
    if world.rank == 0:
        x = found.x
        mean = (x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1]
                + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:]) / 6
        assert np.allclose(mean, x[1:-1, 1:-1, 1:-1], atol=1e-10) and x[2, 2, 1] > x[2, 2, 3] > 0
    else:
        assert found.x.size == 0
    d.destroy()
    with pytest.raises(osla.StateError):
        d.initial()
    with pytest.raises(osla.StateError):
        d.iterate()


def test_diffusion_refusals(world):
    for points, options in (((3, 3), {}), ((3, 3, 0), {}), (3, {}), ((3, 3, 2.5), {}), ((3, 3, 3), {"start": "sink"}),
                            ((3, 3, 3), {"radius": -1}), ((3, 3, 3), {"ranks": (2, 2, world.size)}),
                            ((3, 3, 3), {"ranks": (1, 0, 1)}), ((3, 3, 3), {"transport": 3})):
        with pytest.raises(osla.ArgumentError):
            osla.Diffusion(points, **options)
    d = osla.Diffusion((4, 4, 4))
    for x in (np.zeros(3), d.initial().astype(np.float32), np.zeros((1, 1, 1)), 4):
        with pytest.raises(osla.ArgumentError):
            d.iterate(x)
    with pytest.raises(osla.ArgumentError):
        d.iterate(mode="fast")
    with pytest.raises(osla.ArgumentError):
        d.iterate(omega=-1.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("factor, group", [("cholesky", 1), ("lu", 1), ("cg", 1), ("cg", 2), ("cg", None), ("sparse", 1)])
def test_one_block_of_a_rank_or_group(world, mode, factor, group):
    full, a, mine = laplacian(world, 60)
    x = np.cos(np.arange(60.0))
    b = (full @ x)[mine].copy()
    try:
        found = osla.iterate(a, b, mode=mode, block=None, factor=factor, group=group,
                             inner_tolerance=0.1 if factor == "cg" else 0.0, tolerance=1e-12)
    except osla.UnsupportedError:
        pytest.skip("built without CHOLMOD")
    assert found.end == "converged" and found.corrections == 0
    assert np.allclose(found.x, x[mine], atol=1e-10)
    if mode == "sync" and (factor == "sparse" or group is None):
        rows = osla.iterate(a, b, mode=mode, tolerance=1e-12)
        assert found.most < rows.most


@pytest.mark.parametrize("mode", MODES)
def test_coarse(world, mode):
    full, a, mine = laplacian(world, 24 * world.size)
    b = np.ones(a.rows)
    one = osla.iterate(a, b, mode="sync", tolerance=1e-9)
    two = osla.iterate(a, b, mode=mode, coarse=True, omega=0.5, tolerance=1e-9)
    assert one.corrections == 0 and two.end == "converged" and two.corrections > 0
    assert np.allclose(two.x, one.x, atol=1e-6)
    often = osla.iterate(a, b, mode=mode, coarse={"sweeps": 2, "damping": 0.8}, omega=0.5, tolerance=1e-9)
    assert often.end == "converged" and (mode != "sync" or often.most < 2.5 * often.corrections + 3)
    d = osla.Diffusion((6, 6, 6))
    assert d.iterate(mode=mode, coarse=True, omega=0.5, tolerance=1e-9).corrections > 0
    assert d.iterate(mode=mode, tolerance=1e-9).corrections == 0


def test_refused_blocks_and_coarse_levels(world):
    full, a, mine = laplacian(world, 40)
    b = np.ones(a.rows)
    for options in ({"block": 4, "factor": "cg"}, {"block": None, "factor": "cg", "inner_tolerance": 2},
                    {"block": None, "factor": "cg", "group": 0}, {"block": None, "group": 2}, {"factor": "qr"},
                    {"inner_tolerance": 1j}, {"coarse": 3}, {"coarse": {"damping": 5}}, {"coarse": {"sweeps": -1}},
                    {"coarse": {"rows": 1}}, {"coarse": True, "proven": True}):
        with pytest.raises(osla.ArgumentError):
            osla.iterate(a, b, **options)
    if world.size > 1:
        with pytest.raises(osla.StateError, match="coarse=None .* coarse=True"):
            osla.iterate(a, b, coarse=world.rank == 0)
