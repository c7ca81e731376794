"""Runs of a study on simulated machines: command lines, jobs, and files of finished runs."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import study_blocks
import study_jacobi
import study_layers
import study_migration
from study_cases import fail, grid_of

here = os.path.dirname(os.path.abspath(__file__))


def bench(o):
    return os.path.join(o.build, "bench", "osla-bench")


def command(o, r, result):
    """Returns the command line of a run. osla-bench writes its result as JSON to the file `result`;
    if `result` is None, it only prints the plan of a product. Other programs write a line to
    standard output."""
    where = ["-m", o.file, "-p", str(r["each"]), "-n", str(r["ranks"])]
    if r.get("disturbance"):
        where += ["-d", r["disturbance"]]
    if r["who"] == "mpi":
        return [os.path.join(here, "..", "peers", "run"), o.programs[r["kernel"]], *where, r["kernel"],
                *(str(r[key]) for key in ("n", "size", "updates", "making")), *map(str, grid_of(r["ranks"]))]
    if r["kernel"] in ("jacobi", "splitting"):
        study = study_jacobi if r["kernel"] == "jacobi" else study_blocks
        return study.command(r, [os.path.join(here, "simulate"), "-q", *where], bench(o), result)
    if r["who"] != "osla":
        return [os.path.join(here, "..", "peers", "run"), o.programs[r["who"]], *where, r["kernel"], str(r["n"]), str(r["nb"]),
                *map(str, grid_of(r["ranks"]))]
    if r["kernel"] == "forest":
        return [os.path.join(here, "simulate"), "-q", *where, "-s", bench(o), *study_migration.words_of(r), "--json", result]
    words = [os.path.join(here, "simulate"), "-q", *where, "-s", "-M", bench(o), r["kernel"], "--n", str(r["n"]),
             "--nb", str(r["nb"]), "--ref", "none", *(["--reps", "1", "--json", result] if result else ["--plan"])]
    for option, key in (("--pivoting", "pivoting"), ("--grid", "process_grid"), ("--order", "order"), ("--layers", "layers")):
        if r.get(key):
            words += [option, str(r[key])]
    if r.get("ablate"):
        words.append("--ablate")
    if "updates" in r:
        # seconds of the product G^T G of an update with n indices and k = 100 rows, in single
        # precision at twice the rate of double precision. One triangle takes n^2 k operations; some
        # more are for blocks that the diagonal crosses, which are computed whole.
        product = r["size"] ** 2 * 100 * (1 + 0.12 * 4000 / r["size"]) / (2 * o.gflops * 1e9)
        words += ["--size", str(r["size"]), "--rows", "100", "--precision", "s", "--updates", str(r["updates"]),
                  "--work", str(round(r["making"] / product)), "--ring-bytes", str(r["room"])]
    return words


def name_of(r):
    return re.sub("[^a-z0-9.=-]+", "_", " ".join(f"{v}" if k in ("who", "kernel") else f"{k}={v}"
                                            for k, v in r.items() if v not in ("", None)).lower())


def parse(r, text, path):
    if r["kernel"] == "jacobi":
        return study_jacobi.parse(text, path)
    if r["kernel"] == "splitting":
        return study_blocks.parse(path)
    if r["who"] == "osla":
        with open(path) as file:
            return [json.loads(line) for line in file]
    found = re.search(r"([0-9.e+-]+) simulated s, info 0", text)
    return [{"seconds_median": float(found[1])}] if found else []


def execute(words):
    """Runs a command, and returns its exit status, standard output and standard error. An
    exception, such as that of a signal, ends the command's process group, too."""
    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                           env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    try:
        out, err = job.communicate()
    except BaseException:
        os.killpg(job.pid, signal.SIGTERM)
        raise
    return job.returncode, out, err


def do(o, r):
    """Runs r, unless the file of its results exists. Returns the results, and True if it ran. The
    file appears only when it is complete."""
    path = os.path.join(o.out, "runs", name_of(r) + ".json")
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file), False
    raw = path + ".raw"
    if os.path.exists(raw):
        os.remove(raw)
    words, began = command(o, r, raw), time.time()
    status, out, err = execute(words)
    lines = parse(r, out, raw) if status == 0 else []
    if not lines:
        fail(f"{' '.join(words)}\nended with status {status}:\n{(err or out)[-2000:]}\n"
             f"finished runs are in {o.out}: repeat the command to continue", 1)
    if "layers" in r:
        words = command(o, r, None)
        status, out, err = execute(words)
        count = study_layers.words_of_plan(out, r["ranks"]) if status == 0 else None
        if count is None:
            fail(f"{' '.join(words)}\nprinted no plan and ended with status {status}:\n{(err or out)[-2000:]}", 1)
        r = r | {"words": count}
    results = [r | {"machine": o.machine, "simulated": True, "real_seconds": round(time.time() - began, 1)} | line
               for line in lines]
    with open(path + ".new", "w") as file:
        json.dump(results, file, indent=1)
    os.rename(path + ".new", path)
    if os.path.exists(raw):
        os.remove(raw)
    return results, True


def begin(o):
    """Creates the folder of the study, with a copy of the machine file. Refuses a folder that
    another machine file began."""
    os.makedirs(os.path.join(o.out, "runs"), exist_ok=True)
    kept = os.path.join(o.out, f"{o.machine}.xml")
    if not os.path.exists(kept):
        shutil.copy(o.file, kept)
    with open(kept) as a, open(o.file) as b:
        if a.read() != b.read():
            fail(f"the study in {o.out} began with another machine file than {o.machine}: "
                 "name another folder with --out")
