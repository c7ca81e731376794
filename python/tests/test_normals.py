"""python/examples/normals.py against numpy: the same sums, weights and solutions from the same files."""
import pathlib
import re
import sys

import numpy as np
import pytest

import osla

from test_hessian import shared_path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
import make_normals  # noqa: E402
import normals  # noqa: E402
import packed  # noqa: E402
import sinex  # noqa: E402

N, FILES = 131, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that all ranks share, with the generator's files of a known solution."""
    normals.world = osla.world()  # test_lifetime.py destroyed the world of `import normals`
    path = shared_path(normals.world, tmp_path_factory, "files")
    if normals.world.rank == 0:
        make_normals.make(path, N, FILES)
        make_normals.make(path + "/exact", N, FILES, noise=0.0)
        make_normals.make(path + "/one", 7, 1)
    normals.world.barrier()
    make_normals.make(path + "/packed", N, FILES, packed=True)
    return path


def parts(path):
    """Blocks of a file: the lines of each, split into words."""
    blocks = {}
    for line in open(path):
        if line[0] == "+":
            lines = blocks[line[1:].strip()] = []
        elif line[0] == " ":
            lines.append(line.split())
    return blocks


def read_packed(path):
    """Names, a priori values, N, b, observations and l^T P l of a file of packed.py."""
    with osla.File(path) as file:
        heads = file.vector("heads", np.int64).tobytes().decode()
        heads = [heads[i:i + 40] for i in range(0, len(heads), 40)]
        names = ["/".join(head[i:j].strip() for i, j in ((1, 7), (8, 12), (13, 15), (16, 20), (21, 33))) for head in heads]
        return (names, file.vector("apriori"), file.matrix("N", triangle="lower").to_numpy(), file.vector("b"),
                file.number("observations"), file.number("squares"))


def read(path):
    """Names, a priori values, N, b, observations and l^T P l of a file, read word by word."""
    if path.endswith(".h5"):
        return read_packed(path)
    blocks = parts(path)
    vector, apriori = blocks["SOLUTION/NORMAL_EQUATION_VECTOR"], blocks["SOLUTION/APRIORI"]
    assert [line[1:6] for line in vector] == [line[1:6] for line in apriori]
    m, upper = len(vector), "SOLUTION/NORMAL_EQUATION_MATRIX U" in blocks
    half = np.zeros((m, m))
    for row, col, *values in blocks[f"SOLUTION/NORMAL_EQUATION_MATRIX {'LU'[upper]}"]:
        for k, value in enumerate(values):
            half[int(row) - 1, int(col) - 1 + k] += float(value)
    statistics = [float(line[-1]) for line in blocks["SOLUTION/STATISTICS"]]
    return (["/".join(line[1:6]) for line in vector], np.array([float(line[8]) for line in apriori]),
            half + half.T - np.diag(np.diag(half)), np.array([float(line[8]) for line in vector]),
            statistics[0], statistics[2])


def reference(paths, iterations=100, constraint=None):
    """Names, corrections to the first a priori values, covariances, variance components by numpy."""
    files = [read(path) for path in paths]
    names = list(dict.fromkeys(name for file in files for name in file[0]))
    index, n = {name: i for i, name in enumerate(names)}, len(names)
    places = [np.array([index[name] for name in file[0]]) for file in files]
    apriori = np.zeros(n)
    for at, file in zip(places[::-1], files[::-1]):
        apriori[at] = file[1]
    variance = np.ones(len(files))
    for step in range(iterations + 1):
        H, g = np.zeros((n, n)), np.zeros(n)
        for at, (_, x0, block, b, *_), s in zip(places, files, variance):
            H[np.ix_(at, at)] += block / s
            g[at] += (b - block @ (apriori[at] - x0)) / s
        if constraint:
            row, value = constraint(names)
            H, g = H + np.outer(row, row), g + row * value
        Q = np.linalg.inv(H)
        x = np.linalg.solve(H, g)
        before = variance.copy()
        for k, (at, (_, x0, block, b, count, squares)) in enumerate(zip(places, files)):
            v = x[at] + (apriori[at] - x0)
            omega = squares - 2 * v @ b + v @ block @ v
            variance[k] = omega / (count - (block * Q[np.ix_(at, at)]).sum() / before[k])
        if iterations == 0 or np.abs(variance / before - 1).max() < 1e-12:
            return names, apriori, x, Q, before
    raise AssertionError("the variance components do not converge")


