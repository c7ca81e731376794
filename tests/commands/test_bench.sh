#!/usr/bin/env bash
# osla-bench at tiny sizes: every kernel passes with every reference of the build, on one node and
# on two fake ones; the JSON lines parse and hold all keys; bad options get one line and status 2;
# bench/scripts/plot makes its pictures; bench/scripts/run and bench/scripts/scaling record, also by
# a launcher.
set -u
: "${BUILDDIR:?}" "${MPIEXEC:?}"
bench=$BUILDDIR/bench/osla-bench
HAVE_SCALAPACK=no HAVE_GA=no GNUPLOT=
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
lines_program=bench_lines
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_bench: $label: $*"; cat "$scratch/out" "$scratch/err"; failed=1; }

# Checks a record: in each run of each mode each rank has made its sweeps, each on some halo.
see_record='
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
ranks, sweeps = int(sys.argv[2]), int(sys.argv[3])
assert {row["mode"] for row in rows} == {"sync", "async", "racy"}
for row in rows:
    assert [r["rank"] for r in row["ranks"]] == list(range(ranks))
    for r in row["ranks"]:
        assert r["sweeps"] == sweeps and r["complete"]
        halos = sum(count for lag, count in r["staleness"])
        assert halos % sweeps == 0 and halos > 0
        assert row["mode"] != "sync" or all(lag == 0 for lag, count in r["staleness"])
    assert row["profile"] and all(0 < left < 2 and t > 0 for t, left in row["profile"])'

# run MODE RANKS ARGUMENT...: runs in persistent processes; MODE is node or fake2; 0 ranks: without
# mpiexec
run() {
  label="${*:3} ($2 ranks, $1)"
  # Global Arrays can be started only once in a process
  if [[ " $* " == *[,\ ]ga[-,\ ]* ]]; then run_job "$@"
  else run_line "$2" "$1" "$PWD" "$scratch/out" "$scratch/err" "${@:3}"
  fi
}
# run_job MODE RANKS ARGUMENT...: runs as a separate job
run_job() {
  local mode=$1 ranks=$2 launch needs=
  shift 2
  label="$* ($ranks ranks, $mode)"
  [[ " $* " == *[,\ ]ga[-,\ ]* ]] && needs=ga
  launch=(env $(in_mode "$mode" "$ranks" $needs))
  [ "$ranks" = 0 ] || launch+=("$MPIEXEC" -n "$ranks")
  timeout "$JOB_LIMIT" "${launch[@]}" "$bench" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}

# passes LINES
# Checks that the latest run ended with status 0, printed exactly LINES results, which are all PASS,
# and printed nothing on stderr. Lines that begin with "device:", "shared:" or "not offered:", and
# lines with the seconds of phases, are not results.
passes() {
  [ $status = 0 ] || fail "exit status $status, not 0"
  [ "$(grep -c ' PASS ' "$scratch/out")" = "$1" ] || fail "not $1 results that pass"
  [ "$(grep -vcE ', seconds of a run: |^device: |^shared: |^not offered: ' "$scratch/out")" = $(($1 + 1)) ] || fail "not $1 lines below the head"
  [ -s "$scratch/err" ] && fail "something on stderr"
}

# measure MODE RANKS LINES KERNEL OPTION...: runs, and keeps the JSON file for see_measured
measured=0
measure() {
  local mode=$1 ranks=$2 lines=$3
  shift 3
  measured=$((measured + 1))
  run "$mode" "$ranks" "$@" --reps 2 --json "$scratch/json-$measured"
  passes "$lines"
  printf '%s\t%s\t%s\n' "$scratch/json-$measured" "$lines" "$label" >>"$scratch/measured"
}

# Checks all JSON files in one Python process.
see_measured() {
  local label="JSON"
  command -v python3 >/dev/null || return
  python3 "$(dirname "$0")/bench_rows.py" "$scratch/measured" >"$scratch/out" 2>"$scratch/err" || fail "other rows"
}

# bad LINE: checks status 2, exactly that line on stderr, nothing on stdout
bad() {
  [ $status = 2 ] || fail "exit status $status, not 2"
  [ "$(cat "$scratch/err")" = "$1" ] || fail "stderr is not '$1'"
  [ -s "$scratch/out" ] && fail "something on stdout"
}

# hpl T/V,N,NB,P,Q...: checks that these tests pass, in this order, in the form of HPL's output
hpl() {
  [ $status = 0 ] || fail "exit status $status, not 0"
  [ -s "$scratch/err" ] && fail "something on stderr"
  command -v python3 >/dev/null || return
  python3 - "$scratch/out" "$@" <<'EOT' || fail "not in HPL's form"
import re, sys
lines = open(sys.argv[1]).read().splitlines()
expected = [tuple(text.split(",")) for text in sys.argv[2:]]  # T/V, N, NB, P, Q
for variant, n, nb, p, q in expected:
    head, lines = lines[:6], lines[6:]
    assert head[0] == 80 * "=" and head[2] == head[4] == 80 * "-", head
    assert head[1] == "T/V" + 16 * " " + "N    NB     P     Q" + 15 * " " + "Time" + 17 * " " + "Gflops", head
    assert head[3].split()[:5] == [variant, n, nb, p, q] and len(head[3]) == 80, head[3]
    assert re.fullmatch(r"\d+\.\d\d \d\.\d{4}e[+-]\d\d", " ".join(head[3].split()[5:])), head[3]
    match = re.fullmatch(r"\|\|Ax-b\|\|_oo/\(eps\*\(\|\|A\|\|_oo\*\|\|x\|\|_oo\+\|\|b\|\|_oo\)\*N\)="
                         r"   (\d\.\d{8}e[+-]\d\d) \.{6} PASSED", head[5])
    assert match and 1e-5 < float(match.group(1)) < 1, head[5]
tests = len(expected)
assert lines[1].split()[:2] == ["Finished", str(tests)], lines
assert [int(line.split()[0]) for line in lines[2:5]] == [tests, 0, 0], lines
assert lines[0] == lines[5] == 80 * "=" and len(lines) == 6, lines
EOT
}

