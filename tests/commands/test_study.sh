#!/usr/bin/env bash
# bench/scripts/simulate STUDY: a small study of each kind, from the first run to the picture; an
# interrupted study resumes; impossible studies are refused in one line. Also disturbances of a
# simulated machine.
set -u
. "${SRCDIR:?}/tests/commands/simulated.sh"

# study STUDY ARGUMENT...: on 4 and 16 ranks
study() { simulate "$1" --machine infiniband --ranks 4,16 --build "$BUILDDIR" --out "$1" "${@:2}"; }

# rows WORDS COUNT: checks the number of rows in the table
rows() { [ "$(grep -cE "$1" out)" = "$2" ] || fail "not $2 rows of '$1'"; }

study gemm-weak --n 256 --json lines
[ $status = 0 ] || fail "exit status $status"
rows '^gemm-weak on infiniband: all figures are simulated$' 1
rows '^ *osla +gemm +(4|16) ' 2
[ "$(grep -c '"simulated"' lines)" = 2 ] || fail "not 2 lines of JSON"
for file in table.txt results.jsonl infiniband.xml picture.gp gemm-weak.png; do
  [ -s gemm-weak/$file ] || fail "no $file"
done
# A rate is that of the same run by hand.
by_hand=$("$MPIEXEC" -q -m infiniband -p 16 -n 4 -s -M "$bench" gemm --n 512 --nb 256 --ref none --reps 1 --json json >/dev/null; seconds)
grep -qF "\"seconds\": [$by_hand]" lines || fail "by hand it takes $by_hand s"

# A study stopped while it runs leaves no partial run and no process; then it continues with the
# missing runs.
timeout "$JOB_LIMIT" "$MPIEXEC" lu-weak --machine infiniband --ranks 4,16,253 --n 1024 --build "$BUILDDIR" --out stopped >out 2>err &
pid=$!
for ((i = 0; i < 600; i++)); do
  pgrep -f 'smpi/np:253 ' >/dev/null && break
  sleep 0.1
done
kill $pid
wait $pid
status=$?
label="a study that was stopped"
[ $status = 143 ] || fail "exit status $status"
[ -s out ] && fail "something on stdout"
[ "$(tail -n 1 err)" = "simulate: stopped with 2 of 3 runs done, which are kept in stopped: the same command goes on" ] ||
  fail "it does not say that it can go on: $(tail -n 1 err)"
for ((i = 0; i < 50; i++)); do
  pgrep -f 'smpi/np:253 ' >/dev/null || break
  sleep 0.1
