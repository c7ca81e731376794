"""Combines the normal equations of several files, and solves them on all ranks together.

mpiexec -n 4 python3 normals.py [OPTION...] OUT IN [IN ...]

The weights are iterated variance components (Koch, Parameter Estimation and Hypothesis Testing in
Linear Models, 1999, section 3.6). --help lists the options. packed.py reads and writes files whose
names end in .h5 (HDF5), and sinex.py all others (SINEX 2.02).
"""
import argparse
import sys

import numpy as np
import osla

import packed
import sinex

world = osla.world()


def together(function, *args):
    """Calls a local function. If it fails on a rank, one rank prints why, and all ranks end."""
    result = reason = None
    try:
        result = function(*args)
    except (sinex.Fault, OSError, osla.Error) as fault:
        reason = fault
    failed = np.zeros(world.size)
    failed[world.rank] = reason is not None
    world.allreduce(failed)
    if failed.any():
        if world.rank == failed.argmax():
            print(f"normals.py: {reason}", file=sys.stderr, flush=True)
        sys.exit(1)
    return result


def fail(text):
    raise sinex.Fault(text)


def kind_of(path):
    """Returns the module that reads and writes a file, which the ending of its name selects."""
    return packed if path.endswith(".h5") else sinex


class System:
    """The files and the unknowns of all files, of which those to eliminate come first."""
    def __init__(self, options):
        self.files = [kind_of(p).Normals(p) for p in options.files]
        names = list(dict.fromkeys(name for file in self.files for name in file.names))
        out = {name for p in options.eliminate for name in sinex.matching(names, p, "--eliminate")}
        self.names = sorted(names, key=lambda name: name not in out)
        self.n, self.eliminated = len(names), len(out)
        if self.n == self.eliminated:
            fail(f"--eliminate matches all {self.n} parameters, and at least one must remain")
        if kind_of(options.out) is sinex and self.n - self.eliminated > sinex.MOST:
            fail(f"{options.out}: {self.n - self.eliminated} parameters remain, and a SINEX file has "
                 f"at most {sinex.MOST}: give an output file that ends in .h5")
        number = {name: i for i, name in enumerate(self.names)}
        self.heads, self.apriori = [""] * self.n, np.zeros(self.n)
        for file in self.files[::-1]:  # a priori values are those of the first file that has them
            file.ix = np.array([number[name] for name in file.names])
            self.apriori[file.ix] = file.apriori
            for i, head in zip(file.ix, file.heads):
                self.heads[i] = head
        for file in self.files:
            file.check_units([self.heads[i] for i in file.ix])
            file.shift = self.apriori[file.ix] - file.apriori
            if options.iterations:
                file.keep(world.rank, world.size)
        self.constraints = sinex.constraints(options.constraints, number)

    def add(self, H, file, weight):
        """Adds this rank's share of a file to H and its gradient. Returns this rank's share of the
        file's l^T P l."""
        ix, shift, squares = file.ix, file.shift, 0.0
        for i, j, U in file.share(world.rank, world.size):
            H.update_block(ix[i], ix[j], weight * U)  # H ignores what is above its diagonal
            H.update_block(ix[j], ix[i], np.asfortranarray(weight * U.T))
            H.update_gradient(ix[i], -weight * (U @ shift[j]))
            H.update_gradient(ix[j], -weight * (shift[i] @ U))
            squares += 2 * weight * (shift[i] @ U @ shift[j])
        if world.rank == 0:
            H.update_gradient(ix, weight * file.b)
            squares += weight * (file.squares - 2 * shift @ file.b)
        return squares

    def constrain(self, H):
        """Adds this rank's share of the constraints to H and its gradient. Returns this rank's
        share of their l^T P l."""
        squares = 0.0
        for ix, G, value in self.constraints[world.rank::world.size]:
            H.update(ix, G)
            H.update_gradient(ix, G * value)
            squares += value**2
        return squares

    def residual(self, file, x, inverse):
        """This rank's share of v^T P v and of trace(N inverse) of a file."""
        v = x[file.ix] + file.shift
        squares, trace = (file.squares - 2 * v @ file.b) * (world.rank == 0), 0.0
        for i, j, U in file.share(world.rank, world.size):
            squares += 2 * v[i] @ U @ v[j]
            if U.shape[0] < U.shape[1]:
                i, j, U = j, i, U.T
            rows, first, count = file.ix[i], file.ix[i].min(), np.ptp(file.ix[i]) + 1
            for k, u in zip(file.ix[j], U.T):  # the part of column k of the inverse that U needs
                trace += 2 * u @ inverse.get(first, k, count, 1)[rows - first, 0]
        return squares, trace

    def cholesky(self, matrix, first):
        """The factor of the normal equations of the unknowns that begin with number `first`."""
        try:
            return osla.potrf(matrix)
        except osla.SingularError as reason:
            name = self.names[first + reason.info - 1]
        file = next(file for file in self.files if name in file.names)
        together(fail, file.place(name, f"the sum is not positive definite, so constrain {name}"))


