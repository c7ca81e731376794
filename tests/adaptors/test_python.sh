#!/usr/bin/env bash
# The Python package: its own tests on several ranks, programs that end in different ways,
# communicators of mpi4py, the guide's programs, the example, the overhead of a call over C, and the
# installed package.
set -u
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/open_mpi.sh"
[ "${HAVE_PYTHON:-no}" = yes ] || { echo "built without Python (python3-dev, python3-numpy; shared libraries)"; exit 77; }
"$PYTHON" -c 'import pytest' 2>/dev/null || { echo "no pytest (python3-pytest)"; exit 77; }
tests=$SRCDIR/python/tests
export PYTHONPATH=$BUILDDIR/python PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg
unset MAKEFLAGS MAKELEVEL MFLAGS

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
complain() { echo "test_python: $*"; cat out; failures=$((failures + 1)); }

# python RANKS MODE PROGRAM...: writes the output to `out`, and sets `status` to the exit status
python() {
  local ranks=$1 mode=$2
  shift 2
  env $(in_mode "$mode" "$ranks") timeout "$JOB_LIMIT" "$MPIEXEC" -n "$ranks" "$PYTHON" "$@" >out 2>&1 </dev/null
  status=$?
}

"$PYTHON" "$tests/bindings.py" "$SRCDIR" >out 2>&1 || complain "functions without a binding"

case ${OSLA_TESTS:-check} in
  check) runs="2-node" ;;
  ci) runs="2-node 4-fake2" ;;
  *) runs="1-node 2-node 3-node 4-node 4-fake2" ;;
esac
# The package requests MPI_THREAD_MULTIPLE, with which Open MPI 4.1's osc pt2pt, needed for several
# nodes, makes no windows.
[ "$MPI_FAMILY" != openmpi ] || runs=${runs/4-fake2/4-node}
for run in $runs; do
  python ${run%-*} ${run#*-} -m pytest -q --color=no -p no:cacheprovider --basetemp="$scratch/pytest-$run" "$tests"
  [ $status = 0 ] || complain "pytest, $run: status $status"
  [ "$(grep -cE '^[0-9]+ passed' out)" -ge 1 ] || complain "pytest, $run: no tests"
done

ends() { # RANKS CASE STATUS: 0, or 1 for any other; [TEXT]
  python "$1" node "$tests/endings.py" "$2"
  [ "$((status != 0))" = "$3" ] && [ $status != 124 ] || complain "$1 ranks, $2: status $status"
  [ $# = 3 ] || grep -qF -- "$4" out || complain "$1 ranks, $2: no word of $4"
  [ "$3" = 1 ] || ! grep -qE 'WARN|Traceback|Exception' out || complain "$1 ranks, $2: not quiet"
}
ranks=3
[ "${OSLA_TESTS:-}" != full ] || ranks="1 3"
for ranks in $ranks; do
  ends $ranks uncaught 1 "KeyError: 'on one rank'"
  ends $ranks "uncaught in the library" 1 "ix[0] = 9 is outside 0 to 7"
  ends $ranks exit 1
  ends $ranks late 0 "seen late"
  for case in views devices drops caught destroyed daemons forks; do ends $ranks $case 0; done
done
ends 1 "MPI has ended" 0
ends 3 uncaught 1 "ending all ranks"
ends 3 exit 1 "calls Matrix.norm fro where rank 0 calls the end of the program"

if "$PYTHON" -c 'import mpi4py' 2>/dev/null; then
  for first in mpi4py osla; do
    python 2 node "$tests/with_mpi4py.py" $first
    [ $status = 0 ] && [ "$(grep -cE '^(taken|refused: .*(mpi4py is on .* this build of osla on|was built for))' out)" = 2 ] ||
      complain "mpi4py, $first first: status $status"
    echo "a communicator of mpi4py: $(sort -u out | head -n 1)"
  done
fi

# The guide's programs, concatenated into one.
awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' "$SRCDIR/doc/python.md" >guide.py
[ "$(grep -c . guide.py)" -ge 20 ] || complain "doc/python.md shows no programs"
for ranks in 1 3; do
  python $ranks node guide.py
  [ $status = 0 ] || complain "doc/python.md, $ranks ranks: status $status"
done

# Runs the shell commands and the Python program of doc/normal_equations.md.
blocks() { awk -v "kind=$1" '$0 == "```" kind {on = 1; next} /^```$/ {on = 0} on' "$SRCDIR/doc/normal_equations.md"; }
ln -s "$SRCDIR/python" python && ln -s "$BUILDDIR" build
blocks sh | sed "s,mpiexec.mpich,\"$MPIEXEC\",; s,\<python3\>,\"$PYTHON\",g" >commands.sh
timeout "$JOB_LIMIT" env $(in_mode node 4) bash -e commands.sh >out 2>&1 </dev/null
[ $? = 0 ] && [ "$(grep -c '^files/[012].snx: variance component ' out)" = 3 ] && [ -s combined.snx ] ||
  complain "the commands of doc/normal_equations.md"
blocks python >normals_guide.py
python 2 node normals_guide.py
[ $status = 0 ] || complain "the program of doc/normal_equations.md: status $status"

if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  python 2 node "$SRCDIR/python/examples/inversion.py" picture.png
  [ $status = 0 ] && [ -s picture.png ] || complain "the example: status $status"
  awk '/variance recovered/ {sub(",", "", $7); good = $7 > 0.9} END {exit !good}' out || complain "the example's answer"
  tail -n 1 out
else
  echo "no matplotlib: the example is not run"
fi

includes="-I$SRCDIR/include -I$SRCDIR"
$CC -O2 -shared -fPIC $includes "$tests/overhead.c" -o overhead.so -L"$BUILDDIR/.libs" -losla \
  "-Wl,-rpath,$BUILDDIR/.libs" >out 2>&1 || complain "overhead.c"
python 1 node "$tests/overhead.py" ./overhead.so
[ $status = 0 ] || complain "the time above C"
cat out

. "$SRCDIR/tests/install/installed.sh"
module=$(find "$installed" -name '_core*.so')
library=$(dirname "$(find "$installed" -name libosla.so)")
if [ -n "$module" ]; then
  LD_LIBRARY_PATH=$library PYTHONPATH=$(dirname "$(dirname "$module")") \
    python 2 node -c 'import os, osla; os.write(1, f"{osla.__file__} {osla.Matrix(3, 3).norm()}\n".encode())'
  [ $status = 0 ] && [ "$(grep -c "^$installed.* 0.0$" out)" = 2 ] || complain "what was installed: status $status"
else
  complain "no module was installed"
fi

[ $failures = 0 ] && echo "the package does what it says"