impls=2 # osla and blas
best=() bests=2 # best block size of --ref-nb
all=blas alls=2 # all references of gemm
[ "$HAVE_SCALAPACK" = yes ] && impls=3 best=(--ref-nb 16,64) bests=4 all=blas,scalapack alls=3
[ "$HAVE_GA" = yes ] && all=$all,ga alls=$((alls + 1))
sum=blas,exact,node,wrapped,staged,allreduce,mpi-accumulate-lock,mpi-accumulate-flush sums=9 # references of hessian
groups=triangle,mpi-accumulate grouped=3 # the lower triangle; candidates of which the fastest runs
[ "$HAVE_GA" = yes ] && sum=$sum,on-ga,ga-scatter,ga-patch,ga-vector sums=13 groups=$groups,ga grouped=4
chain=wrapped chains=2 # references of chain
[ "$HAVE_SCALAPACK" = yes ] && chain=$chain,scalapack chains=$((chains + 1))
[ "$HAVE_GA" = yes ] && chain=$chain,on-ga,ga chains=$((chains + 2))
places=("node 1" "fake2 2")
[ "${OSLA_TESTS:-}" != full ] || places+=("node 2" "node 4" "fake2 4")
for place in "${places[@]}"; do
  read -r mode ranks <<<"$place"
  for kernel in gemm lu chol; do
    measure "$mode" "$ranks" $((2 * impls)) $kernel --n 200 --n 33 --nb 32
  done
  measure "$mode" "$ranks" $impls gemm --n 60 --nb 32 --precision s --grid 1x1
  measure "$mode" "$ranks" $alls gemm --n 60 --m 33 --k 47 --nb 16 --precision c --ref $all
  measure "$mode" "$ranks" 11 gemm --n 70 --nb 16 --ref none --ablate --panel 32 --memory 1M --layers "$ranks"
  measure "$mode" "$ranks" $bests lu --n 70 --nb 32 "${best[@]}"
  measure "$mode" "$ranks" $((2 * sums)) hessian --n 200 --size 50,7 --run 4 --updates 10 --nb 32 \
    --ref $sum
  measure "$mode" "$ranks" $grouped hessian --n 150 --size 40 --run 9 --updates 3 --nb 32 --seed 7 --ref $groups
  # Open MPI's osc pt2pt has no windows for one rank, or over TCP.
  [ "$MPI_FAMILY" = openmpi ] || measure "$mode" "$ranks" $chains chain --n 120 --size 30 --updates 60 --nb 32 --ref $chain
  measure "$mode" "$ranks" 2 chain --n 60 --density 0.5 --updates 40 --rows 4 --nb 16 --ref wrapped
  # Threads of mpi-accumulate-... ask for MPI_THREAD_MULTIPLE, which Open MPI 4.1's osc pt2pt refuses;
  # no other osc has windows for one rank, or over TCP.
  some=$sum somes=$sums
  [ "$MPI_FAMILY" = openmpi ] && [ "$place" != "node 4" ] && some=${sum/,mpi-accumulate-lock,mpi-accumulate-flush/} somes=$((sums - 2))
  measure "$mode" "$ranks" $((somes + 1)) hessian --n 200 --density 0.7 --updates 5 --nb 32 --rows 5 \
    --work 20 --threads 2 --precision s --uplo upper --ref $some,produce
done
places=("node 1 41" "fake2 4 45") # one rank: no pingpong
plain="16 forest --n 64"
[ "${OSLA_TESTS:-}" != full ] || places+=("node 2 45") plain="32 forest --n 1000,64"
for place in "${places[@]}"; do
  measure $place forest --n 8 --ref mpi,neighbor,memcpy,loop
done
measure node 2 $plain --plain --rewrite --ref none
measure node 2 1 forest --case reduce --n 1000 --exact --ref none
if grep -q 'define HAVE_METIS' "$BUILDDIR/config.h"; then
  measure node 3 6 forest --case migrate --n 100 --partition --ref mpi
  measure node 3 2 forest --case migrate --n 100 --partition --start chunks,rand --ref none
fi
measure node 2 11 jacobi --points 9 --sweeps 20 --in-flight 3
measure fake2 4 8 jacobi --points 8 --whole --sweeps 30 --period 3 --mode async,racy --lead 5 --slow 1:2
measure node 2 14 channel --bytes 8,80000
measure nolocal 2 10 channel --bytes 8 --bytes 40000 # no shared memory: no reference for the halo
measure node 3 9 jacobi --points 7 --sweeps 210 --in-flight 2 --ref copying,uncertified --record "$scratch/record"
python3 -c "$see_record" "$scratch/record" 3 210 || fail "--record"
measure node 3 6 jacobi --points 8 --tolerance 1e-6 --ref recorded,cg --whole --mode sync,racy
measure node 3 4 jacobi --points 6 --tolerance 1e-6 --levels 2 --ref one-level --mode sync,async
if "$bench" jacobi --help | grep -q ',threads'; then # with OpenMP
  measure node 1 6 jacobi --points 5 --whole --sweeps 20 --ref threads --threads 5 --zeros # one layer for each thread
  measure node 1 9 jacobi --points 8 --tolerance 1e-4 --ref threads,cg --threads 4
fi
if "$bench" jacobi --help | grep -q ',shmem'; then # with OpenSHMEM, which starts only once in a process
  run_job node 2 jacobi --points 7 --sweeps 30 --in-flight 2 --period 3 --ref mpi,shmem --reps 2
  passes 9
  run_job fake2 2 jacobi --points 7,2 --sweeps 30 --in-flight 3 --ref shmem --reps 2
  passes 12
  run_job fake2 4 jacobi --points 7 --sweeps 30 --mode sync --ref shmem --reps 2 # ranks with several halos
  passes 2
  run node 0 jacobi --ref shmem --tolerance 0.1
  bad "osla-bench jacobi: --ref shmem makes a fixed number of sweeps: leave out --tolerance"