def agree(found, expected, first=0):
    """Compares to 1e-10, relative to the largest correction and to each standard deviation."""
    names, x, sigma, variance = found
    where = [expected[0].index(name) for name in names]
    assert np.abs(x - expected[2][where]).max() < 1e-10 * np.abs(expected[2]).max()
    assert np.allclose(sigma, np.sqrt(np.diag(expected[3]))[where], rtol=1e-10, atol=0)
    return variance


def paths_in(folder):
    return [f"{folder}/{k}.snx" for k in range(FILES)]


@pytest.fixture(params=[1 << 22, 5000])
def text(request, monkeypatch):
    """A rank reads a matrix in one part, or in many."""
    monkeypatch.setattr(sinex, "TEXT", request.param)


def test_weights(folder, text):
    """Solution, formal errors and variance components; the files' variances are 1, 2.25 and 4."""
    out = folder + "/weights.snx"
    variance = agree(found := normals.main([out, *paths_in(folder)]), expected := reference(paths_in(folder)))
    assert np.allclose(variance, expected[4], rtol=1e-8)
    assert np.allclose(variance, [1, 2.25, 4], rtol=0.3)
    truth = {"/".join(w[1:6]): float(w[8]) for w in parts(folder + "/truth.snx")["SOLUTION/ESTIMATE"]}
    normals.world.barrier()
    lines = parts(out)["SOLUTION/ESTIMATE"]
    assert ["/".join(w[1:6]) for w in lines] == found[0] and len(lines) == N
    assert np.allclose([float(w[9]) for w in lines], found[2], rtol=1e-5)
    errors = [(float(w[8]) - truth["/".join(w[1:6])]) / float(w[9]) for w in lines]
    assert 0.7 < np.std(errors) < 1.3 and np.abs(errors).max() < 5


def test_known_solution(folder, text):
    """Exact observations give the known solution to the digits of the files."""
    found = normals.main(["--iterations", "0", folder + "/exact.snx", *paths_in(folder + "/exact")])
    expected = reference(paths_in(folder + "/exact"), 0)
    assert (agree(found, expected) == 1).all()
    truth = {"/".join(w[1:6]): float(w[8]) for w in parts(folder + "/exact/truth.snx")["SOLUTION/ESTIMATE"]}
    first = dict(zip(expected[0], expected[1]))
    values = np.array([first[name] + x for name, x in zip(found[0], found[1])])
    known = np.array([truth[name] for name in found[0]])
    assert np.abs(values - known).max() < 1e-10 * np.abs(known).max()


def test_elimination(folder, text):
    """Eliminated parameters change neither the others nor their errors; the reduced normal
    equations in the output give the same solution again, and v^T P v is that of all unknowns."""
    out = folder + "/reduced.snx"
    found = normals.main(["--eliminate", "XPO/*", "--eliminate", "STA?/1000/*", "--normals", out,
                          *paths_in(folder)])
    expected = reference(paths_in(folder))
    agree(found, expected)
    assert len(found[0]) == N - N // 10 - 3
    normals.world.barrier()
    again = normals.main(["--iterations", "0", folder + "/again.snx", out])
    assert again[0] == found[0]
    assert np.abs(again[1] - found[1]).max() < 1e-10 * np.abs(found[1]).max()
    assert np.allclose(again[2], found[2], rtol=1e-10, atol=0)
    names, apriori, block, b, count, squares = read(out)
    unit = normals.main([folder + "/unit.snx", out])  # the weighted observations have variance 1
    assert np.allclose(unit[3], 1, rtol=1e-8) and np.allclose(unit[2], found[2], rtol=1e-8)


