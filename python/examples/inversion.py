"""A linear inversion: straight rays through a square of unknown slowness, and a picture of it.

mpiexec -n 4 python3 inversion.py [PICTURE]
"""
import sys

import numpy as np
import osla

CELLS, RAYS, NOISE, DAMPING = 30, 6000, 0.01, 2.0
n = CELLS * CELLS
world = osla.world()

centre = (np.arange(CELLS) + 0.5) / CELLS
x, y = np.meshgrid(centre, centre)
truth = np.sin(3 * np.pi * x) * np.sin(2 * np.pi * y)  # the unknown slowness


def ray(number):
    """The cells that a ray between two points of the border crosses, and its length in each."""
    rng = np.random.default_rng(number)
    t, side = rng.random(2), rng.permutation(4)[:2]
    ends = [((s, 0), (s, 1), (0, s), (1, s))[k] for s, k in zip(t, side)]
    steps = np.linspace(*np.array(ends, float), 20 * CELLS)
    cell = np.minimum((steps * CELLS).astype(int), CELLS - 1)
    cells, count = np.unique(cell[:, 1] * CELLS + cell[:, 0], return_counts=True)
    return cells, count * np.linalg.norm(np.subtract(*ends)) / len(steps), rng.normal()


with osla.Hessian(n) as H:  # H = sum of G^T G / NOISE^2 + DAMPING^2, gradient = sum of G^T d / NOISE^2
    for number in range(world.rank, RAYS, world.size):  # the rays are divided among the ranks
        cells, length, error = ray(number)
        time = length @ truth.flat[cells] + NOISE * error
        H.update(cells, length / NOISE)
        H.update_gradient(cells, length * time / NOISE**2)
    for cell in range(world.rank, n, world.size):
        H.update(np.array([cell]), np.array([DAMPING]))

factor = osla.potrf(H.matrix)
model = factor.solve(H.gradient).reshape(CELLS, CELLS)
error = np.sqrt(np.diag(factor.inverse().to_numpy())).reshape(CELLS, CELLS)
if world.rank == 0:
    recovered = 1 - np.square(model - truth).sum() / np.square(truth).sum()
    print(f"{RAYS} rays, {n} cells: variance recovered {recovered:.3f}, mean error {error.mean():.3f}")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for ax, title, field in zip(axes, ("truth", "found", "standard error"), (truth, model, error)):
        ax.set_title(title)
        figure.colorbar(ax.imshow(field, origin="lower", extent=(0, 1, 0, 1)), ax=ax)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "inversion.png", dpi=110)
