#!/usr/bin/env bash
# `osla assemble` and `osla solve` as a user runs them: updates from files of every kind, against a
# serial sum and a serial residual; the examples of doc/; wrong files and options, each with one
# line and no output.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
[ "$HAVE_HDF5" = yes ] || { echo "this build has no HDF5"; exit 77; }
check=$BUILDDIR/tests/commands/assemble_check
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_assemble: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }
mkdir "$scratch/in" "$scratch/job"
in=$scratch/in

# run RANKS MODE COMMAND ARGUMENT...: with 0 ranks without mpiexec
run() {
  local ranks=$1 mode=$2 env=() command
  shift 2
  label="$* ($ranks ranks, $mode)"
  env=($(in_mode "$mode" "$ranks"))
  command=("$OSLA" "$@")
  [ "$ranks" = 0 ] || command=("$MPIEXEC" -n "$ranks" "${command[@]}")
  (cd "$scratch/job" && timeout "$JOB_LIMIT" env "${env[@]}" "${command[@]}") \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s "$scratch/err" ] && fail "$label: something on stderr"
}
# bad STATUS PATTERN: checks that there is one line, no output and no file
bad() {
  [ $status = "$1" ] || fail "$label: exit status $status, not $1"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla (assemble|solve): $2\$" "$scratch/err" || fail "$label: stderr is not '$2'"
  [ -s "$scratch/out" ] && fail "$label: something on stdout"
  [ -z "$(ls -A "$scratch/job")" ] || fail "$label: leaves $(ls -A "$scratch/job")"
  rm -rf "$scratch/job"; mkdir "$scratch/job"
}
made() { "$check" make "$1" "$in/$1.h5" 90 || fail "cannot make $1"; }
for kind in panels blocks single other whole_panels whole_blocks; do made $kind; done
files=("$in"/{panels,blocks,single,other,whole_panels,whole_blocks}.h5)

# --- sums are compared bitwise, because all numbers are whole; solutions ---
system=$scratch/system.h5
sum() { # TOLERANCE FILE...
  local tolerance=$1
  shift
  "$check" sum "$system" 90 "$tolerance" "$@" 2>>"$scratch/err" || fail "$label: another sum"
}
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" assemble --n 90 --output "$system" $options "${files[@]}"
  good
  sum 0 "${files[@]}"
  [[ $options != *both* ]] || "$check" both "$system" || fail "$label: not both triangles"
done <<'LIST'
0 node --nb 16
2 node --uplo upper --nb 7 --json report.json
3 node --grid 1x2 --nb 200 --quiet
4 fake2 --nb 8
4 node --grid 2x2 --nb 8 --full
1 node --type float --nb 32
3 node --type float --nb 9 --full
3 node --both-triangles --nb 11
4 fake2 --both-triangles --grid 2x2 --nb 8 --type float
2 node --both-triangles --full --nb 16
2 node --both-triangles --uplo upper --nb 16
LIST
grep -q '"updates": 201' "$scratch/job/report.json" || fail "the JSON report has no 201 updates"
if command -v python3 >/dev/null; then
  python3 -m json.tool "$scratch/job/report.json" >/dev/null || fail "not JSON"
fi

for uplo in upper lower; do
run 2 node assemble --n 90 --output "$system" --uplo $uplo --nb 16 "${files[@]:0:1}"
good
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" solve "$system" --output "$scratch/x.h5" --damping 3.5 $options
  good
  "$check" solve "$system" 3.5 "$scratch/x.h5" 1e-9 >>"$scratch/out" || fail "$label: wrong x"
  grep -qE '^Residual +[0-9.e-]+ ' "$scratch/out" || fail "$label: no residual"