fi
measure node 3 11 splitting --points 7
measure node 1 3 splitting --points 5 --mode sync --inner-tolerance 0.3
measure fake2 4 4 splitting --points 9,2 --whole --inner points --mode racy --slow 1:2 --ref sync --tolerance 1e-6 --lead 3
measure node 4 2 splitting --points 5 --group 2 --mode sync,async --ref none
measure node 3 1 splitting --points 5 --group 3 --mode sync --inner-tolerance 1e-8 --ref none
measure fake2 6 2 splitting --points 7 --whole --group 4 --mode racy --ref sync --inner-tolerance 0.2 # a last group of 2
if grep -q 'define HAVE_CHOLMOD' "$BUILDDIR/config.h"; then
  measure fake2 4 7 splitting --points 6 --inner sparse --mode sync,async
  measure node 6 4 splitting --points 9 --whole --inner sparse --mode async
else
  run node 0 splitting --inner sparse
  bad "osla-bench splitting: --inner sparse: this build has no CHOLMOD (libsuitesparse-dev)"
fi
if [ "${OSLA_TESTS:-}" = full ]; then
  measure node 2 5 jacobi --points 8 --tolerance 1e-3 --zeros
  measure fake2 4 4 channel --case stream,pingpong --bytes 1000
  measure fake2 2 4 jacobi --points 6,2 --whole --sweeps 3 --mode racy --ref copying --slow 0:2
  measure node 2 4 forest --case reduce,fetch --n 1000,64 --arrival --ref none
  measure fake2 4 4 jacobi --points 5,2 --whole --tolerance 1e-3 --ref cg --mode async
  if "$bench" jacobi --help | grep -q ',threads'; then
    measure node 1 6 jacobi --points 9 --sweeps 70 --ref threads --threads 3
    measure node 1 2 jacobi --points 4 --sweeps 3 --mode sync --ref threads # default: a thread for each core
  fi
fi
measure node 2 24 put --n 8,10000
measure fake2 4 48 put --n 8,10000 # on the node and across nodes
measure node 2 1 lu --n 50 --ref none
for kernel in lu chol; do
  run node 2 $kernel --n 150 --nb 16 --cold --json "$scratch/cold-$kernel"
  passes 1
  grep -q ' PASS  cold$' "$scratch/out" || fail "not marked as cold"
  grep -q '"reps":1,.*"cold":true' "$scratch/cold-$kernel" || fail "other JSON"
done
measure node 2 4 lu --n 50 --ref none --nb 16,24 --grid 1x2,2x1
lu=0
kinds=("c partial 2 3x1" "d tournament 2 4x1")
[ "${OSLA_TESTS:-}" != full ] || kinds+=("s tournament -1 2x2" "z none 1 1x3" "z tournament 0 1x4")
for kind in "${kinds[@]}"; do
  read -r precision pivoting ahead grid <<<"$kind"
  lu=$((lu + 1))
  mode=node
  [ $((lu % 2)) = 0 ] && mode=fake2
  measure $mode 4 $impls lu --n 70 --nb 16 --precision $precision --pivoting $pivoting \
    --look-ahead $ahead --grid $grid
done
measure fake2 4 $impls chol --n 70 --nb 16 --look-ahead -1
# The reference `triangle` runs the same kernel on a triangular matrix.
for kernel in "chol --precision z" potri "solve --kind chol --nrhs 3"; do
  measure node 2 2 $kernel --n 70 --nb 16 --ref triangle
done
# With --device=fake the report must name the device, on one rank and on several. If ranks share a
# device, the report must say so and compare no rates.
for kernel in lu chol; do
  measure node 1 6 $kernel --device=fake --n 200,33 --nb 32
  grep -q '^device: fake device (' "$scratch/out" || fail "the head does not name the device"
  [ "$(grep -c ' PASS .*  fake device$' "$scratch/out")" = 6 ] || fail "a row does not name the device"
done
measure node 1 2 gemm --device=fake --n 60 --m 33 --k 47 --nb 16 --trans NT --precision c
grep -qx 'not offered: cublasxt needs the cuBLAS of --device=cuda' "$scratch/out" || fail "cublasxt is not named"
measure node 2 2 gemm --device=fake --n 70 --nb 16 --precision s
measure node 2 2 chol --device=fake --n 70 --nb 16 --precision z
measure node 1 1 solve --device=fake --n 70 --nb 16 --kind chol --nrhs 20 --ref none
measure node 2 2 solve --device=fake --n 70 --nb 16
for ranks in 1 2; do
  measure node $ranks 5 forest --device=fake --case spmv,cg --n 216
  for kind in osla host-host sync; do grep -q "^forest.cg  *$kind .* PASS " "$scratch/out" || fail "no row $kind of CG"; done
done
# Star forests: rows for values on the device, roots on the host, all on the host, and the
# references mpi and (pingpong, gather) copy.
measure node 1 17 forest --device=fake --case gather,reduce,fetch,halo --n 37
measure node 2 9 forest --device=fake --case pingpong,reduce,fetch --n 64 --plain --arrival --ref none
measure fake2 3 22 forest --device=fake --case pingpong,gather,reduce,fetch,halo --n 1000
for kind in osla host-device host-host mpi; do
  [ "$(awk -v kind=$kind '$2 == kind && / PASS .*  fake device$/' "$scratch/out" | wc -l)" = 5 ] || fail "not a row of $kind for each case"
