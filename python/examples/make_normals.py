"""Makes files of normal equations in SINEX 2.02, of any size, from a known solution.

python3 make_normals.py FOLDER [--parameters N] [--files F] [--observations K] [--noise S] [--packed]

Each file has 4/5 of the parameters in an order of its own, K observations for each parameter, and
its own variance. FOLDER/truth.snx has the known solution. Only one file's matrix is in memory.
--packed makes HDF5 files for packed.py, each with all parameters; all ranks of mpiexec make them
together. The observations are circular convolutions of the parameters, computed by FFT, which takes
seconds.
"""
import argparse
import os

import numpy as np

import sinex

SIGMA = 0.01  # standard deviation of an observation, by which the files weight it
ROWS = 1024  # observations that are made at a time


def head(i, n):
    """Columns of a line from type to constraint code: the last tenth are daily pole coordinates."""
    if i >= n - n // 10:
        return f" XPO    ---- --    1 20:{i % 365 + 1:03d}:{i // 365:05d} mas  2"
    code = np.base_repr(36**3 + i // 3, 36)
    return f" STA{'XYZ'[i % 3]}   {code:4}  A    1 20:001:00000 m    2"


def write_file(path, heads, apriori, correction, count, noise, triangle, rng):
    """Writes normal equations of `count` observations of all corrections. Returns l^T P l."""
    m, squares = len(heads), 0.0
    N, b = np.zeros((m, m)), np.zeros(m)
    for row in range(0, count, ROWS):
        A = rng.normal(size=(min(ROWS, count - row), m)) / SIGMA
        l = A @ correction + noise * rng.normal(size=len(A))
        N += A.T @ A
        b += A.T @ l
        squares += l @ l
    title = f"{sinex.MATRIX} {triangle}"
    with open(path, "w", encoding="ascii", newline="") as file:
        file.write(sinex.header("OSL", m) + sinex.statistics((count, m, squares))
                   + sinex.parameters(sinex.APRIORI, heads, apriori)
                   + sinex.parameters(sinex.VECTOR, heads, b) + f"+{title}\n")
        for i in range(m):
            first, last = (0, i + 1) if triangle == "L" else (i, m)
            file.write(sinex.row_text(i, first, N[i, first:last]))
        file.write(f"-{title}\n%ENDSNX\n")


def is_first_rank():
    import osla
    return osla.world().rank == 0


def write_packed(path, heads, apriori, correction, passes, noise, rng):
    """Writes a file of normal equations. Collective. Each correction is multiplied by a random
    scale. The observations are `passes` circular convolutions of the products with random
    weights."""
    import osla
    import packed
    n, spectrum, squares = len(heads), 0.0, 0.0
    scale, b = rng.uniform(0.5, 2, n), np.zeros(n)
    for _ in range(passes):
        weights = np.fft.fft(rng.normal(size=n) / SIGMA)
        l = np.fft.ifft(weights * np.fft.fft(scale * correction)).real + noise * rng.normal(size=n)
        b += scale * np.fft.ifft(weights.conj() * np.fft.fft(l)).real
        spectrum = spectrum + abs(weights)**2
        squares += l @ l
    column = np.fft.ifft(spectrum).real  # N[i, j] = scale[i] column[i - j] scale[j]
    N, world = osla.Matrix(n, n, triangle="lower"), osla.world()
    for j in range(world.rank * N.block[1], n, world.size * N.block[1]):
        rows, cols = np.arange(j, n), np.arange(j, min(n, j + N.block[1]))
        block = column[np.subtract.outer(rows, cols)] * np.multiply.outer(scale[rows], scale[cols])
        N.put(j, j, np.asfortranarray(block))
    world.barrier()
    packed.write(path, N, heads, apriori, b, (passes * n, n, squares))
    N.destroy()


def make(folder, parameters=300, files=3, observations=3, noise=1.0, seed=1, packed=False):
    """Makes the files of a folder. noise: standard deviation of the errors of the first file,
    divided by SIGMA; 0: exact observations. packed: makes HDF5 files, and the call is
    collective; otherwise makes SINEX files, and only one rank may call. Returns the paths."""
    rng = np.random.default_rng(seed)
    heads = [head(i, parameters) for i in range(parameters)]
    truth = rng.normal(size=parameters) * 1e6
    os.makedirs(folder, exist_ok=True)
    if not packed or is_first_rank():
        with open(f"{folder}/truth.snx", "w", encoding="ascii", newline="") as file:
            file.write(sinex.header("OSL", parameters) + sinex.parameters(sinex.ESTIMATE, heads, truth)
                       + "%ENDSNX\n")
    paths = [f"{folder}/{f}.{'h5' if packed else 'snx'}" for f in range(files)]
    for f, path in enumerate(paths if packed else ()):
        correction = rng.normal(size=parameters) * 0.05
        write_packed(path, heads, truth - correction, correction, observations, noise * (1 + 0.5 * f), rng)
    if packed:
        return paths
    missing = np.arange(parameters) % (5 * files) // 5 if files > 1 else np.full(parameters, -1)
    for f, path in enumerate(paths):
        mine = rng.permutation(np.flatnonzero((np.arange(parameters) % 5 > 0) | (missing != f)))
        correction = rng.normal(size=mine.size) * 0.05
        write_file(path, [heads[i] for i in mine], truth[mine] - correction, correction,
                   observations * mine.size, noise * (1 + 0.5 * f), "LU"[f % 2], rng)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name, kind in dict(parameters=int, files=int, observations=int, noise=float).items():
        parser.add_argument(f"--{name}", type=kind, default=argparse.SUPPRESS)
    parser.add_argument("--packed", action="store_true")
    make(**vars(parser.parse_args()))
