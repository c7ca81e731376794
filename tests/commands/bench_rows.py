"""Checks rows that osla-bench wrote with --json and --reps 2: they have all keys, and their values agree.

usage: bench_rows.py LIST   (each line: FILE, number of rows, label, separated by tabs). Prints each fault.
test_bench.sh runs this program.
"""
import json
import statistics
import sys
import traceback

keys = """kernel impl precision n nb grid ranks nodes reps seconds_min seconds_median rate unit residual
          pass ratio_vs seconds""".split()
shape = {"gemm": ["m", "k", "trans"], "syrk": ["m", "k"], "symm": ["m", "k", "trans"], "trmm": ["m", "k", "trans"], "gemv": [], "symv": [], "lu": ["pivoting", "look_ahead", "forward"],
         "chol": ["look_ahead", "forward"], "potri": ["look_ahead", "forward"], "getri": ["look_ahead", "forward"], "solve/lu": ["nrhs"], "solve/chol": ["nrhs"],
         "hessian": "size run rows work updates ring_bytes threads seed upper".split(),
         "chain": "size run rows updates phases".split()} | {
         "forest/" + case: ["plain", "rewrite", "arrival", "exact"] for case in ("pingpong", "gather", "reduce", "fetch", "halo")} | {
         "forest/" + case: ["entries", "ghosts"] for case in ("spmv", "cg")} | {"forest/" + case: ["products", "numeric"] for case in ("spmm", "ptap")} | {"forest/migrate": ["start", "partition"], "forest/setup": ["halo"]} | {
         "jacobi/" + mode: "whole sweeps period lead in_flight slow_rank levels correct_every damping zeros threads cost_points".split()
         for mode in ("sync", "async", "racy")} | {
         "splitting/" + mode: "inner whole lead slow_rank group".split() for mode in ("sync", "async", "racy")} | {
         "channel/" + case: ["in_flight"] for case in ("pingpong", "halo", "stream")}
ours_of_jacobi = "osla", "sync", "one-level", "recorded", "uncertified"
solve_by_blocks = "phases sweeps_least sweeps_mean sweeps_most snapshots inner_tolerance inner_iterations factor_bytes tolerance slow_factor certified".split()
certificate = "phases corrections sweeps_least sweeps_mean sweeps_most snapshots tolerance slow_factor certified".split()


