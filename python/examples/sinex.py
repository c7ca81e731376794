"""Normal equations in SINEX 2.02: reading in parts, and writing.

The format is described in "SINEX - Solution (Software/technique) INdependent EXchange Format",
version 2.02, 2006, appendix I (www.iers.org, analysis coordinator).
"""
import fnmatch
import mmap
import os
import time

import numpy as np

VECTOR, APRIORI, ESTIMATE, MATRIX, STATISTICS = ("SOLUTION/" + title for title in (
    "NORMAL_EQUATION_VECTOR", "APRIORI", "ESTIMATE", "NORMAL_EQUATION_MATRIX", "STATISTICS"))
OBSERVATIONS, UNKNOWNS, SQUARES = ("NUMBER OF OBSERVATIONS", "NUMBER OF UNKNOWNS",
                                   "WEIGHTED SQUARE SUM OF O-C")
NAME = (7, 13), (14, 18), (19, 21), (22, 26), (27, 39)  # type, code, point, solution, epoch
UNIT = slice(34, 38)  # of a head
MOST = 99999  # parameters: an index has five columns
TEXT = 1 << 22  # bytes of a matrix that `parts` reads at a time


class Fault(Exception):
    """What is wrong with a file, in one line with the file and the line of the file."""


def number(text):
    """The finite number in a field. Fortran may write it as 1.5D+03."""
    value = float(text.replace(b"D", b"E"))
    if not np.isfinite(value):
        raise ValueError(f"{value} where a number is needed")
    return value


def elements(lines, lower, m):
    """Rows and columns, as slices, and values U of lines of a matrix of order m. The diagonal is
    halved, so that the matrix is the sum of U + U^T over all of its lines."""
    lines = [line.rstrip() for line in lines if line[:1] != b"*"]
    if wrong := {len(line) for line in lines} - {34, 56, 78}:
        raise ValueError(f"{min(wrong)} columns instead of 34, 56 or 78: is the line cut off?")
    table = np.array(lines, "S78").view("S1").reshape(-1, 78)
    index = np.ascontiguousarray(table[:, :12]).view("S6").astype(int) - 1
    texts = np.ascontiguousarray(table[:, 12:]).view("S22")
    row, col = np.broadcast_arrays(index[:, :1], index[:, 1:] + np.arange(3))
    value = np.zeros(texts.shape)
    value[texts != b""] = texts[texts != b""].astype(float)
    row, col, value = (array[value != 0] for array in (row, col, value))
    low, high = (col, row) if lower else (row, col)
    for k in np.flatnonzero((low < 0) | (low > high) | (high >= m) | ~np.isfinite(value))[:1]:
        raise ValueError(f"element ({row[k] + 1}, {col[k] + 1}) = {value[k]:g} is not in the "
                         f"{'lower' if lower else 'upper'} triangle of {m} parameters")
    if not value.size:
        return slice(0, 0), slice(0, 0), np.zeros((0, 0))
    i, j = slice(row.min(), row.max() + 1), slice(col.min(), col.max() + 1)
    U = np.zeros((i.stop - i.start, j.stop - j.start), order="F")
    U[row - i.start, col - j.start] = np.where(row == col, value / 2, value)
    if np.count_nonzero(U) < value.size:
        raise ValueError("an element occurs twice in the lines that begin here")
    return i, j, U


def name_of(head):
    """The name of a parameter. head: columns of its line from the type to the constraint code."""
    return "/".join(head[i - 6:j - 6].strip() for i, j in NAME)


