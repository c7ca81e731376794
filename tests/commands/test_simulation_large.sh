#!/usr/bin/env bash
# Machines of thousands of cores: queueing links give the same results as sharing links where both
# are possible; errors that were fixed at scale stay fixed; the machine files are those of
# bench/machines/make.
set -u
. "${SRCDIR:?}/tests/commands/simulated.sh"

# run KERNEL ARGUMENT...: runs on the machine and ranks of `where`
run() {
  rm -f json
  simulate "${where[@]}" -s "$bench" "$@" --ref none --reps 1 --json json
  [ $status = 0 ] || fail "exit status $status"
}

# Correct, the same in each run, and named.
where=(-m torus -q -p 4 -n 64)
run lu --n 400 --nb 32
grep -q ' PASS .* simulated$' out || fail "no line that passes"
grep -q '^simulated: machine torus, queued links;' out || fail "no word of queues"
grep -q '"simulated":"torus, queued links"' json || fail "no word of queues in the JSON line"
first=$(seconds)
run lu --n 400 --nb 32
[ "$(seconds)" = "$first" ] || fail "$first s simulated, then $(seconds)"

# An undisturbed transfer takes bytes / bandwidth plus the latency, in pieces as well as whole: 16
# MiB through a switch at 24.5 GB/s and 1 us, in one direction, or in both at once.
of_case() { awk -F'"seconds_median":' -v k="put/$case/across" 'index($0, "\"" k "\"") {split($2, x, ","); print x[1]}' json; }
for size in 8 4096 65536 16777216; do
  for case in notify both; do
    where=(-m infiniband -p 1 -n 2)
    run put --n $size
    shared=$(of_case)
    where+=(-q)
    run put --n $size
    [ -n "$shared" ] || fail "no line of $case"
    alike "$shared" "$(of_case)" 0.02 || fail "$case of $size: $shared s with links that share, $(of_case) s with queues"
  done
done

# If transfers meet on a link, SimGrid's links divide the bandwidth, and OSLA's links queue the
# transfers. The times may then differ by the first number of a line.
for run in "0.03 gemm" "0.10 lu" "0.05 chol"; do
  read -ra arguments <<<"$run --n 4096 --nb 64"
  where=(-m torus -M -p 1 -n 64)
  run "${arguments[@]:1}"
  shared=$(seconds)
  where+=(-q)
  run "${arguments[@]:1}"
  alike "$shared" "$(seconds)" "${arguments[0]}" ||
    fail "$shared s with links that share, $(seconds) s with queues"
done

# Gets of a product at 1,024 ranks, eight on a node: no owner is asked by all ranks at once (2.48 s
# if nodes begin with the segments of which they have one operand; the arithmetic alone takes 1.16
# s).
where=(-m opteron -q -M -p 8 -n 1024)
run gemm --n 16384 --nb 512
between 1.16 "$(seconds)" 1.25

# 16 process rows and eight ranks on a node: the default order is by tiles, which is faster (0.75
# for N = 8192).
where=(-m opteron -q -M -p 8 -n 256)
run chol --n 4096 --nb 64
chosen=$(seconds)
run chol --n 4096 --nb 64 --order tiles
[ "$(seconds)" = "$chosen" ] || fail "$chosen s in the order that is chosen, by tiles $(seconds)"
run chol --n 4096 --nb 64 --order nodes
awk "BEGIN {exit !($chosen < 0.9 * $(seconds))}" || fail "$chosen s by tiles, by nodes $(seconds)"

# Rows left of the panels of LU: each is sent once, together with others for the same rank, and no
# rank gets whole block columns (1.8 of 6 GiB for order 8192 on 64 ranks, a fifth of the time on
# 1,024).
where=(-m xt4 -q -M -p 4 -n 64)
run lu --n 4096 --nb 64 --trace trace
grep -q '^put ' out && ! grep -q '^get ' out || fail "LU gets block columns"

# Message rings, 32 MiB on each rank, are not touched when work is only modelled (2 GB instead of
# 0.3).
label="memory of the assembly"
peak=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$SRCDIR/bench/scripts/simulate" -m xc30 -q -p 2 -n 64 -s -M \
  "$bench" hessian --n 220000 --nb 64 --size 4000 --precision s --updates 8 --ref none --reps 1 2>err) || fail "ends early"
[ "${peak:-0}" -gt 0 ] && [ "$peak" -lt 700000 ] || fail "$peak KB"

simulate -m xt4 -p 5 -n 10 "$bench" gemm
refused 2 "simulate: -p: '5' ranks on each host: machine xt4 has 2500 hosts of 4 cores for 10 ranks"
simulate -m ethernet -p 2 -n 10 "$bench" gemm
refused 2 "simulate: -p: '2' ranks on each host: machine ethernet has 4 hosts of 4 cores for 10 ranks"

simulate -m xt4 -q -s -M -n 16 "$bench" gemm --n 4000000000 --nb 1024 --ref none
refused 2 "osla-bench gemm: 8e+18 bytes for a rank exceed the limit of 7.04e+13"

label="bench/machines/make"
cp -r "$SRCDIR/bench/machines" machines && chmod -R u+w machines && rm machines/*.xml && machines/make >out 2>err || fail "exit status $?"
diff -r "$SRCDIR/bench/machines" machines >out || fail "it writes other files than those that are there"
exit $failed