done <<'LIST'
0 node --nb 20
3 node --method lu --nb 13
2 node --full --nb 16
2 node --method mixed --nb 16 --json solve.json
4 fake2 --method mixed --grid 2x2 --nb 11
1 node --method mixed --full --nb 96
4 fake2 --grid 2x2 --nb 9
LIST
done
grep -q '"rcond": null' "$scratch/job/solve.json" || fail "mixed: rcond is not null"
grep -q '"layout": "triangle"' "$scratch/job/solve.json" || fail "mixed: H is not a triangle"
rm -f "$scratch/job"/*

# --- the examples of doc/ ---
"$BUILDDIR/doc/write_updates" "$in/example.h5" 50 || fail "doc/write_updates.c fails"
run 2 node assemble --n 50 --output "$system" "$in/example.h5"
good
"$check" sum "$system" 50 1e-13 "$in/example.h5" || fail "$label: another sum"
run 2 node solve "$system" --damping 1 --output "$scratch/x.h5" --quiet
good
[ -s "$scratch/out" ] && fail "$label: not quiet"
"$check" solve "$system" 1 "$scratch/x.h5" 1e-12 >>"$scratch/out" || fail "$label: wrong x"
if python3 -c 'import h5py, numpy' 2>/dev/null; then
  python3 "$SRCDIR/doc/write_updates.py" "$in/python.h5" 60 || fail "doc/write_updates.py fails"
  run 2 node assemble --n 60 --output "$system" "$in/python.h5"
  good
  "$check" sum "$system" 60 1e-13 "$in/python.h5" || fail "$label: another sum"
  (cd "$SRCDIR/doc" && PYTHONDONTWRITEBYTECODE=1 python3 -c "
import numpy, sys, write_updates
H, g = write_updates.read_system(sys.argv[1])
assert (H == H.T).all() and H.shape == (60, 60) and g.shape == (60,) and (numpy.diag(H) >= 0).all()
" "$system") || fail "doc/write_updates.py reads another system"
else
  echo "test_assemble: no h5py: doc/write_updates.py is not tried"
fi

# --- wrong files give the same error on all ranks ---
wrong() { # PLACE KIND PATTERN
  made "$2"
  # shellcheck disable=SC2086 # two words
  run $1 assemble --n 90 --nb 16 --output o.h5 "$in/panels.h5" "$in/$2.h5"
  bad 2 "$in/$2.h5: $3"
}
wrong "3 node" no_ix "no data set ix"
wrong "0 node" real_ix "ix: integers were expected, and it holds floating-point numbers"
wrong "0 node" no_G "neither a data set G nor U"
wrong "0 node" text_G "G: integers or floating-point numbers were expected, and it holds texts"
wrong "0 node" flat_G "G: 2 dimensions were expected, and it has 1"
wrong "0 node" short_G "G: [0-9]+ rows \(the length of ix\) were expected, and it has [0-9]+"
wrong "0 node" narrow_w "w: 4 columns \(as G\) were expected, and it has 3"
wrong "0 node" short_r "r: 40 rows \(the number of updates\) were expected, and it has 39"
wrong "0 node" falls "offset: must not fall, and offset\[5\] = [0-9]+ is above offset\[6\] = [0-9]+"
wrong "0 node" end "offset: 0 to [0-9]+ \(the length of ix\) was expected, and it goes from 0 to [0-9]+"
wrong "3 node" index "update 39: .*90.*"
wrong "4 fake2" negative "update 39: .*-1.*"
wrong "2 node" nan "G: finite numbers were expected, and element 17 is -?nan"
wrong "2 node" weight "w: weights >= 0 were expected, and element 5 is -1"
wrong "2 node" asymmetric "update 39: U is not symmetric: U\[[0-9]+, [0-9]+\] = -?[0-9]+, .*"
head -c 3000 "$in/panels.h5" >"$in/cut.h5"
echo "latitude,longitude" >"$in/text.h5"
for name in cut text; do
  run 2 node assemble --n 90 --output o.h5 "$in/$name.h5"
  bad 2 "$in/$name.h5: not an HDF5 file, or truncated"
done
run 2 node assemble --n 90 --output o.h5 "$in/absent.h5"
bad 2 "$in/absent.h5: No such file or directory"

run 2 node solve "$in/panels.h5" --output x.h5
bad 2 "$in/panels.h5: no data set H"
run 0 node solve "$in/absent.h5" --output x.h5
bad 2 "$in/absent.h5: No such file or directory"
run 0 node assemble --n 90 --quiet --output "$system" "$in/single.h5"
good
run 3 node solve "$system" --output x.h5
bad 1 "$system: H is not positive definite \(leading minor of order [0-9]+\): raise --damping, or use --method lu"
run 0 node solve "$system" --output x.h5 --method lu
bad 1 "$system: H is singular \(pivot [0-9]+ is zero, or no number\)"
run 0 node assemble --n 90 --quiet --type float --output "$system" "$in/panels.h5"
good
run 0 node solve "$system" --output x.h5 --method mixed
bad 2 "$system: H: double was expected, and it is of type s"

# --- options ---
option() { # PATTERN COMMAND ARGUMENT...
  local pattern=$1
  shift
  run 0 node "$@"
  bad 2 "$pattern"
}
option "--n: 0 is not a number of unknowns" assemble --output o.h5 "$in/panels.h5"
option "--n: -3 is not a number of unknowns" assemble --n -3 --output o.h5 "$in/panels.h5"
option "--output FILE is missing" assemble --n 90 "$in/panels.h5"
option "no file of updates is given" assemble --n 90 --output o.h5
option "--type: 'half' is neither double nor float" assemble --n 9 --type half --output o.h5 a.h5
option "--uplo: 'both' is neither lower nor upper" assemble --n 9 --uplo both --output o.h5 a.h5
option "--grid: 'square' is not a grid such as 2x3" assemble --n 9 --grid square --output o.h5 a.h5
option "--nb: 0 is outside 1 to 65536" assemble --n 9 --nb 0 --output o.h5 a.h5
option "--json: o.h5 is also the file of --output o.h5" assemble --n 9 --json o.h5 --output o.h5 a.h5
option "--checkpoint: o.h5 is also the file of --output o.h5" \
  assemble --n 9 --checkpoint o.h5 --output o.h5 a.h5
option "--interval: -1 is negative" assemble --n 9 --interval -1 --output o.h5 a.h5
option "--interval requires --checkpoint" assemble --n 9 --interval 5 --output o.h5 a.h5
option "--n: '0500' begins with 0: remove the zero" assemble --n 0500 --output o.h5 a.h5
option "--tolerance: is not for dense matrices \(FILE.mtx is sparse\)" solve a.h5 --tolerance 1e-3 --output x.h5
option "/nowhere/c.h5: directory /nowhere: No such file or directory" \
  assemble --n 9 --checkpoint /nowhere/c.h5 --output o.h5 a.h5
option "/nowhere/o.h5: directory /nowhere: No such file or directory" \
  assemble --n 9 --output /nowhere/o.h5 a.h5
option "one file with H and g is needed, and 2 are given" solve a.h5 b.h5 --output x.h5
option "--output FILE is missing" solve a.h5
option "--output: a.h5 is also the file of the system a.h5" solve a.h5 --output a.h5
option "--damping: -1 is not a number >= 0" solve a.h5 --damping -1 --output x.h5
option "--method: 'qr' is none of cholesky, lu, mixed, cg, lsqr" solve a.h5 --method qr --output x.h5

# --- the manual pages name every option ---
for command in assemble solve; do
  for option in $("$OSLA" $command --help | grep -oE -- '--[a-z-]+' | sort -u); do
    grep -q -- "${option//-/\\\\-}" "$SRCDIR/doc/osla-$command.1" ||
      fail "osla-$command.1 does not name $option"
  done
done
exit $failed