done
"$SRCDIR/bench/scripts/times" "$scratch/json-$measured" >"$scratch/out" 2>"$scratch/err" || fail "bench/scripts/times: exit status $?"
[ "$(awk '/^forest.pingpong, 3 ranks, 2 nodes, fake device; microseconds$/ {table = 1} NF == 0 {table = 0}
  table {printf "%s ", $1} table && NF == 2 && $2 > 0 {times++} END {print times}' "$scratch/out")" = \
  "forest/pingpong, bytes device-device host-device host-host mpi copy 6" ] || fail "bench/scripts/times: another table"
if [ "${OSLA_TESTS:-}" = full ]; then
  measure node 2 22 forest --device=fake --case pingpong,gather,reduce,fetch,halo --n 8
  measure node 4 5 forest --device=fake --case pingpong --n 4194304
fi
measure node 5 2 gemm --device=fake --n 70 --nb 16
grep -q '^shared: ' "$scratch/out" || fail "the head does not say that the device is shared"
[ "$(grep -c ' PASS  shared  fake' "$scratch/out")" = 2 ] || fail "rates of a shared device are compared"
measure nolocal 3 $impls lu --n 150 --nb 16 --forward ring --grid 1x3
for place in "node 1 s z" "fake2 3 z c"; do
  read -r mode ranks lu chol <<<"$place"
  measure "$mode" "$ranks" $((2 * impls)) solve --n 70,5 --nb 16 --precision $lu
  measure "$mode" "$ranks" $bests solve --n 70 --nb 32 "${best[@]}" --kind chol --precision $chol --nrhs 20
done
run node 4 hpl --n 50,33 --nb 16,64 --grid 2x2,1x3
hpl WC1OSLAP,{50,33},{16,64},2,2 WC1OSLAP,{50,33},{16,64},1,3
run fake2 4 hpl --n 60 --nb 16 --pivoting tournament --look-ahead 2
hpl WC2OSLAT,60,16,2,2
if [ "$HAVE_SCALAPACK" = yes ]; then
  run node 2 hpl --n 60 --nb 16 --look-ahead -1 --ref scalapack --ref-nb 64
  hpl WC0OSLAP,60,16,1,2 WC0SCALP,60,64,1,2
  run node 2 chol --n 33 --reps 1 --ref scalapack # 64 is the least block size that holds the matrix
  grep -qE '^  scalapack: scalapack-(32|64) was fastest in a trial, seconds of a run: scalapack-32 [0-9.e-]+, scalapack-64 [0-9.e-]+$' \
    "$scratch/out" || fail "not a trial of two block sizes"
fi
measure node 2 $bests symm --n 70 --nb 16 --precision z "${best[@]}"
measure fake2 2 $impls symv --n 71 --nb 16
measure node 3 $bests potri --n 70 --nb 32 --precision c "${best[@]}" --grid 1x2
if [ "${OSLA_TESTS:-}" = full ]; then
  measure node 3 $bests gemm --n 70 --nb 32 --precision z "${best[@]}"
  measure node 3 $bests chol --n 70 --nb 32 --precision c "${best[@]}" --grid 1x2
  measure node 1 $impls chol --n 70 --nb 16 --precision z
  measure fake2 2 $impls trmm --n 140 --nb 16 --precision s
  measure node 2 $bests gemv --n 70 --nb 16 --precision z "${best[@]}"
  measure node 2 $impls syrk --n 70 --k 20 --nb 16 --precision c
  measure fake2 4 $((2 * impls)) potri --n 70,5 --nb 16 --look-ahead 2
  measure node 3 $bests getri --n 70 --nb 32 --precision z "${best[@]}" --grid 1x2
fi
measure fake2 4 $((2 * impls)) getri --n 70,5 --nb 16 --precision s
[ "$HAVE_GA" = yes ] && measure node 2 2 gemm --n 800 --ref ga # see bench/reference_ga.c
[ "$HAVE_GA" = yes ] && measure node 2 2 hessian --n 500 --size 400 --updates 1 --ref ga # more than one call

# op(A), op(B) and types: each combination at one place.
places=("node 1 NTd TNs")
[ "${OSLA_TESTS:-}" != full ] || places+=("node 3 CNd TCc" "fake2 4 CNz NCz")
for place in "${places[@]}"; do
  read -r mode ranks kinds <<<"$place"
  measure "$mode" "$ranks" $((2 * impls)) syrk --n 70 --n 1 --nb 32
  measure "$mode" "$ranks" $bests syrk --n 70 --k 20 --nb 32 --precision s "${best[@]}"
  for kind in $kinds; do
    measure "$mode" "$ranks" $alls gemm --n 60 --m 33 --k 47 --nb 16 --trans ${kind%?} \
      --precision ${kind#??} --ref $all
  done
  run "$mode" "$ranks" gemm --n 100 --m 60 --nb 16 --trans NT --plan
  [ $status = 0 ] || fail "exit status $status, not 0"
  [ "$(wc -l <"$scratch/out")" = $((ranks + 3)) ] || fail "not a line for each rank and their sum"
  [ "$(awk '$1 == "all" {print $8}' "$scratch/out")" = 0.0012 ] || fail "not 2 m n k operations"
done

# --trace: only for the last size; the table follows the results, and the file names all ranks
for arguments in "lu --n 33,100 --nb 32" "put --n 8,100" "hessian --n 100 --size 20 --threads 2"; do
  run fake2 2 $arguments --reps 2 --ref none --trace "$scratch/trace"
  [ $status = 0 ] || fail "exit status $status, not 0"
  [ "$(grep -c '^trace of .*, n = 100, ' "$scratch/out")" = 1 ] || fail "no table of the trace"
  grep -q '^notify ' "$scratch/out" || fail "no notify in the trace"
  grep -q '^overlap ' "$scratch/out" || fail "no overlap"
  for rank in 0 1; do
    grep -q "\"name\":\"rank $rank\"" "$scratch/trace" || fail "rank $rank is not in the trace"
  done
  [[ $arguments = lu* ]] && kinds="rows panel trsm gemm" || kinds=
  for kind in $kinds; do
    grep -q "^$kind " "$scratch/out" || fail "no $kind in the trace"
  done
  [ -z "$(ls "$scratch" | grep part)" ] || fail "a temporary file is left"
  command -v python3 >/dev/null || continue
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$scratch/trace" || fail "JSON"
done

for ranks in 0 2; do
  kernels=("" "gemm " "syrk " "trmm " "gemv " "symv " "lu " "chol " "potri " "getri " "solve " "hpl " "hessian " "chain " "put ")
  [ $ranks = 0 ] || kernels=("" "gemm ")
  for arguments in "${kernels[@]}"; do
    run node $ranks $arguments--help
    [ $status = 0 ] || fail "exit status $status, not 0"
    [ "$(grep -c '^Usage: ' "$scratch/out")" = 1 ] || fail "the help is not printed once"
    [ -s "$scratch/err" ] && fail "something on stderr"
  done
  run node $ranks
  bad "osla-bench: no kernel is named (see osla-bench --help)"
  run_job node $ranks frobnicate
  bad "osla-bench: frobnicate: unknown kernel (see osla-bench --help)"
  run node $ranks gemm --frobnicate
  bad "osla-bench gemm: --frobnicate: unknown option (see osla-bench gemm --help)"
  run node $ranks gemm --n 10,0
  bad "osla-bench gemm: --n: '10,0' is not a list of sizes of at least 1"
  run_job node $ranks lu --grid 3x1
  [ "$ranks" = 0 ] && bad "osla-bench lu: --grid: 3 x 1 is 3 processes, but there is 1 rank"
  [ "$ranks" = 2 ] && bad "osla-bench lu: --grid: 3 x 1 is 3 processes, but there are 2 ranks"
  run node $ranks chol --n 10 --json "$scratch/none/x"
  bad "osla-bench chol: --json: $scratch/none/x cannot be written: No such file or directory"
  run node $ranks lu --n 10 --trace "$scratch/none/x"
  bad "osla-bench lu: $scratch/none/x: directory $scratch/none: No such file or directory"
done
# Every rank parses the line in the same way, so that one job suffices for the other errors.
run_job node 0 gemm --trans NX
bad "osla-bench gemm: --trans: 'NX' is not two letters of N, T, C"
run node 0 gemm --precision q
bad "osla-bench gemm: --precision: 'q' is not one letter of sdcz"
run node 0 hessian --precision z
bad "osla-bench hessian: --precision: 'z' is not one letter of sd"
run node 0 gemm --m 0
bad "osla-bench gemm: --m: 0 is less than 1"
run node 0 syrk --k -3
bad "osla-bench syrk: --k: -3 is less than 1"
run node 0 gemm --memory 64Q
bad "osla-bench gemm: --memory: '64Q' is not a number of bytes, such as 67108864 or 64M"
printf '{"kernel":"ge' >"$scratch/half" # a killed job leaves half a line
run node 0 chol --n 10 --ref none --reps 1 --json "$scratch/half"
[ "$(wc -l <"$scratch/half")" = 2 ] && [[ $(tail -n 1 "$scratch/half") == '{"kernel":"chol"'*'}' ]] ||
  fail "not a line of its own behind half a line"
run node 0 gemm --plan --json "$scratch/json"
bad "osla-bench gemm: --plan measures nothing: leave out --json $scratch/json"
if [ "$HAVE_SCALAPACK" = yes ]; then
  run node 0 lu --ref-nb 64 --ref blas
  bad "osla-bench lu: --ref-nb 64 needs --ref scalapack"
  run node 0 lu --ref-nb 64,x
  bad "osla-bench lu: --ref-nb: '64,x' is not a list of sizes of at least 1"
fi
run node 0 lu --device=none --n 10
bad 'osla-bench lu: device "none": the kind must be fake or cuda'
run node 0 lu --device=fake --ref scalapack
bad "osla-bench lu: --ref: 'scalapack' is not one of none,blas,lapack, the references with --device"
run node 2 lu --device=fake --ref lapack
bad "osla-bench lu: --ref lapack uses the device of one rank: run it with 1 rank, not 2"
run node 0 chol --device=fake --n 20000
bad "osla-bench chol: 3200000000 bytes of device memory are needed, and the device has 1073741824 available"
run node 0 forest --help
grep -q '^Residual: 0, or inf when a bit is wrong' "$scratch/out" || fail "the help is cut off"
run node 2 forest --device=fake --case gather,setup
bad "osla-bench forest: --case gather,setup: with --device the cases are pingpong,gather,reduce,fetch,halo,spmv,cg"
run node 2 forest --device=fake --rewrite
bad "osla-bench forest: --rewrite: the host does not write values on a device: leave out --rewrite or --device"
run node 0 syrk --device=fake
bad "osla-bench syrk: --device=fake: unknown option (see osla-bench syrk --help)"
run node 0 lu --cold --n 10,20
bad "osla-bench lu: --cold times one call: give one --n, one --nb and one --grid"
run node 0 chol --cold --reps 3
bad "osla-bench chol: --cold times one call: leave out --reps 3"
run node 0 lu --cold --ref blas
bad "osla-bench lu: --cold times OSLA alone: leave out --ref blas"
run node 0 lu --trans NN
bad "osla-bench lu: --trans: unknown option (see osla-bench lu --help)"
run node 0 lu --pivoting full
bad "osla-bench lu: --pivoting: 'full' is not one of partial,tournament,none"
run node 0 hpl --pivoting none
bad "osla-bench hpl: --pivoting: 'none' is not one of partial,tournament"
run node 0 lu --look-ahead 3
bad "osla-bench lu: --look-ahead: 3 is not from -1 to 2"
run node 0 lu --forward round
bad "osla-bench lu: --forward: 'round' is not one of chosen,flat,ring,tree"
run node 0 chol --look-ahead -2
bad "osla-bench chol: --look-ahead: -2 is not from -1 to 2"
run node 0 solve --kind qr
bad "osla-bench solve: --kind: 'qr' is not one of lu,chol"
run node 0 solve --ref triangle
bad "osla-bench solve: --ref triangle needs --kind chol"
run node 0 solve --nrhs 0
bad "osla-bench solve: --nrhs: 0 is less than 1"
run node 0 hpl --nb 16,0
bad "osla-bench hpl: --nb: '16,0' is not a list of sizes of at least 1"
run node 0 hpl --grid 1x1,1
bad "osla-bench hpl: --grid: '1' is not a grid such as 2x3"
run node 0 forest --case ring
bad "osla-bench forest: --case: 'ring' is not one of pingpong,gather,reduce,fetch,halo,spmv,cg,migrate,setup,spmm,ptap"
run node 0 forest --case spmv --reach 0
bad "osla-bench forest: --reach: 0 is outside 1 to 100"
run node 0 forest --case reduce --arrival --exact
bad "osla-bench forest: --arrival and --exact exclude each other"
run node 2 forest --case migrate --n 268435456
bad "osla-bench forest: --n: 268435456 cells are too many: at most 268435455"
run node 0 forest --case migrate --start seq,slabs
bad "osla-bench forest: --start: 'slabs' is not one of seq,chunks,rand"
run node 2 forest --case spmv --matrix absent.mtx
bad "osla-bench forest: absent.mtx: No such file or directory"
run node 0 jacobi --mode sync,chaotic
bad "osla-bench jacobi: --mode: 'chaotic' is not one of sync,async,racy"
run node 0 jacobi --bound -1
bad "osla-bench jacobi: --bound: -1 is less than 0"
run node 0 jacobi --points 5000
bad "osla-bench jacobi: --points: 5000 is more than 4096"
run node 2 jacobi --slow 2:3
bad "osla-bench jacobi: --slow: '2:3' is not a rank (0 to 1), ':', and a factor of 1 to 1000"
run node 0 jacobi --tolerance -0.1
bad "osla-bench jacobi: --tolerance: -0.1 is not at least 0 and less than 1"
run node 0 jacobi --levels 3
bad "osla-bench jacobi: --levels: 3 is neither 1 nor 2"
run node 0 jacobi --levels 2
bad "osla-bench jacobi: --levels 2 needs --tolerance"
run node 0 jacobi --damping 0.5 --tolerance 0.1
bad "osla-bench jacobi: --correct-every and --damping need --levels 2"
run node 0 splitting --inner dense
bad "osla-bench splitting: --inner: 'dense' is not one of points,cg,sparse"
run node 0 splitting --inner-tolerance 1
bad "osla-bench splitting: --inner-tolerance: 1 is not greater than 0 and less than 1"
run node 0 splitting --group 0
bad "osla-bench splitting: --group: 0 is less than 1"
run node 0 splitting --group 2 --inner points
bad "osla-bench splitting: --group 2 needs --inner cg"
run node 0 splitting --tolerance 0
bad "osla-bench splitting: --tolerance: 0 is not at least 1e-10 and less than 1"
run node 0 splitting --mode sync,chaotic
bad "osla-bench splitting: --mode: 'chaotic' is not one of sync,async,racy"
run node 0 splitting --lead -2
bad "osla-bench splitting: --lead: -2 is less than -1"
run node 0 splitting --points 1025
bad "osla-bench splitting: --points: 1025 is more than 1024"
run node 2 splitting --slow 2:3
bad "osla-bench splitting: --slow: '2:3' is not a rank (0 to 1), ':', and a factor of 1 to 1000"
run node 2 splitting --slow 0:2
bad "osla-bench splitting: --slow 0:2: the default reference cg has no slow rank: give --ref without it (--ref none)"
run node 0 jacobi --ref copying --tolerance 0.1
bad "osla-bench jacobi: --ref copying makes a fixed number of sweeps: leave out --tolerance"
run node 2 jacobi --ref cg
bad "osla-bench jacobi: --ref cg needs --tolerance"
run node 2 jacobi --ref cg --tolerance 0.1 --slow 0:2
bad "osla-bench jacobi: --slow 0:2: the reference cg has no slow rank, leave one of them out"
run node 0 jacobi --threads 2
bad "osla-bench jacobi: --threads 2 needs --ref threads"
if "$bench" jacobi --help | grep -q ',threads'; then
  run node 2 jacobi --ref threads
  bad "osla-bench jacobi: --ref threads needs 1 rank, but there are 2"
  for threads in 0 two 1025 99999999999999999999; do
    run node 0 jacobi --ref threads --threads $threads
    bad "osla-bench jacobi: --threads: '$threads' is not a number from 1 to 1024"
  done
  run node 0 jacobi --ref threads --threads 5 --points 9,4 --whole
  bad "osla-bench jacobi: --threads: 5 is more than the 4 layers of points"
  run node 0 jacobi --ref threads --tolerance 1e-6
  bad "osla-bench jacobi: --tolerance: 1e-06 is less than 1e-05, the least with --ref threads"
  run node 0 jacobi --ref threads --slow 0:2
  bad "osla-bench jacobi: --slow 0:2: the reference threads has no slow rank, leave one of them out"
  OMP_THREAD_LIMIT=2 run_job node 0 jacobi --ref threads --threads 3 --points 5
  bad "osla-bench jacobi: --threads: 3, but OpenMP provides 2"
fi
run node 0 put --ref scalapack
bad "osla-bench put: --ref: 'scalapack' is not one of none,blas,mpi,send"
run node 0 chain --n 100 --size 3 --updates 1
bad "osla-bench chain: 97 of the 100 unknowns are in no update, so the matrix is singular: raise --updates or --size"
run node 0 chain --n 60 --size 30 --updates 40 --rows 2
bad "osla-bench chain: the updates have 8 different matrices G of 2 rows for 30 indices, so the matrix is singular: raise --rows to 4"
run node 0 chain --uplo lower
bad "osla-bench chain: --uplo lower: the whole matrix is assembled"
run node 0 hessian --n 100 --size 101
bad "osla-bench hessian: --size: 101 indices are more than n = 100"
run node 0 hessian --size 5,x
bad "osla-bench hessian: --size: '5,x' is not a list of sizes of at least 1"
run node 0 hessian --density 0.5,1.5
bad "osla-bench hessian: --density: '0.5,1.5' is not a list of shares above 0, at most 1"
run node 0 hessian --density 0.5 --size 9
bad "osla-bench hessian: --density 0.5: leave out --size 9, which sets the number of indices, too"
run node 0 hessian --ring-bytes -1
bad "osla-bench hessian: --ring-bytes: -1 is less than 0"
run node 0 hessian --ring-bytes 12Q
bad "osla-bench hessian: --ring-bytes: '12Q' is not a number"
run node 0 hessian --uplo both
bad "osla-bench hessian: --uplo: 'both' is not lower or upper"
run node 0 hessian --run 0
bad "osla-bench hessian: --run: 0 is less than 1"
run node 0 hessian --work 3
bad "osla-bench hessian: --work 3 needs --rows"
run node 0 hessian --seed -1
bad "osla-bench hessian: --seed: -1 is less than 0"
run node 0 hessian --ref mpi-accumulate-lock,mpi-accumulate
bad "osla-bench hessian: --ref: mpi-accumulate tries mpi-accumulate-lock: leave one of them out"
run node 0 hessian --ref produce
bad "osla-bench hessian: --ref produce needs --rows"
run node 0 hessian --uplo upper --ref triangle
bad "osla-bench hessian: --ref triangle needs --uplo lower"
run node 2 gemm --n 10 --transport sim
[ $status = 2 ] && [ "$(wc -l <"$scratch/err")" = 1 ] || fail "exit status $status, not one line"
grep -q "^osla-bench gemm: transport 'sim' .* (a simulation needs a build of its own: configure --enable-simulation)$" \
  "$scratch/err" || fail "no word on simulations"
run node 1 put
bad "osla-bench put: needs at least 2 ranks (mpiexec -n 2 ...)"
run node 1 channel
bad "osla-bench channel: needs at least 2 ranks (mpiexec -n 2 ...)"
run node 2 channel --case halo,ring
bad "osla-bench channel: --case: 'ring' is not one of pingpong,halo,stream"
run node 2 channel --bytes 8,12
bad "osla-bench channel: --bytes: 12 is not a multiple of 8"
run node 2 channel --bytes 0
bad "osla-bench channel: --bytes: '0' is not a list of sizes of at least 1"
run node 2 channel --bytes 2147483648
bad "osla-bench channel: --bytes: more than 1 GiB in one message"
run_job node 2 gemm --n 10000000 --ref none
[ $status = 2 ] || fail "exit status $status, not 2"
grep -q '^osla-bench gemm: .*bytes' "$scratch/err" || fail "no word on memory"

if [ -n "$GNUPLOT" ]; then
  label="bench/scripts/plot"
  mkdir "$scratch/folder"
  for arguments in gemm "lu ${best[*]}" "lu --pivoting tournament --look-ahead 2" "chol --nb 8,16"; do
    run node 2 $arguments --n 20,40,60 --reps 2 --json "$scratch/folder/results.jsonl"
  done
  run node 2 hessian --n 60 --size 20,50 --rows 3 --reps 2 --json "$scratch/folder/results.jsonl" \
    --ref blas,produce
  run node 2 forest --case pingpong,gather --n 8,64 --plain --reps 2 --ref mpi --json "$scratch/folder/results.jsonl"
  "$SRCDIR/bench/scripts/plot" "$scratch/folder" >"$scratch/out" 2>"$scratch/err" ||
    fail "exit status $?"
  for name in {gemm-d-NN,lu-d-partial,lu-d-tournament-ahead2,chol-d,hessian-d-60-k3}-2ranks-1x2 \
    hessian-d-60-k3-2ranks-1x2-phases forest_{pingpong,gather}-plain-2ranks-1x2; do
    [ "$(head -c 4 "$scratch/folder/$name.png" | tail -c 3)" = PNG ] || fail "no picture $name.png"
  done
  [ -s "$scratch/err" ] && fail "something on stderr"
fi

# bench/scripts/jacobi-studies: a file of lines for each study, tables, and pictures; records in the
# form of --record
if [ -n "$GNUPLOT" ] && command -v python3 >/dev/null; then
  label="bench/scripts/jacobi-studies"
  studies() { "$SRCDIR/bench/scripts/jacobi-studies" -b "$BUILDDIR" -o "$scratch/studies" "$@" >"$scratch/out" 2>"$scratch/err"; }
  pictures() { # NAME...
    [ -s "$scratch/err" ] && fail "something on stderr"
    for name in "$@"; do
      [ "$(head -c 4 "$scratch/studies/$name.png" | tail -c 3)" = PNG ] || fail "no picture $name.png"
    done
  }
  studies -q -s zeros,slow,record trial || fail "exit status $?"
  pictures jacobi-zeros jacobi-slow
  [ "$(wc -l <"$scratch/studies/jacobi-zeros.jsonl")" = 8 ] && [ "$(grep -c FAIL "$scratch/studies/tables.txt")" = 0 ] &&
    [ "$(awk '$1 ~ /^(-1|0|1)$/ && $4 == "to" && $7 == "osla"' "$scratch/studies/tables.txt" | wc -l)" = 9 ] ||
    fail "other lines: $(cat "$scratch/studies/tables.txt")"
  pictures jacobi-histogram jacobi-profile
  echo '{"mode": "async", "ranks": [{"rank": 0, "sweeps": 12, "staleness": [[1, 9], [3, 2]]},
    {"rank": 1, "sweeps": 9, "staleness": []}], "profile": [[0, 1], [0.001, 0.3]]}' \
    >"$scratch/studies/jacobi-record-async.json"
  "$SRCDIR/bench/scripts/plot" "$scratch/studies" >"$scratch/out" 2>"$scratch/err" || fail "exit status $?"
  pictures jacobi-histogram jacobi-profile
  echo '{"mode": "async", "ranks": 3}' >"$scratch/studies/jacobi-record-async.json"
  "$SRCDIR/bench/scripts/plot" "$scratch/studies" >"$scratch/out" 2>"$scratch/err" && fail "a broken record passes"
  [ "$(wc -l <"$scratch/err")" = 1 ] && grep -q 'jacobi-record-async.json: not a record' "$scratch/err" ||
    fail "not a line on the record"
  studies -s ranks,figure trial && fail "a study that there is not passes"
  [ "$(cat "$scratch/err")" = "bench/scripts/jacobi-studies: -s: 'figure' is not one of \
ranks,threads,in-flight,period,slow,zeros,record" ] || fail "no such line"
fi