done
[ $i -lt 50 ] || fail "its last run goes on"
[ "$(ls stopped/runs | grep -c 'json$')" = 2 ] || fail "not two runs are done: $(ls stopped/runs)"
before=$(stat -c %Y.%i stopped/runs/*.json)
study lu-weak --n 1024 --out stopped --ranks 4,16,2
rows ' lu +(4|16|2) ' 3
[ "$(grep -c 'done before' err)" = 2 ] || fail "what was done was done again"
[ "$(stat -c %Y.%i stopped/runs/*ranks={16,4}_*.json)" = "$before" ] || fail "what was done was written again"

study assembly-weak --n 20000 --updates 1 --ranks 2,4
[ $status = 0 ] || fail "exit status $status"
rows ' hessian ' 2

# One node at half speed doubles the time; noise of 20 % adds some.
study disturbed --n 256 --ranks 4
[ $status = 0 ] || fail "exit status $status"
rows 'osla host=2 +gemm ' 1
awk '$2 == "host=2" && $3 == "gemm" {ok = $NF > 0.499 && $NF < 0.501} END {exit !ok}' out || fail "gemm on a node half as fast"
awk '$2 == "noise=0.1" && $3 == "gemm" {ok = $NF > 0.8 && $NF < 0.99} END {exit !ok}' out || fail "gemm with noise"
study choices --n 256 --ranks 16 --each 4
[ $status = 0 ] || fail "exit status $status"
[ "$(grep -cE '^"(4x4|2x8|8x2)\\n[0-9]+\\n[124]" [0-9.]+$' choices/curves.dat)" = 21 ] || fail "not a bar for each choice"
grep -q '^"2x8\\n128\\n4" 0.9' choices/curves.dat || fail "a flat grid without data in some process columns"
[ -s choices/choices.png ] || fail "no picture of choices"
time_of() {
  rm -f json
  simulate -m infiniband -q -p 1 -n 2 "$@" -s "$bench" put --n 1048576 --ref none --reps 1 --json json
  awk -F'"seconds_median":' 'index($0, "\"put/both/across\"") {split($2, x, ","); print x[1]}' json
}
alike "$(time_of)" "$(awk -v x="$(time_of -d line=4)" 'BEGIN {print x / 4}')" 0.05 || fail "a line of a quarter's rate"

# A figure of a paper: its runs on both machines, the paper's points, a table with a column of bars.
figure() { simulate "$1" --build "$BUILDDIR" --out "$1" "${@:2}"; }
figure krishnan-figure-6 --ranks 16,64
[ $status = 0 ] || fail "exit status $status"
rows '^krishnan-figure-6 on opteron and xt4: all figures are simulated$' 1
rows '^ *(opteron|xt4) osla +gemm +(16|64) ' 4
grep -qx '10000 51[.][0-9]*' krishnan-figure-6/curves.dat || fail "no point of the paper"
[ -s krishnan-figure-6/krishnan-figure-6.png ] || fail "no picture"
figure krishnan-table-1 --ranks 64 --each 2 --n 4096
[ $status = 0 ] || fail "exit status $status"
[ "$(grep -cE '^"[^"]+" (6[.]2|[345][.][0-9])( [0-9.]+){2}$' krishnan-table-1/curves.dat)" = 5 ] || fail "not five protocols"
# Products are slower if all ranks of a process column begin with one owner, and slowest if all ranks do.
awk '/^"zero-copy.nnonblocking" / {own = $3; first = $4} /order" / {shifted = $4}
  END {exit !(first > 0 && first < 0.98 * own && own < 0.98 * shifted)}' krishnan-table-1/curves.dat || fail "the order of owners has no effect"
figure french-table-2 --ranks 16,64 --updates 1
[ $status = 0 ] || fail "exit status $status"
[ "$(grep -cE '^"(16|64)" [0-9.]+( [0-9.e-]+){4}$' french-table-2/curves.dat)" = 2 ] || fail "not a bar for each number of ranks"

# The migration of a mesh: a row for each number of ranks, a curve for each initial distribution.
if grep -q '^#define HAVE_METIS' "$BUILDDIR/config.h"; then
  figure zhang-figure-11 --ranks 4,16 --each 4 --n 4096
  [ $status = 0 ] || fail "exit status $status"
  rows '^ *(4|16) +4096( +[0-9.e-]+){3}$' 2
  [ "$(grep -cE '^"(Seq|Chunks|Rand)"$' zhang-figure-11/curves.dat)" = 3 ] || fail "not three curves"
  # In the start seq one rank sends all cells, which takes longer than in the starts chunks and
  # rand, where all ranks send cells.
  awk '$1 == 16 && $2 == 4096 {ok = $3 > $4 && $3 > $5} END {exit !ok}' out || fail "one rank sends as fast as all"
fi

# The model of MPI_Accumulate, and numbers that its program refuses.
label="bench/peers"
"$SRCDIR/bench/peers/build" accumulate "$BUILDDIR" acc >out 2>err || fail "accumulate cannot be built"
for source in own_globals modelled_blas modelled_hpl no_pivoting scalapack; do
  smpicc -std=gnu17 -D_GNU_SOURCE -fsyntax-only -I"$BUILDDIR" -I"$SRCDIR/include" -I"$SRCDIR" "$SRCDIR/bench/peers/$source.c" >out 2>err ||
    fail "$source.c cannot be compiled"
done
# accumulate ARGUMENT...: runs the model on 4 ranks
accumulate() {
  label="bench/peers/run $*"
  timeout "$JOB_LIMIT" "$SRCDIR/bench/peers/run" acc -m xc30 -p 2 -n 4 accumulate "$@" >out 2>err </dev/null
  status=$?
}
accumulate 4000 200 2 0.5 2 2
[ $status = 0 ] && between 1 "$(awk '$1 == "accumulate" && $NF == 0 {print $7}' out)" 1.5 || fail "exit status $status"
accumulate 0 200 2 0.5 2 2
refused 2 "bench/peers/run: '0' is not a size"
accumulate 4000.5 200 2 0.5 2 2
refused 2 "bench/peers/run: '4000.5' is not a size"
accumulate 4000 200 2 x 2 2
refused 2 "bench/peers/run: 'x' is not a time in seconds"

# Jacobi's method: the tables and pictures, with the sweeps of each rank and the steps of a sweep.
study jacobi-weak --machine xe6 --ranks 8,16 --each 8 --n 4
[ $status = 0 ] || fail "exit status $status"
rows '^ *(8|16) +(sync|async|racy) ' 6
for file in table.txt rates.png iterations.png histogram.png profile.png; do
  [ -s jacobi-weak/$file ] || fail "no $file"
done
study jacobi-steps --machine xe6 --ranks 8 --each 8 --n 4
[ $status = 0 ] || fail "exit status $status"
# The memory of a die bounds the sweeps of its eight ranks to one in 1.92 ms each.
awk '$2 == "sync" {ok = $3 > 1.92 && $3 < 2.1 && $3 > $4 + $5} END {exit !ok}' out || fail "a sweep of less than 1.92 ms, or of 2.1 ms"

# Inner solvers of splittings beside CG: a table, two pictures, and ratios that follow from the seconds.
if grep -q 'define HAVE_CHOLMOD' "$BUILDDIR/config.h"; then
  study jacobi-blocks --machine xe6 --ranks 4 --each 2 --n 3
  [ $status = 0 ] || fail "exit status $status"
  rows '^ *4 +(sync|async|async, lead 1)( core=2)? +(points|cg 0.1|cg 0.01|sparse|cg 0.1, 2 ranks) ' 22
  rows '^ *4 +(core=2)? +CG ' 2
  awk '$2 == "sync" && $3 == "points" {points = $4} $2 == "CG" {cg = $3}
    $2 == "sync" && $3 == "sparse" {ok = points / $4 / $9 - 1 < 0.01 && points / $4 / $9 - 1 > -0.01 &&
      cg / $4 / $10 - 1 < 0.01 && cg / $4 / $10 - 1 > -0.01} END {exit !ok}' out || fail "other ratios than those of the seconds"
  [ -s jacobi-blocks/blocks.png ] && [ -s jacobi-blocks/blocks-slow.png ] || fail "no pictures of inner solvers"
fi

# Products with layers of ranks: the table has the words that a rank receives, at most 1.1 times as
# many as COSMA counts.
study gemm-layers --n 1024 --ranks 16 --each 4
[ $status = 0 ] || fail "exit status $status"
rows '^ *16 +1024 +[124] +(nodes|tiles|across) ' 7
awk '$2 == 1024 && $8 > 0 && $10 < 1.1 {n++} END {exit n != 7}' out || fail "more words than 1.1 of COSMA's count"
[ -s gemm-layers/gemm-layers.png ] || fail "no picture of layers"

# Refused studies.
figure krishnan-figure-5 --machine infiniband --ranks 16,1024
refused 2 "simulate: 1024 ranks, 16 on each host: machine infiniband has 16 hosts of 16 cores"
simulate gemm-weak --machine infiniband --build "$BUILDDIR"
refused 2 "simulate: gemm-weak needs --machine and --ranks"
study gemm-weak --machine nowhere
refused 2 "simulate: no machine 'nowhere': there are ethernet hdr infiniband opteron opteron-copies slingshot summit torus xc30 xe6 xt4"
study gemm-weak --ranks 4,1000
refused 2 "simulate: 1000 ranks, 16 on each host: machine infiniband has 16 hosts of 16 cores"
study gemm-weak --ranks 4,x
refused 2 "simulate: --ranks: 'x' is not a whole number from 1 to 1000000"
study gemm-weak --n 99999999999
refused 2 "simulate: --n: '99999999999' is not a whole number from 1 to 10000000"
study assembly --updates 10 --ranks 4
refused 2 "simulate: --updates: 10 updates cannot be divided equally among 4 ranks"
figure french-table-1 --ranks 4,3
refused 2 "simulate: --ranks: 4096 updates cannot be divided equally among 3 ranks"
figure krishnan-figure-6 --n 4096
refused 2 "simulate: krishnan-figure-6 does not use --n: leave it out"
study jacobi-weak --machine xe6 --updates 4
refused 2 "simulate: jacobi-weak does not use --updates: leave it out"
study jacobi-weak --machine xe6 --peers acc
refused 2 "simulate: jacobi-weak does not use --peers: leave it out"
echo '<!-- -->' >>gemm-weak/infiniband.xml
study gemm-weak --n 256
refused 2 "simulate: the study in gemm-weak began with another machine file than infiniband: name another folder with --out"
sed 's/osla machine/a machine/' gemm-weak/infiniband.xml >other.xml
study gemm-weak --machine other.xml
refused 2 "simulate: other.xml: no line 'osla machine: N hosts, N cores each', or no speed in Gf or f (see bench/machines/make)"
simulate gemm-weak --machine infiniband --ranks 4 --build nowhere
refused 2 "simulate: --build: nowhere/bench/osla-bench is not there (MPI=simgrid ./quickstart build)"
simulate -d host=x -n 2 -s "$bench" gemm
refused 2 "simulate: -d: 'host=x' is none of host=TIMES, core=TIMES, line=TIMES (whole numbers), noise=SHARE (as 0.1)"
simulate nothing --machine infiniband --ranks 4
[ $status = 2 ] && grep -q "invalid choice: 'nothing'" err || fail "a study that is none"
exit $failed