def weigh(system, H, most):
    """H := the sum of the files with weights 1 / variance component. Returns these components and
    l^T P l."""
    variance, change = np.ones(len(system.files)), np.inf
    for step in range(most + 1):
        H.reset()
        squares = np.array([together(system.constrain, H)], float)
        for file, component in zip(system.files, variance):
            squares += together(system.add, H, file, 1 / component)
        H.commit()
        if step == most or change < 1e-11:
            break
        factor = system.cholesky(H.matrix, 0)
        x, inverse = factor.solve(H.gradient), factor.inverse()
        sums = np.array([together(system.residual, file, x, inverse) for file in system.files])
        world.allreduce(sums.reshape(-1))
        redundancy = [f.observations - f.eliminated for f in system.files] - sums[:, 1] / variance
        for file, (square, _), r in zip(system.files, sums, redundancy):
            if not (square > 0 and r > 0):
                together(fail, f"{file.path}: v^T P v = {square:g} with redundancy {r:g} gives no "
                               f"variance component: use --iterations 0")
        change = np.abs(sums[:, 0] / redundancy / variance - 1).max()
        variance = sums[:, 0] / redundancy
    world.allreduce(squares)
    return variance, squares[0]


def eliminate(system, A, g):
    """The normal equations that remain, and the decrease of l^T P l: with L L^T = A11, B = A21 L^-T
    and y = L^-1 g1 they are A22 - B B^T, g2 - B y and y^T y."""
    e, rest = system.eliminated, system.n - system.eliminated
    L, B, C = A.part(0, 0, e, e), A.part(e, 0, rest, e), A.part(e, e, rest, rest)
    y, z = (osla.Matrix.from_numpy(part[:, np.newaxis]) for part in (g[:e], g[e:]))
    system.cholesky(L, 0)
    osla.trsm(L, B, side="right", trans="t")
    osla.syrk(B, C, alpha=-1.0, beta=1.0)
    osla.trsm(L, y)
    osla.gemv(B, y, z, alpha=-1.0, beta=1.0)
    reduced = osla.Matrix(rest, rest, triangle="lower")
    C.copy_to(reduced)
    return reduced, z.to_numpy()[:, 0], y.norm()**2


def combine(options):
    """Returns names, corrections to the a priori values, standard deviations, and variance
    components."""
    system = together(System, options)
    e = system.eliminated
    with together(kind_of(options.out).Writer, options.out, system.heads[e:], system.apriori[e:],
                  world.rank == 0) as out:  # an invalid path fails here, before long work
        return solve(system, out, options)


def solve(system, out, options):
    """Sums, eliminates, solves, and writes the output. Returns names, corrections, standard
    deviations and variance components, as `combine` does."""
    H = osla.Hessian(system.n, half=True)
    variance, squares = weigh(system, H, options.iterations)
    A, g, e = H.matrix, H.gradient, system.eliminated
    if e:
        A, g, decrease = eliminate(system, A, g)
        squares -= decrease
    counts = (sum(f.observations for f in system.files) + len(system.constraints),
              sum(f.eliminated for f in system.files) + system.n, squares)
    if options.normals:
        together(out.vector, g)
        together(out.matrix, A, range(world.rank, len(g), world.size))
    factor = system.cholesky(A, e)
    x, inverse, sigma = factor.solve(g), factor.inverse(), np.zeros(len(g))
    for i in range(world.rank, len(g), world.size):
        sigma[i] = np.sqrt(inverse.get(i, i, 1, 1)[0, 0])
    world.allreduce(sigma)
    together(out.solution, x, sigma, counts)
    return system.names[e:], x, sigma, variance


def main(words=None):
    parser = argparse.ArgumentParser(description="combines and solves normal equations in SINEX or HDF5")
    parser.error = lambda text: together(fail, text)
    add = parser.add_argument
    add("--iterations", type=int, default=50, metavar="N", help="of the weights; 0: equal weights")
    add("--eliminate", action="append", default=[], metavar="PATTERN", help="names of parameters")
    add("--constraints", metavar="FILE", help="lines SIGMA VALUE COEFFICIENT PATTERN ...")
    add("--normals", action="store_true", help="write the normal equations that remain, too")
    add("out", metavar="OUT", help="file to write: HDF5 if its name ends in .h5, otherwise SINEX")
    add("files", metavar="IN", nargs="+", help="files of normal equations, in HDF5 or SINEX")
    options = parser.parse_args(words)
    result = combine(options)
    if world.rank == 0:
        for path, variance in zip(options.files, result[3]):
            print(f"{path}: variance component {variance:.6g}")
    return result


if __name__ == "__main__":
    main()