def test_constraints(folder):
    path = folder + "/constraints.txt"
    if normals.world.rank == 0:
        pathlib.Path(path).write_text("# sigma value coefficient name\n\n"
                                      "1e-4 0.25 1 STAX/1000/* -2.5 XPO/*  # a sum of many\n")
    normals.world.barrier()

    def constraint(names):
        return np.array([1e4 * (n.startswith("STAX/1000/") - 2.5 * n.startswith("XPO/")) for n in names]), 2500
    agree(normals.main(["--constraints", path, folder + "/c.snx", *paths_in(folder)]),
          reference(paths_in(folder), constraint=constraint))


def test_one_file(folder):
    paths = [folder + "/one/0.snx"]
    agree(normals.main([folder + "/one.snx", *paths]), reference(paths))


def packed_in(folder):
    return [f"{folder}/packed/{k}.h5" for k in range(FILES)]


def test_packed(folder):
    """Combines files of packed.py, whose matrices are read again in each iteration."""
    variance = agree(normals.main([folder + "/packed.snx", *packed_in(folder)]),
                     expected := reference(packed_in(folder)))
    assert np.allclose(variance, expected[4], rtol=1e-8)
    assert np.allclose(variance, [1, 2.25, 4], rtol=0.3)


def test_packed_and_text(folder):
    paths = [packed_in(folder)[0], *paths_in(folder)[1:]]
    agree(normals.main(["--eliminate", "XPO/*", folder + "/mixed.snx", *paths]), reference(paths))


