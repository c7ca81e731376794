#!/usr/bin/env bash
# Simulated machines: osla-bench's kernels are correct on 16 ranks of 4 hosts and 64 of 16, each run
# takes the same simulated time to the last bit, every figure is marked as simulated, and impossible
# simulations are refused in one line.
set -u
. "${SRCDIR:?}/tests/commands/simulated.sh"

# measured KERNEL ARGUMENT...: runs on the machine and ranks of `where`; expects a line that passes,
# and one of JSON
measured() {
  rm -f json
  simulate "${where[@]}" -s "$bench" "$@" --ref none --reps 1 --json json
  [ $status = 0 ] || fail "exit status $status"
  [ "$(grep -c ' PASS .* simulated$' out)" = 1 ] || fail "no line that passes, or one without 'simulated'"
  grep -qE "^simulated: machine ${where[1]%.xml};" out || fail "no word of the machine"
  grep -q "\"simulated\":\"${where[1]%.xml}\"" json || fail "no word of it in the JSON line"
}

# twice KERNEL ARGUMENT...: measures twice with the same simulated seconds
twice() {
  measured "$@"
  first=$(seconds)
  measured "$@"
  [ -n "$first" ] && [ "$(seconds)" = "$first" ] || fail "$first s simulated, then $(seconds)"
}
for place in "ethernet -n 16" "infiniband -n 64"; do
  read -ra where <<<"-m $place"
  measured gemm --n 300 --nb 32
  twice lu --n 400 --nb 32
  measured chol --n 400 --nb 32
  measured solve --n 200 --nb 16
  twice hessian --n 400 --size 60 --updates 10 --nb 32
done
where=(-m torus -n 64)
measured chol --n 400 --nb 32

# A machine whose cores work for transfers, so that both ranks must be in the library.
sed 's|\(.*\)<prop id="copy".*|&\n\1<prop id="cpu" value="2e-9"/>|' "$SRCDIR/bench/machines/ethernet.xml" >tcp.xml
where=(-m tcp.xml -n 16)
measured gemm --n 300 --nb 32
twice lu --n 400 --nb 32
measured solve --n 200 --nb 16
measured hessian --n 400 --size 60 --updates 10 --nb 32

# With modelled work the same ranks take the same time, for gemm and Cholesky except for collectives
# that check memory; LU has other pivots. Results are not checked. Matrices of 240 GB need no
# memory.
where=(-m infiniband -n 64)
only_modelled() { # KERNEL ARGUMENT...
  simulate "${where[@]}" -s -M "$bench" "$@" --ref none --reps 1 --json json
  [ $status = 0 ] || fail "exit status $status"
  grep -qE ' - +- +simulated, only modelled$' out || fail "no line that says so"
  grep -q '"residual":null.*"modelled":true' json && grep -q '"pass":null' json || fail "no word of it in the JSON line"
}
for run in "1e-6 gemm" "0.04 chol" "0.05 lu" "0.05 lu --pivoting tournament" "0.05 lu --grid 4x16 --order columns" \
  "0.02 hessian --size 200 --updates 10" "0.02 hessian --size 100 --updates 10 --rows 20 --work 2"; do
  read -ra arguments <<<"$run --n 1024 --nb 64"
  measured "${arguments[@]:1}"
  computed=$(seconds)
  rm -f json
  only_modelled "${arguments[@]:1}"
  alike "$computed" "$(seconds)" "${arguments[0]}" || fail "$computed s computed, $(seconds) s modelled"
done
sed 's/16 hosts, 16 cores each, called host0 to host15/64 hosts, 16 cores each, called host0 to host63/; s/radical="0-15"/radical="0-63"/' \
  "$SRCDIR/bench/machines/infiniband.xml" >large.xml
where=(-m large.xml -n 256)
rm -f json
only_modelled gemm --n 100000 --nb 1024
simulate -m infiniband -n 4 -s -M "$bench" lu --n 2048 --nb 1024
refused 2 "osla-bench lu: LU: with modelled work the pivots of a block of 1024 take 8256 bytes, but messages carry at most 8192: use smaller blocks"
simulate -m infiniband -n 4 -s -M "$bench" hessian --ref exact
refused 2 "osla-bench hessian: order-independent mode cannot run with modelled work, because the bytes sent depend on the values"
simulate -m infiniband -n 4 -s -M "$bench" put
refused 2 "osla-bench put: this kernel cannot be only modelled: gemm, lu, chol and hessian can"

# A faster machine is faster, and several ranks are faster than one for large work.
where=(-m infiniband -n 1)
measured gemm --n 1000
alone=$(seconds)
where=(-m infiniband -n 16)
measured gemm --n 1000
awk -v one="$alone" -v many="$(seconds)" 'BEGIN {exit !(many < one / 8)}' || fail "1 rank: $alone s, 16: $(seconds) s"
awk -v one="$alone" 'BEGIN {exit !(one > 2e9 / 38e9 && one < 1.1 * 2e9 / 38e9)}' || fail "1 rank: $alone s for 2 GF at 38 GF/s"