def check(rows):
    for row in rows:
        measured = ["phases", "bytes_sent", "bytes_per_element", "seconds_apply"] if row["kernel"] == "hessian" and row["impl"].startswith("osla") else []
        if row["kernel"].startswith("jacobi/") and row["impl"] in ours_of_jacobi:
            assert row["sweeps_least"] <= row["sweeps_mean"] <= row["sweeps_most"], row
            assert 0 < row["certified"] <= (row["tolerance"] or 1), row
            if not row["tolerance"]: assert row["sweeps_least"] == row["sweeps_most"] == row["sweeps"], row
            two_levels = row["levels"] == 2 and row["impl"] not in ("one-level", "recorded")
            assert (row["corrections"] > 0) == two_levels, row
        names = certificate if row["kernel"].startswith("jacobi/") and row["impl"] in ours_of_jacobi else []
        if row["kernel"].startswith("jacobi/") and row["impl"] in ("threads", "cg"):
            names = "phases tolerance certified".split()
            names += ["iterations"] if row["impl"] == "cg" else "sweeps_least sweeps_mean sweeps_most".split()
            assert 0 < row["certified"] <= (row["tolerance"] or 1), row
            if row["impl"] == "cg": assert 1 < row["iterations"] < ours["sweeps_least"], row
            # a thread without a core may make its only sweep after the others have converged
            elif row["tolerance"]: assert 0 < row["sweeps_least"] <= row["sweeps_mean"] <= row["sweeps_most"] and row["sweeps_mean"] > 1, row
            else: assert row["sweeps_least"] == row["sweeps_most"] == row["sweeps"], row
        if row["kernel"].startswith("splitting/"):
            assert 0 < row["certified"] <= row["tolerance"] * 1.001, row
            names = solve_by_blocks if row["impl"] != "cg" else "phases tolerance certified iterations".split()
            if row["impl"] != "cg":
                inner = "points" if row["impl"] == "points" else row["inner"]
                assert 0 < row["sweeps_least"] <= row["sweeps_mean"] <= row["sweeps_most"], row
                assert (row["inner_iterations"] > 0) == (inner == "cg"), row
                # the factor of the lower triangle of a rank's points has at least their diagonal elements
                points = row["n"] ** 3 / (row["ranks"] if row["whole"] else 1)
                assert row["factor_bytes"] >= 8 * points if inner == "sparse" else row["factor_bytes"] == 0, row
            # if all ranks share a block, an almost exact solve with it solves the system
            if row["impl"] == "osla" and row["group"] >= row["ranks"] > 1 and row["inner_tolerance"] <= 1e-6: assert row["sweeps_most"] == 1, row
            # solves with blocks save sweeps; fast ranks make many sweeps in the other modes
            if row["kernel"] == "splitting/sync" and row["impl"] == "points": assert ours["sweeps_mean"] < row["sweeps_mean"], row
        if "trials" in row: # the fastest candidate of a trial was measured
            names = names + ["trials", "chosen"]
            assert len(row["trials"]) > 1 and row["trials"][row["chosen"]] == min(row["trials"].values()) > 0, row
            assert row["chosen"].startswith(row["impl"] + "-"), row
            assert row["impl"] != "scalapack" or row["chosen"].split("-")[1] == str(row["nb"]), row
        else:
            assert row["impl"] not in ("ga", "mpi-accumulate", "scalapack") or row["kernel"] == "gemm" or row["n"] <= 32, row
        if "device" in row:
            names = names + ["device", "device_shared"]
            assert row["device"] == "fake device" and row["device_shared"] == (row["ranks"] > 4), row
        assert sorted(row) == sorted(keys + shape.get(row["kernel"], []) + measured + names), sorted(row)
        if measured: # the phases of a thread do not overlap
            phases = row["phases"]
            assert sorted(phases) == sorted("work split product add transfer wait".split()), phases
            assert min(phases.values()) >= 0 and phases["add"] + phases["transfer"] > 0, phases
            assert sum(phases.values()) <= 1.001 * statistics.mean(row["seconds"]), row
            assert (phases["work"] > 0) == (row["work"] > 0), phases
            # memory that only its owner can access gets updates as from another node
            sends = row["nodes"] > 1 or row["ranks"] > 1 and row["impl"] in ("osla-wrapped", "osla-ga")
            assert (row["bytes_sent"] > 0) == sends == (phases["transfer"] > 0), row
            assert (row["bytes_per_element"] > 0) == sends, row
            elements = row["size"] * (row["size"] + 1) / 2 * row["updates"] * row["ranks"]
            assert abs(row["rate"] * 1e6 * row["seconds_median"] / elements - 1) < 1e-6, row
        assert row["pass"] is True and 0 <= row["residual"] < 16, row
        assert len(row["seconds"]) == row["reps"] == 2 and min(row["seconds"]) > 0, row
        assert abs(row["seconds_min"] / min(row["seconds"]) - 1) < 1e-6, row
        assert abs(row["seconds_median"] / statistics.median(row["seconds"]) - 1) < 1e-6, row
        if row["unit"] == "us":
            assert abs(row["rate"] / (1e6 * row["seconds_median"]) - 1) < 1e-6, row
        if row["impl"] == "osla":
            ours, best = row, None
            flops = 0
            if row["kernel"] == "gemm":
                flops = row["m"] * row["n"] * row["k"] * (2 if row["precision"] in "sd" else 8)
            if row["kernel"] == "syrk":
                flops = row["n"] * (row["n"] + 1) * row["k"] * (1 if row["precision"] in "sd" else 4)
            if row["kernel"] in ("symm", "trmm"):
                flops = row["n"] ** 3 * (2 if row["kernel"] == "symm" else 1) * (1 if row["precision"] in "sd" else 4)
            if row["kernel"] in ("gemv", "symv"): # the row has bytes
                flops = row["n"] * (row["n"] if row["kernel"] == "gemv" else (row["n"] + 1) / 2) * {"s": 4, "d": 8, "c": 8, "z": 16}[row["precision"]]
            if row["kernel"] in ("lu", "chol"):
                flops = row["n"] ** 3 * (2 if row["precision"] in "sd" else 8) / (3 if row["kernel"] == "lu" else 6)
            if row["kernel"] in ("potri", "getri"):
                flops = row["n"] ** 3 * (2 if row["precision"] in "sd" else 8) / 3 * (2 if row["kernel"] == "getri" else 1)
            if row["kernel"].startswith("solve/"):
                flops = row["n"] ** 2 * row["nrhs"] * (2 if row["precision"] in "sd" else 8)
            assert not flops or abs(row["rate"] * 1e9 * row["seconds_median"] / flops - 1) < 1e-6, row
        else: # references follow the measured implementation
            assert row["ratio_vs"] == {}, row
            if row.get("device_shared"): continue # such rows have no ratios
            ratio = ours["ratio_vs"].pop(row["impl"])
            same_work = row["impl"] != "blas" or row["kernel"] not in ("syrk", "trmm", "lu", "chol", "potri", "getri")
            paired = statistics.median(theirs / our for theirs, our in zip(row["seconds"], ours["seconds"]))
            assert not same_work or abs(ratio / paired - 1) < 1e-6, (ratio, paired)
            if row["impl"].startswith("scalapack-"): # with --ref-nb: a row for each size, and the best
                assert row["impl"] == "scalapack-%d" % row["nb"], row
                if not best or row["seconds_median"] < best[0]: best = row["seconds_median"], ratio
                ours["best"] = best[1]
    for row in rows:
        assert row["ratio_vs"].pop("scalapack-best", None) == row.get("best"), row
        assert row["ratio_vs"] == {}, row


failed = False
for line in open(sys.argv[1]):
    file, count, label = line.rstrip("\n").split("\t")
    try:
        rows = [json.loads(row) for row in open(file)]
        assert len(rows) == int(count), len(rows)
        check(rows)
    except Exception:
        failed = True
        print(label)
        traceback.print_exc(file=sys.stdout)
sys.exit(failed)
