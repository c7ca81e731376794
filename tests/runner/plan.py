"""Reads tests/list, and selects runs.

A run is one suite on one number of ranks in one mode, or one script. Its label is NAME-RANKS-MODE
or NAME. Runs of one program on the same ranks in the same mode share a job.
"""

import dataclasses
import re

LEVELS = ("check", "ci", "full")
MODES = ("node", "fake2", "fake4", "sparse", "cores2", "nolocal", "device", "device2", "triangle", "triangle2", "mixed", "early", "mpimem", "armci", "shmem", "shmem2", "sim", "hosts2", "hosts3", "hosts4", "hosts2shmem")
NEEDS = ("hdf5", "scalapack", "ga", "armci", "shmem", "fortran", "gnuplot", "simulation")
MARKS = ("timing", "plain")


class ListError(Exception):
    """An error in tests/list."""


@dataclasses.dataclass
class Run:
    name: str
    path: str  # path of the program in the build folder, or of the script in the source tree
    level: str
    ranks: int = 0  # 0 for a script
    mode: str = ""
    limit: int = 120
    needs: tuple = ()
    marks: tuple = ()

    @property
    def label(self):
        return f"{self.name}-{self.ranks}-{self.mode}" if self.ranks else self.name

    @property
    def simulated(self):
        return self.mode == "sim" or "simulation" in self.needs

    @property
    def job(self):
        """Key of the job: runs with the same key share a job."""
        own = "plain" in self.marks or "timing" in self.marks or not self.ranks
        return (self.path, self.ranks, self.mode, self.needs if "ga" in self.needs else (), self.name if own else "")


def suits(ranks, mode):
    """True if this number of ranks can run in the mode."""
    if mode in ("fake2", "sparse", "cores2", "device2", "triangle2", "shmem2"):
        return ranks % 2 == 0
    if mode == "fake4":
        return ranks % 4 == 0
    if mode.startswith("hosts"):
        return ranks % int(mode[5]) == 0
    return ranks > 1 or mode != "nolocal"


def parse_notes(text):
    """Parses the last column into (limit, needs, marks)."""
    limit, needs, marks = 120, [], []
    for word in text.split():
        if re.fullmatch(r"limit=\d+", word):
            limit = int(word[6:])
        elif word in NEEDS:
            needs.append(word)
        elif word in MARKS:
            marks.append(word)
        else:
            raise ListError(f"'{word}' is no need and no mark")
    return limit, tuple(needs), tuple(marks)


def parse_runs(text):
    """Parses a column such as "1,2-node 4-fake2" into [(ranks, mode), ...]; a script has (0, "")."""
    runs = []
    for word in text.split():
        if word == "run":
            runs.append((0, ""))
            continue
        found = re.fullmatch(r"(\d+(?:,\d+)*)-(\w+)", word)
        if not found or found[2] not in MODES:
            raise ListError(f"'{word}' is not RANKS-MODE")
        for ranks in map(int, found[1].split(",")):
            if not suits(ranks, found[2]):
                raise ListError(f"{ranks} ranks cannot run in the mode {found[2]}")
            runs.append((ranks, found[2]))
    return runs


def parse_line(line, folder, program):
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 5:
        raise ListError(f"{len(fields)} columns, not 5")
    name = fields[0]
    limit, needs, marks = parse_notes(fields[4])
    path = f"{folder}/{program or name}"
    runs = []
    for level, column in zip(LEVELS, fields[1:4]):
        for ranks, mode in parse_runs(column):
            if (ranks == 0) != name.endswith(".sh"):
                raise ListError("'run' is for scripts, RANKS-MODE for suites")
            runs.append(Run(name, path, level, ranks, mode, limit, needs, marks))
    if not runs:
        raise ListError("no level runs it")
    return runs


def read(path):
    """All runs of the list, in order. Raises ListError, which names the line."""
    runs, folder, program = [], None, None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            section = re.fullmatch(r"\[([\w/]+)(?: (\w+))?\]", line)
            try:
                if section:
                    folder, program = section.groups()
                elif folder is None:
                    raise ListError("before the first [FOLDER] or [FOLDER PROGRAM]")
                else:
                    runs += parse_line(line, folder, program)
            except ListError as error:
                raise ListError(f"tests/list: line {number}: {error}") from None
    return runs


def in_mode(runs, mode):
    """The suites with a run in the mode "node", on the same ranks in another mode."""
    return [dataclasses.replace(run, mode=mode) for run in runs if run.mode == "node" and suits(run.ranks, mode)]