where=(-m infiniband -n 16 -w) # with the time of this processor
measured chol --n 400 --nb 32

# Sweeps: one or two cores of the XE6 copy 2 GB/s each, so a sweep over 50^3 points takes 0.5 ms. Eight cores
# of a die share 12.5 GB/s, and 24 bytes move for each point, so a sweep takes 1.92 ms; packing the
# halos takes up to 0.4 ms more. A core at half speed makes lock-step sweeps take twice the time.
solve=(jacobi --points 5 --cost-points 50)
where=(-m xe6 -p 8 -n 2)
measured "${solve[@]}" --mode sync --sweeps 100
between 0.05 "$(seconds)" 0.055
where=(-m xe6 -p 8 -n 8)
twice "${solve[@]}" --mode sync --sweeps 100
quick=$(seconds)
between 0.192 "$quick" 0.232
# The time of --cost-points is that of as many real points.
where=(-m xe6 -p 8 -n 4)
measured jacobi --points 50 --mode sync --sweeps 10
real=$(seconds)
measured jacobi --points 50 --cost-points 50 --mode sync --sweeps 10
alike "$real" "$(seconds)" 1e-9 || fail "$real s without --cost-points, $(seconds) s with it"
where=(-m xe6 -p 8 -n 8)
# with_slow_core ARGUMENT...: measures with the core of rank 4 at half speed
with_slow_core() {
  rm -f json
  simulate -m xe6 -p 8 -n 8 -d core=2 -s "$bench" "${solve[@]}" "$@" --ref none --reps 1 --json json
  [ $status = 0 ] || fail "exit status $status"
  grep -q '"simulated":"xe6, core=2"' json || fail "no word of the slow core in the JSON line"
}
with_slow_core --mode sync --sweeps 100
between 1.9 "$(awk -v a="$quick" -v b="$(seconds)" 'BEGIN {print b / a}')" 2.3
with_slow_core --mode sync --tolerance 1e-4
waits=$(seconds)
with_slow_core --mode async --tolerance 1e-4
between 1.3 "$(awk -v a="$(seconds)" -v b="$waits" 'BEGIN {print b / a}')" 2.1
# Splittings with inner solvers, and CG: the simulated seconds of 2 x 2 x 2 ranks of a die are the bytes of
# doc/simulation.md divided by the rank's share of 12.5 GB/s. Halos, sums and the sweep of the certificate take up to
# 8 % more.
by_hand='
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [row["impl"] for row in rows] == ["osla", "cg"], rows
for row in rows:
    side, n = row["n"], row["n"] ** 3
    own, ghosts = 7 * n - 6 * side ** 2, 3 * side ** 2
    if row["impl"] == "cg":
        moved = row["iterations"] * (12 * own + 32 * n + 20 * ghosts + 28 * (n - (side - 1) ** 3) + 96 * n)
    else:
        sweep = 12 * (own + ghosts) + 8 * ghosts + (112 if row["inner"] == "points" else 80) * n
        if row["inner"] == "cg": sweep += 64 * n
        if row["inner"] == "sparse": sweep += 2 * row["factor_bytes"] + 144 * n
        moved = row["sweeps_mean"] * sweep + row["inner_iterations"] * (12 * (own + ghosts) + 144 * n)
    ratio = row["seconds_median"] / (moved / (12.5e9 / 8))
    assert 0.999 < ratio < 1.08, (ratio, row)'
solvers=(points "cg --inner-tolerance 0.1" "cg --inner-tolerance 0.001")
grep -q 'define HAVE_CHOLMOD' "$BUILDDIR/config.h" && solvers+=(sparse)
for inner in "${solvers[@]}"; do
  rm -f json
  simulate -m xe6 -p 8 -n 8 -s "$bench" splitting --points 10 --mode sync --inner $inner --ref cg --reps 1 --json json
  [ $status = 0 ] && python3 -c "$by_hand" json >>out 2>>err || fail "exit status $status, or not the seconds of doc/simulation.md"
done
simulate -m infiniband -n 4 -s "$bench" jacobi --cost-points 50 --points 60
refused 2 "osla-bench jacobi: --cost-points: 50 is not from --points 60 to 4096"

simulate -n 4 -s "$bench" lu --n 200 --nb 32 --ref none --reps 1 --trace trace
grep -q '^trace of .* simulated; in trace$' out || fail "a trace without the word"
command -v python3 >/dev/null && ! python3 -c 'import json; json.load(open("trace"))' && fail "the trace is no JSON"

if command -v gnuplot >/dev/null; then
  label="bench/scripts/timeline"
  "$SRCDIR/bench/scripts/timeline" trace trace.png >out 2>err || fail "exit status $?"
  [ "$(head -c 4 trace.png | tail -c 3)" = PNG ] || fail "no picture"
  [ -s err ] && fail "something on stderr"
fi