see_measured

# bench/scripts/scaling: both tables, a row for each number of ranks, the requested updates
label="bench/scripts/scaling"
mkdir -p "$scratch/results" "$scratch/bench/scripts"
cp "$SRCDIR"/bench/scripts/{run,host,scaling,environment.sh} "$scratch/bench/scripts"
scaling() { "$scratch/bench/scripts/scaling" -b "$BUILDDIR" -t 60 "$@" >"$scratch/out" 2>"$scratch/err"; }
scaling -r 1,2 -u 4 tiny --n 60 --size 20 --rows 3 --reps 2 || fail "exit status $?"
[ -s "$scratch/err" ] && fail "something on stderr"
tables=$(awk '/scaling, N = 60, 20 indices, k = 3/ {kind = $1} NF == 9 && $1 ~ /^[12]$/ {
  print kind, $1, $2, $3, $7, ($4 > 0 && $5 > 0 && $6 > 0 && $8 > 0)}' "$scratch"/results/*-tiny/scaling.txt)
[ "$tables" = "weak 1 1 4 0 1
weak 2 1 8 0 1
strong 1 1 4 0 1
strong 2 1 4 0 1" ] || fail "other tables: $tables"
scaling -r 1,2 -u 3 tiny --rows 3 && fail "3 updates of 2 ranks pass"
[ "$(cat "$scratch/err")" = "bench/scripts/scaling: -u: 3 is not a multiple of 2 ranks" ] || fail "no such line"

# A launcher gets its own words, "-n RANKS" and the program; each rank gets the settings and the
# time limit, also from a launcher that passes on neither.
label="--launcher"
cat >"$scratch/launcher" <<EOT
#!/usr/bin/env bash
printf '%s|' "\$@" >>"$scratch/words" && echo >>"$scratch/words"
trap '' TERM
[ "\$1" = one ] && shift
env -u OPENBLAS_NUM_THREADS -u OSLA_PATIENCE setsid "$MPIEXEC" "\$@"
EOT
chmod +x "$scratch/launcher"
OPENBLAS_NUM_THREADS=1 OSLA_PATIENCE=50 scaling --launcher "$scratch/launcher  one" -r 2 -u 2 launched --n 60 \
  --size 20 --rows 3 --reps 2 || fail "exit status $?"
[ -s "$scratch/err" ] && fail "something on stderr"
[ "$(grep -c '^one|-n|2|[^|]*/bench/scripts/host|' "$scratch/words")" = 2 ] &&
  [ "$(grep -cE '^one\|-n\|2\|env\|([^|]*\|)*OPENBLAS_NUM_THREADS=1\|' "$scratch/words")" = 2 ] &&
  [ "$(grep -cE '\|OSLA_PATIENCE=50\|([^|]*\|)*OSLA_EXPECT_RANKS=2\|timeout\|' "$scratch/words")" = 2 ] ||
  fail "other words: $(cat "$scratch/words")"
folder=$(echo "$scratch"/results/*-launched)
grep -qx 'hosts: 1' "$folder/environment.txt" && grep -q '^BLAS: ' "$folder/environment.txt" ||
  fail "another record: $(cat "$folder/environment.txt")"
grep -q '^\$ launcher one -n 2 osla-bench hessian' "$folder/runs.txt" || fail "another command: $(cat "$folder/runs.txt")"
measure() { "$scratch/bench/scripts/run" -b "$BUILDDIR" --launcher "$scratch/launcher" "$@" >"$scratch/out" 2>"$scratch/err"; }
measure -f launched 2 gemm --n 40 --reps 2 --ref none || fail "-f: exit status $?"
grep -q '"nodes":2,' "$folder/results.jsonl" || fail "-f: not on two fake nodes"
SECONDS=0
measure -t 2 launched 2 gemm --n 300 --reps 1000000 --ref none && fail "a run that is too long passes"
[ $SECONDS -le 20 ] || fail "its end took $SECONDS s"
pgrep -f "^[^ ]*osla-bench .*$scratch" && fail "ranks are left"
for wrong in "'x' is not a number of ranks|launched x gemm" "-t: '1h' is not a number of seconds|-t 1h launched 2 gemm" \
  "'none -n 2' starts no bench/scripts/host|--launcher=none launched 2 gemm"; do
  measure ${wrong#*|}
  [ $? = 2 ] && [ "$(tail -n 1 "$scratch/err")" = "bench/scripts/run: ${wrong%%|*}" ] || fail "no line: ${wrong%%|*}"
done

end_lines || failed=1
[ $failed = 0 ] && echo "osla-bench: all kernels and references pass"
exit $failed
