#!/usr/bin/env bash
# results/simulate STUDY: a small one of each kind, from the first run to the picture; one that is interrupted goes on; what
# cannot be is refused in one line. And what disturbs a simulated machine.
set -u
. "${SRCDIR:?}/tests/simulated.sh"
export BUILD=${BUILDDIR:?}

# study STUDY ARGUMENT...: on 4 and 16 ranks
study() { simulate "$1" --machine infiniband --ranks 4,16 --build "$BUILD" --out "$1" "${@:2}"; }

# rows WORDS COUNT: of the table
rows() { [ "$(grep -cE "$1" out)" = "$2" ] || fail "not $2 rows of '$1'"; }

study gemm-weak --n 256 --json lines
[ $status = 0 ] || fail "exit status $status"
rows '^gemm-weak on infiniband: all figures are simulated$' 1
rows '^ *osla +gemm +(4|16) ' 2
[ "$(grep -c '"simulated"' lines)" = 2 ] || fail "not 2 lines of JSON"
for file in table.txt results.jsonl machine.xml picture.gp gemm-weak.png; do
  [ -s gemm-weak/$file ] || fail "no $file"
done
# A rate is that of the same run by hand.
by_hand=$("$MPIEXEC" -q -m infiniband -p 16 -n 4 -s -M "$bench" gemm --n 512 --nb 256 --ref none --reps 1 --json json >/dev/null; seconds)
grep -qF "\"seconds\": [$by_hand]" lines || fail "by hand it takes $by_hand s"

# Stopped while it runs, it goes on with what is missing, and leaves no half of a run.
study lu-weak --n 64 --ranks 4
rows ' lu +4 ' 1
before=$(stat -c %Y.%i lu-weak/runs/*)
setsid timeout 100 "$MPIEXEC" lu-weak --machine infiniband --ranks 4,16,256 --n 1024 --build "$BUILD" --out stopped >out 2>err &
pid=$!
for ((i = 0; i < 300; i++)); do
  compgen -G 'stopped/runs/*ranks=16_*.json' >/dev/null && break
  sleep 0.1
done
kill -- -$pid 2>/dev/null
wait $pid 2>/dev/null
label="a study that was killed"
[ "$(ls stopped/runs | grep -c 'json$')" = 2 ] || fail "not two runs are done: $(ls stopped/runs)"
study lu-weak --n 64
rows ' lu +(4|16) ' 2
[ "$(grep -c 'done before' err)" = 1 ] || fail "the first run was done again"
[ "$(stat -c %Y.%i lu-weak/runs/*ranks=4_*)" = "$before" ] || fail "the first run was written again"

study assembly-weak --n 20000 --updates 1 --ranks 2,4
[ $status = 0 ] || fail "exit status $status"
rows ' hessian ' 2

# Half as fast a node, of one: twice the time; noise of 20 % takes some.
study disturbed --n 256 --ranks 4
[ $status = 0 ] || fail "exit status $status"
rows 'osla host=2 +gemm ' 1
awk '$2 == "host=2" && $3 == "gemm" {exit !($NF > 0.499 && $NF < 0.501)}' out || fail "gemm on a node half as fast"
awk '$2 == "noise=0.1" && $3 == "gemm" {exit !($NF > 0.8 && $NF < 0.99)}' out || fail "gemm with noise"
time_of() {
  rm -f json
  simulate -m infiniband -q -p 1 -n 2 "$@" -s "$bench" put --n 1048576 --ref none --reps 1 --json json
  awk -F'"seconds_median":' 'index($0, "\"put/both/across\"") {split($2, x, ","); print x[1]}' json
}
alike "$(time_of)" "$(awk -v x="$(time_of -d line=4)" 'BEGIN {print x / 4}')" 0.05 || fail "a line of a quarter's rate"

# Refused.
said() {
  [ $status != 0 ] || fail "exit status 0"
  [ "$(cat err)" = "$1" ] || fail "stderr is not '$1'"
}
study gemm-weak --machine nowhere
said "simulate: no machine 'nowhere': there are ethernet hdr infiniband opteron slingshot torus xc30 xt4"
study gemm-weak --ranks 4,1000
said "simulate: 1000 ranks, 16 on each host: machine infiniband has 16 hosts of 16 cores"
study gemm-weak --ranks 4,x
said "simulate: --ranks: 'x' is not a whole number from 1 to 1000000"
study gemm-weak --n 99999999999
said "simulate: --n: '99999999999' is not a whole number from 1 to 10000000"
study assembly --updates 10 --ranks 4
said "simulate: --updates: 10 is not a multiple of 4 ranks"
echo '<!-- -->' >>gemm-weak/machine.xml
study gemm-weak --n 256
said "simulate: gemm-weak: was begun with another infiniband; --out names another folder"
simulate gemm-weak --machine infiniband --ranks 4 --build nowhere
said "simulate: --build: nowhere/bench/osla-bench is not there (MPI=simgrid ./quickstart build)"
simulate -d host=x -n 2 -s "$bench" gemm
said "simulate: -d: 'host=x' is none of host=TIMES, line=TIMES (whole numbers), noise=SHARE (as 0.1)"
simulate nothing --machine infiniband --ranks 4
[ $status = 2 ] && grep -q "invalid choice: 'nothing'" err || fail "a study that is none"
exit $failed