simulate -m ethernet -n 16 "$OSLA" info --json info.json
[ $status = 0 ] || fail "exit status $status"
grep -qx 'This is a simulation: the ranks are simulated on machine ethernet' out || fail "info does not say so"
grep -q '"simulated": "ethernet"' info.json || fail "nor in JSON"
grep -qE '\bseconds|GB/s|GF/s' out && fail "info measures a machine that is not there"

# A user's program, built as in doc/simulation.md.
label="doc/example.c"
smpicc -std=gnu17 -D_GNU_SOURCE -I"$SRCDIR/include" "$SRCDIR/doc/example.c" "$BUILDDIR/.libs/libosla.a" -lstdc++ -lopenblas \
  -lm -o example >out 2>err || fail "cannot be built"
simulate -n 4 ./example
[ $status = 0 ] && grep -q '^info 0, ' out || fail "exit status $status"

# Ranks that wait for ever after MPI_Abort.
label="MPI_Abort"
cat >ends.c <<'EOT'
#include <mpi.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
EOT
smpicc ends.c -o ends >out 2>err || fail "cannot be built"
simulate -n 4 ./ends
[ $status = 1 ] && [ "$(cat err)" = "simulate: deadlock: all ranks of the job wait for one another" ] ||
  fail "exit status $status"

# A test of a message on its way does not take 100 us as by SimGrid's default; BLACS tests in each
# call.
label="MPI_Testall"
cat >looks.c <<'EOT'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank, number = 0, is_done;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 10; i++)
      MPI_Testall(1, &request, &is_done, MPI_STATUSES_IGNORE);
    printf("%g\n", MPI_Wtime() - start);
    MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
EOT
smpicc looks.c -o looks >out 2>err || fail "cannot be built"
simulate -c -n 2 ./looks
[ $status = 0 ] && between 0 "$(cat out)" 1e-4 || fail "exit status $status, ten looks in $(cat out) s"

simulate -m ethernet -n 17 "$bench" gemm
refused 2 "simulate: 17 ranks: machine ethernet has 16 cores (4 hosts of 4)"
simulate -m nowhere -n 4 "$bench" gemm
refused 2 "simulate: no machine 'nowhere': there are ethernet hdr infiniband opteron-copies opteron slingshot summit torus xc30 xe6 xt4"
simulate -n 0 "$bench" gemm
refused 2 "simulate: -n: '0' is not a number of ranks"
simulate -n 4 "$bench" gemm --transport mpi
refused 2 "osla-bench gemm: transport 'mpi' (OSLA_TRANSPORT): this program has only: sim"
simulate -n 4 "$bench" hessian --threads 2
refused 2 "osla-bench hessian: transport 'sim': a rank has one thread, and this job asks for more"
simulate -n 4 "$bench" hpl
refused 2 "osla-bench hpl: hpl cannot mark its figures as simulated: use lu and solve"
sed 's/"copy" value="[^"]*"/"copy" value="6GBps"/' "$SRCDIR/bench/machines/ethernet.xml" >bad.xml
simulate -m bad.xml -n 4 "$bench" gemm
refused 2 "osla-bench gemm: machine bad: property copy of host host0 is not a positive number: 6GBps"
# A model of the work: a product of 1000 by 1000 by 1000 on one rank takes the time of its terms
# plus some copies. Either all kinds have a model, or none.
kinds=$(sed -n 's/.*\[OSLA_WORK_.*= "\(work-[a-z-]*\)".*/\1/p' "$SRCDIR/src/simulation/sim_core.c")
modelled() { # KIND VALUE: the others take no time
  local kind
  for kind in $kinds; do
    [ "$kind" = "$1" ] && echo "<prop id=\"$kind\" value=\"$2\"/>" || echo "<prop id=\"$kind\" value=\"0 1\"/>"
  done >terms
  sed '/"copy"/r terms' "$SRCDIR/bench/machines/ethernet.xml" >model.xml
}
where=(-m model.xml -n 1)
modelled work-gemm "1e-9 mnk 2e-7 mn 3e-3 1"
measured gemm --n 1000 --nb 1000
awk -v s="$(seconds)" 'BEGIN {exit !(s > 1.203 && s < 1.204)}' || fail "a product of 1.203 s took $(seconds)"
modelled work-gemm "1e-9 mnk 2e-7 xy"
simulate -m model.xml -n 4 "$bench" gemm
refused 2 "osla-bench gemm: work-gemm is not 1 to 6 pairs SECONDS MONOMIAL, such as 5e-11 mnk 2e-7 1: 1e-9 mnk 2e-7 xy"
modelled work-gemm "1e-9 mnk"
sed -i '/work-trsm-left/d' model.xml
simulate -m model.xml -n 4 "$bench" gemm
refused 2 "osla-bench gemm: machine model: host host0 has a model of work, but lacks the property work-trsm-left"
label="without bench/scripts/simulate"
"$OSLA" info >out 2>err
status=$?
refused 2 "osla: this program is for simulated machines: start it by bench/scripts/simulate -n RANKS PROGRAM"
exit $failed