class Normals:
    """A file of normal equations N (x - apriori) = b, without the elements of N.

    names: of the parameters, "TYPE/CODE/POINT/SOLUTION/EPOCH"; heads: the columns of a line from
    the type to the constraint code; apriori, b: [parameters]. observations; eliminated: unknowns
    that are not among the parameters; squares: l^T P l, the weighted square sum of O - C.
    """
    kept = None  # list of the parts of this rank after `keep`

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise Fault(f"{path}: the file is empty")
            self.text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.text[:6] != b"%=SNX ":
            raise self.fault(0, 0, "the file does not begin with %=SNX")
        self.names, self.heads, self.b = self._parameters(VECTOR, None)
        self.heads, self.apriori = self._parameters(APRIORI, self.names)[1:]
        if self.text.find(b"\n+" + ESTIMATE.encode()) > 0:
            self._parameters(ESTIMATE, self.names)
        self.observations, self.eliminated, self.squares = self._statistics()
        self.begin, self.end = self._block(MATRIX)
        title = self.text[self.text.rfind(b"\n", 0, self.begin - 1):self.begin]
        triangle = title.split()[1:]
        if triangle not in ([b"L"], [b"U"]):
            raise self.fault(self.begin, -1, f"+{MATRIX} is followed by neither L nor U")
        self.lower = triangle == [b"L"]

    def fault(self, at, lines, what):
        """An exception for the line that is `lines` after the line at byte `at`."""
        line = 1 + lines + self.text[:at].count(b"\n")
        return Fault(f"{self.path}, line {line}: {what}")

    def place(self, name, what):
        """The text of `fault` for the line of a parameter."""
        numbers = [k for k, _ in self._lines(VECTOR)]
        return str(self.fault(self._block(VECTOR)[0], numbers[self.names.index(name)], what))

    def check_units(self, heads):
        """Refuses a unit that differs from that of the parameter in the files before: `heads`."""
        for name, own, other in zip(self.names, self.heads, heads):
            if own[UNIT] != other[UNIT]:
                raise Fault(self.place(name, f"unit {own[UNIT]} of {name}, before {other[UNIT]}"))

    def _block(self, title):
        """Bytes at which the first line of a block begins and its last line ends."""
        at = self.text.find(b"\n+" + title.encode())
        if at < 0:
            raise Fault(f"{self.path}: the block +{title} is missing")
        begin = self.text.find(b"\n", at + 1) + 1
        end = self.text.find(b"\n-" + title.encode(), begin - 1) + 1
        if begin == 0 or end == 0:
            raise self.fault(at + 1, 0, f"+{title} has no end: is the file cut off?")
        return begin, end

    def _lines(self, title):
        begin, end = self._block(title)
        for k, line in enumerate(self.text[begin:end].splitlines()):
            if line[:1] != b"*":
                yield k, line

    def _parameters(self, title, names):
        """Names, heads and values of a block. names: those that the block must have, or None."""
        begin, found, heads, values, seen = self._block(title)[0], [], [], [], {}
        for k, line in self._lines(title):
            head = line[6:46].decode("ascii", "replace")
            name = name_of(head)
            try:
                index, value = int(line[1:6]), number(line[47:68])
            except ValueError:
                raise self.fault(begin, k, f"not a line of +{title}: is it cut off?") from None
            if len(line) < 68 or index != len(found) + 1:
                raise self.fault(begin, k, f"index {index} after {len(found)}, or a cut-off value")
            if seen.setdefault(name, index) < index:
                raise self.fault(begin, k, f"parameter {name} is number {seen[name]}, too")
            if names and names[len(found):index] != [name]:
                raise self.fault(begin, k, f"parameter {index} is {name}, unlike that of +{VECTOR}")
            found.append(name)
            heads.append(head)
            values.append(value)
        needed = len(names) if names else 1
        if len(found) < needed:
            raise self.fault(begin, -1, f"+{title} has {len(found)} parameters, and needs {needed}")
        return found, heads, np.array(values)

    def _statistics(self):
        begin, found = self._block(STATISTICS)[0], {}
        for k, line in self._lines(STATISTICS):
            label = line[1:31].decode("ascii", "replace").strip()
            if label in (OBSERVATIONS, UNKNOWNS, SQUARES):
                try:
                    found[label] = number(line[31:])
                except ValueError:
                    raise self.fault(begin, k, f"{label} is not a number") from None
        for label in (OBSERVATIONS, UNKNOWNS, SQUARES):
            if label not in found:
                raise self.fault(begin, -1, f"+{STATISTICS} lacks {label}")
        if found[UNKNOWNS] < len(self.names):
            raise self.fault(begin, -1, f"+{STATISTICS} has {found[UNKNOWNS]:.0f} unknowns, and "
                                        f"+{VECTOR} {len(self.names)}")
        return found[OBSERVATIONS], found[UNKNOWNS] - len(self.names), found[SQUARES]

    def keep(self, rank, size):
        """Reads this rank's share of N into memory for `share`, since a text takes long to read."""
        self.kept = list(self.parts(rank, size))

    def share(self, rank, size):
        """Parts (rows, columns, values U) of this rank. N is the sum of U + U^T over the parts of
        all ranks."""
        return self.parts(rank, size) if self.kept is None else self.kept

    def parts(self, rank, size):
        """Reads this rank's share of N; yields parts (rows, columns, values) as `elements` does."""
        length = self.end - self.begin
        count = size * max(1, -(-length // (size * TEXT)))
        for k in range(rank, count, size):
            begin, end = (self.text.find(b"\n", self.begin + length * j // count - 1) + 1
                          for j in (k, k + 1))
            lines = self.text[begin:end].replace(b"D", b"E").splitlines()
            try:
                part = elements(lines, self.lower, len(self.names))
            except ValueError as reason:
                raise self._first_fault(begin, lines, reason) from None
            if part[2].size:
                yield part

    def _first_fault(self, begin, lines, reason):
        for k, line in enumerate(lines):
            try:
                elements([line], self.lower, len(self.names))
            except ValueError as own:
                return self.fault(begin, k, own)
        return self.fault(begin, 0, reason)


# ---- names and constraints ----

def matching(names, pattern, place):
    """The names that match a pattern, such as STA?/7080/*."""
    found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        raise Fault(f"{place}: no file has a parameter {pattern}")
    return found


def constraints(path, number):
    """Indices, coefficients and value, divided by sigma, for each line of a file. The line
    `0.001 0 1 STAX/7080/* -1 STAX/7090/*` says that the sum of coefficients times corrections is 0
    with standard deviation 0.001. number: index of each name. path: None for no constraints."""
    found = []
    for k, line in enumerate(open(path, errors="replace") if path else (), 1):
        words, place = line.split("#")[0].split(), f"{path}, line {k}"
        if not words:
            continue
        try:
            sigma, value, *factors = (float(word) for word in (*words[:2], *words[2::2]))
            if not (0 < sigma < np.inf and factors and len(words) % 2 == 0):
                raise ValueError
        except ValueError:
            raise Fault(f"{place}: SIGMA VALUE COEFFICIENT PATTERN ... is needed") from None
        G = {}
        for factor, pattern in zip(factors, words[3::2]):
            for name in matching(number, pattern, place):
                G[number[name]] = G.get(number[name], 0.0) + factor / sigma
        found.append((np.array(list(G)), np.array(list(G.values())), value / sigma))
    return found


# ---- writing ----

def header(agency, parameters):
    """The first line of a file, without a time span of the data."""
    now = time.strftime("%y:%j:", time.gmtime()) + f"{int(time.time()) % 86400:05d}"
    unknown = "00:000:00000"
    return f"%=SNX 2.02 {agency} {now} {agency} {unknown} {unknown} C {parameters:05d} 2 S\n"


def block(title, lines):
    return f"+{title}\n" + "".join(f"{line}\n" for line in lines) + f"-{title}\n"


def parameters(title, heads, values, deviations=None):
    """A block with a line for each parameter; deviations: standard deviations, or None."""
    tails = [""] * len(heads) if deviations is None else [f" {d:11.5E}" for d in deviations]
    return block(title, (f" {k:5d}{head} {value:21.14E}{tail}" for k, (head, value, tail)
                         in enumerate(zip(heads, values, tails), 1)))


def statistics(counts):
    """counts: observations, unknowns, and the weighted square sum of O - C."""
    return block(STATISTICS, (f" {label:30} {value:22.15E}" for label, value in
                              zip((OBSERVATIONS, UNKNOWNS, SQUARES), counts)))


def row_text(row, col, values):
    """Lines of a row of a matrix, whose values begin in column `col`; row and col from 0."""
    fields = [f" {value:21.14E}" for value in values]
    return "".join(f" {row + 1:5d} {col + k + 1:5d}{''.join(fields[k:k + 3])}\n"
                   for k in range(0, len(fields), 3))


class Writer:
    """A file of combined normal equations and their solution, which appears when it is complete.
    Every rank makes a Writer; first: whether this rank writes all but the matrix."""

    def __init__(self, path, heads, apriori, first):
        self.path, self.part, self.first = path, path + ".part", first
        self.heads, self.apriori = heads, apriori
        self.waiting, self.mode = header("OSL", len(heads)), "w"  # text that is not written yet
        if first:
            open(self.part, "w").close()  # an invalid path fails at once

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.first and os.path.exists(self.part):
            os.remove(self.part)

    def _write(self, text):
        if self.first:
            with open(self.part, self.mode, encoding="ascii", newline="") as file:
                file.write(self.waiting + text)
        self.waiting, self.mode = "", "a"

    def vector(self, b):
        """Writes the right-hand sides b, and begins the block of the matrix."""
        text = parameters(VECTOR, self.heads, b) + f"+{MATRIX} L\n"
        self.start = len(self.waiting + text)  # where the rows of the matrix begin
        self._write(text)
        self.waiting = f"-{MATRIX} L\n"

    def matrix(self, N, rows):
        """Writes rows of the lower triangle of N, an osla.Matrix. All ranks write their rows at the
        same time, after `vector` has returned on the first rank."""
        columns = np.arange(1, len(self.heads) + 1)
        sizes = columns // 3 * 79 + (columns % 3 > 0) * (13 + 22 * (columns % 3))
        at = self.start + np.cumsum([0, *sizes])
        with open(self.part, "r+b") as file:
            for row in rows:
                file.seek(int(at[row]))
                file.write(row_text(row, 0, N.get(row, 0, 1, row + 1)[0]).encode("ascii"))

    def solution(self, x, sigma, counts):
        """Writes the other blocks, and gives the file its name."""
        self._write(statistics(counts) + parameters(APRIORI, self.heads, self.apriori)
                    + parameters(ESTIMATE, self.heads, self.apriori + x, sigma) + "%ENDSNX\n")
        if self.first:
            os.replace(self.part, self.path)