def test_packed_output(folder, monkeypatch):
    """A file that ends in .h5 has the solution, and with --normals the normal equations that give
    the solution again. It may have more parameters than a SINEX file."""
    monkeypatch.setattr(sinex, "MOST", N // 2)
    out = folder + "/reduced.h5"
    found = normals.main(["--eliminate", "XPO/*", "--normals", out, *packed_in(folder)])
    agree(found, reference(packed_in(folder)))
    names, apriori = read(out)[:2]
    with osla.File(out) as file:
        estimate, sigma = file.vector("estimate"), file.vector("sigma")
    assert names == found[0] and (sigma == found[2]).all() and (estimate == apriori + found[1]).all()
    again = normals.main(["--iterations", "0", folder + "/again.h5", out])
    assert again[0] == found[0] and np.abs(again[1] - found[1]).max() < 1e-10 * np.abs(found[1]).max()
    assert np.allclose(again[2], found[2], rtol=1e-10, atol=0)
    with osla.File(folder + "/again.h5") as file:
        assert not file.has("N") and np.allclose(file.vector("sigma"), sigma, rtol=1e-10)
    unit = normals.main([folder + "/unit.h5", out])  # the weighted observations have variance 1
    assert np.allclose(unit[3], 1, rtol=1e-8)


PACKED_FAULTS = {
    "twice": ({"heads": lambda heads: [heads[0], *heads[:-1]]}, "parameter 1: STAX/1000/A/1/20:001:00000, which is also parameter 2"),
    "no number": ({"b": lambda b: np.where(np.arange(N) == 4, np.nan, b)}, "parameter 5: b = nan"),
    "no value": ({"apriori": lambda x: np.where(np.arange(N) == 6, np.inf, x)}, "parameter 7: apriori = inf"),
    "lengths": ({"b": lambda b: b[1:]}, f"b has {N - 1} elements, apriori {N}, and heads {40 * N} bytes instead of {40 * N - 40}"),
    "few unknowns": ({"counts": lambda c: (c[0], N - 1, c[2])}, f"{N - 1} unknowns, and b has {N} elements"),
    "element": ({"element": np.nan}, r"element \(9, 4\) of N = nan"),
    "order": ({"order": N - 2}, f"N is {N - 2} x {N - 2}, and b has {N} elements"),
}


@pytest.mark.parametrize("name", PACKED_FAULTS)
def test_faulty_packed_files(folder, capfd, name):
    changes, expected = PACKED_FAULTS[name]
    bad = f"{folder}/bad-{normals.world.size}.h5"
    file = packed.Normals(packed_in(folder)[0])
    order = changes.get("order", N)
    matrix = osla.Matrix.from_numpy(np.eye(order), triangle="lower")
    if "element" in changes and normals.world.rank == 0:
        matrix[8, 3] = changes["element"]
    normals.world.barrier()
    values = {"heads": file.heads, "apriori": file.apriori, "b": file.b, "counts": (3.0 * N, N, file.squares)}
    packed.write(bad, matrix, **{key: changes.get(key, lambda same: same)(value) for key, value in values.items()})
    refused([folder + "/bad-out.snx", packed_in(folder)[1], bad], f"{re.escape(bad)}[,:] .*{expected}", capfd)


def test_truncated_packed_file(folder, capfd):
    bad = f"{folder}/cut-{normals.world.size}.h5"
    if normals.world.rank == 0:
        pathlib.Path(bad).write_bytes(pathlib.Path(packed_in(folder)[0]).read_bytes()[:30000])
    refused([folder + "/bad-out.snx", packed_in(folder)[1], bad], re.escape(bad), capfd)


def change(line, by):
    """A fault: replaces the first line that matches a pattern; by: text, or a function of a match."""
    def fault(text):
        changed, count = re.subn(line, by, text, count=1, flags=re.M)
        assert count == 1
        return changed
    return fault


VECTOR_LINE = r"(?s)(\+SOLUTION/NORMAL_EQUATION_VECTOR\n.*?\n    12 )"
MATRIX_LINE = r"^( +40 +7 .*)$"
FAULTS = {
    "empty": (lambda text: "", "the file is empty"),
    "no SINEX": (lambda text: "x" + text, "line 1: the file does not begin with %=SNX"),
    "no block": (change(r"^\+SOLUTION/APRIORI$", "+SOLUTION/OTHER"), r"\+SOLUTION/APRIORI is missing"),
    "cut off": (lambda text: text[:len(text) * 2 // 3], r"line \d+: \+SOLUTION/NORMAL_EQUATION_MATRIX has no end"),
    "other name": (change(VECTOR_LINE + "....", r"\1STBX"), r"line \d+: parameter 12 is STA./"),
    "index": (change(VECTOR_LINE[:-4] + r")12 ", r"\g<1>13 "), r"line \d+: index 13 after 11"),
    "value cut off": (change(VECTOR_LINE + r"(.{50}).*?\n", r"\1\2\n"), r"line \d+: index 12 after 11"),
    "no matrix": (lambda text: re.sub(r"(?s)\+SOLUTION/NORMAL_EQUATION_MATRIX.*MATRIX L\n", "", text),
                  r"\+SOLUTION/NORMAL_EQUATION_MATRIX is missing"),
    "same name": (change(r"(?s)(\+SOLUTION/NORMAL_EQUATION_VECTOR\n.*?\n    11 )(.{40})(.*?\n    12 ).{40}", r"\1\2\3\2"),
                  r"line \d+: parameter STA\S+ is number 11, too"),
    "few": (change(r"(?s)(\+SOLUTION/APRIORI\n.*?)    80 .*?-SOL", r"\1-SOL"), r"line \d+: \+SOLUTION/APRIORI has 79"),
    "no statistics": (change("NUMBER OF OBSERVATIONS", "NUMBER OF OBSERVATORIES"),
                      r"line \d+: \+SOLUTION/STATISTICS lacks NUMBER OF OBSERVATIONS"),
    "few unknowns": (change(r"(UNKNOWNS +)\d", r"\g<1>0"), r"line \d+: \+SOLUTION/STATISTICS has \d+ unknowns"),
    "no triangle": (change(r"MATRIX L$", "MATRIX"), r"line \d+: .*neither L nor U"),
    "element": (change(r"^     9     4", "   900     4"), r"line \d+: element \(900, 4\)"),
    "above": (change(r"^     9     4", "     9    14"), r"line \d+: element \(9, 14\)"),
    "no number": (change(r"^(    40     7 ..)\.", r"\1x"), r"line \d+: could not convert"),
    "line cut off": (change(r"^(    40     7 .{30}).*$", r"\1"), r"line \d+: 43 columns instead of"),
    "not finite": (change(r"^(    40     7 ).{21}", r"\1                  nan"), r"line \d+: element \(40, 7\) = nan"),
    "twice": (change(r"^(    40     7 .*)$", r"\1\n\1"), r"line \d+: an element occurs twice"),
    "unit": (lambda text: text.replace(" m    2 ", " km   2 "), r"line \d+: unit"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_files(folder, capfd, name):
    """Each fault ends all ranks with one line that has the file and, where there is one, the line."""
    change_text, expected = FAULTS[name]
    bad = f"{folder}/bad-{normals.world.size}.snx"
    if normals.world.rank == 0:
        pathlib.Path(bad).write_text(change_text(pathlib.Path(folder + "/0.snx").read_text()))
    refused([folder + "/bad-out.snx", folder + "/1.snx", bad], f"{re.escape(bad)}[,:] ?.*{expected}", capfd)


def refused(words, expected, capfd):
    """Runs the example, which must end on all ranks and leave no output, and one line on one rank."""
    normals.world.barrier()
    with pytest.raises(SystemExit) as end:
        normals.main(words)
    lines = capfd.readouterr().err.splitlines()
    told = np.array([float(len(lines)), float(bool(lines and re.search(expected, lines[0])))])
    normals.world.allreduce(told)
    assert end.value.code == 1 and told.tolist() == [1, 1], lines
    assert not [path for path in pathlib.Path(words[-2]).parent.glob("bad-out*")]


def test_refused_options(folder, capfd):
    out, files = folder + "/bad-out.snx", paths_in(folder)
    path = folder + "/bad-constraints.txt"
    if normals.world.rank == 0:
        pathlib.Path(path).write_text("0.1 0 1 STAX/*\n0.1 0 1 LOD/*\n")
    refused(["--constraints", path, out, *files], r"constraints.txt, line 2: no file has a parameter LOD/\*", capfd)
    if normals.world.rank == 0:
        pathlib.Path(path).write_text("0.1 0 1\n")
    refused(["--constraints", path, out, *files], r"constraints.txt, line 1: SIGMA VALUE", capfd)
    refused(["--eliminate", "LOD/*", out, *files], r"--eliminate: no file has a parameter LOD/\*", capfd)
    refused(["--eliminate", "*", out, *files], f"--eliminate matches all {N} parameters", capfd)
    refused([out, folder + "/none.snx", *files], "No such file.*none.snx", capfd)
    refused([folder + "/no/out.snx", *files], "No such file.*no/out.snx", capfd)
    refused([folder + "/no/out.h5", *files], "no/out.h5", capfd)
    refused([out, *files, "--iterations"], "--iterations", capfd)
    refused([out, folder + "/exact/0.snx", folder + "/exact/1.snx"], "gives no variance component", capfd)


def test_too_many_for_sinex(folder, capfd, monkeypatch):
    monkeypatch.setattr(sinex, "MOST", N - 1)
    refused([folder + "/bad-out.snx", *paths_in(folder)],
            rf"bad-out.snx: {N} parameters remain, and a SINEX file has at most {N - 1}: give .* \.h5", capfd)


@pytest.mark.parametrize("kind", ["snx", "h5"])
@pytest.mark.parametrize("words", [[], ["--iterations", "0"], ["--iterations", "0", "--eliminate", "XPO/*"]])
def test_not_positive_definite(folder, capfd, words, kind):
    """A parameter that no observation determines is named, with the line of its declaration."""
    bad = f"{folder}/singular-{normals.world.size}.snx"
    if normals.world.rank == 0:
        text = pathlib.Path(folder + "/one/0.snx").read_text()
        text = re.sub(r"^     5     4 .{21}.*$", "", text, flags=re.M)
        pathlib.Path(bad).write_text(re.sub(r"^(     5     1 .{21}.*|     [67] .*)\n", "", text, flags=re.M))
    normals.world.barrier()
    if "--eliminate" in words:
        words = [*words[:-1], "STA?/1000/*"]
    refused([*words, folder + "/bad-out." + kind, bad], f"{re.escape(bad)}, line", capfd)
