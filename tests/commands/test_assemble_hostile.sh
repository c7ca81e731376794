#!/usr/bin/env bash
# `osla assemble` and `osla solve` with files that declare more than they hold, that HDF5 cannot
# handle, or whose sums and solutions are not finite: one line, a status that is not 0, and no file
# that could be mistaken for a good one.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
[ "$HAVE_HDF5" = yes ] || { echo "this build has no HDF5"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir job
failed=0
fail() { echo "test_assemble_hostile: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }

# run RANKS COMMAND ARGUMENT...: with 0 ranks without mpiexec
run() {
  local ranks=$1 command
  shift
  label="$* ($ranks ranks)"
  command=("$OSLA" "$@")
  [ "$ranks" = 0 ] || command=("$MPIEXEC" -n "$ranks" "${command[@]}")
  (cd job && timeout "$JOB_LIMIT" "${command[@]}") >out 2>err </dev/null
  status=$?
}
# here COMMAND ARGUMENT...: runs the command on one rank in a persistent process
here() {
  label="${*:2}"
  run_line 0 node "$scratch/job" "$scratch/out" "$scratch/err" "$@"
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s err ] && fail "$label: something on stderr"
}
# bad STATUS PATTERN: checks the status and the one line
bad() {
  [ $status = "$1" ] || fail "$label: exit status $status, not $1"
  [ "$(wc -l <err)" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla (assemble|solve): $2\$" err || fail "$label: stderr is not '$2'"
}
made() { "$BUILDDIR/tests/commands/hostile_updates" "$1" "$1.h5" || fail "cannot make $1"; }

# --- sizes, filters ---
lacks="is stored with filter 'lzf' \\(32000\\), which this HDF5 library lacks: store it with gzip, or set HDF5_PLUGIN_PATH to the folder of the filter's plug-in"
while read -r ranks kind pattern; do
  made "$kind"
  if [ "$ranks" = 0 ]; then here assemble --n 5 --output o.h5 "../$kind.h5"
  else run "$ranks" assemble --n 5 --output o.h5 "../$kind.h5"
  fi
  bad 2 "../$kind.h5: ${pattern/LACKS/$lacks}"
  [ -z "$(ls -A job)" ] || fail "$label: leaves $(ls -A job)"
  rm -f job/*
done <<'LIST'
2 huge_ix ix: 1152921504606846976 x 1 elements are too many
0 large_ix ix: is to have 8796093022208 bytes, and 0 are stored
0 offset_61 offset: 2305843009213693952 x 1 elements are too many
0 offset_61_1 offset: 2305843009213693953 x 1 elements are too many
0 offset_40 offset: is to have 1099511627776 bytes, and 0 are stored
0 unwritten offset: is to have 33554432 bytes, and 0 are stored
0 blocks_61 offset: 2305843009213693952 x 1 elements are too many
2 wide_60 G: 0 x 1152921504606846976 elements are too many
0 wide_61 G: 0 x 2305843009213693952 elements are too many
0 wide_62 G: 0 x 4611686018427387904 elements are too many
0 wide_61_alone G: 0 x 2305843009213693952 elements are too many
0 wide_45_alone the largest update: takes [0-9]+ bytes, but only [0-9]+ bytes of memory are available
0 away G: [0-9]+ bytes from byte [0-9]+ on, and the file has [0-9]+
0 long_double G: has elements of 20 bytes
0 lzf_ix ix: LACKS
0 lzf_offset offset: LACKS
2 lzf_G G: LACKS
3 damaged (damaged: HDF5 crashes while it reads it .*|G: cannot be read .*)
LIST
# The end of a reader process is also detected in a job that inherits an ignored SIGCHLD.
(cd job && exec timeout "$JOB_LIMIT" env --ignore-signal=CHLD "$OSLA" assemble --n 5 --output o.h5 ../damaged.h5) >out 2>err </dev/null
status=$?
label="damaged.h5, SIGCHLD ignored"
bad 2 '../damaged.h5: (damaged: HDF5 crashes while it reads it .*|G: cannot be read .*)'
for kind in packed indexed lzf_unused; do # good files
  made $kind
  run 2 assemble --n 5 --output o.h5 "../$kind.h5"
  good
done

# MPICH's progress thread may hold a lock during the fork of the reader process; unless HDF5 is
# initialized before, half of these jobs never end.
export MPIR_CVAR_ASYNC_PROGRESS=1
[ "${OSLA_TESTS:-check}" = check ] && times="1 2" || times="1 2 3 4 5 6"
for _ in $times; do
  run 0 assemble --n 5 --output o.h5 ../packed.h5
  good
done
unset MPIR_CVAR_ASYNC_PROGRESS

# --- sums that are not finite: the file is written, with a verdict ---
judged() { # FILE VERDICT
  grep -aqF "$2" "job/$1" || fail "$label: $1 does not say '$2'"
}
made large
run 2 assemble --n 4 --nb 2 --type float --json o.json --output o.h5 ../large.h5
bad 1 'o.h5: H\[1, 1\] is inf: --type double holds more'
judged o.h5 'H[1, 1] is inf'
judged o.json '"verdict": "H[1, 1] is inf"'
run 2 assemble --n 4 --nb 2 --uplo upper --output o.h5 ../large.h5
good
judged o.h5 good
made gradient
run 3 assemble --n 4 --output o.h5 ../gradient.h5
bad 1 'o.h5: g\[1\] is inf'
judged o.h5 'g[1] is inf'
run 2 solve o.h5 --output x.h5
bad 2 'o.h5: g\[1\] is inf'
[ -e job/x.h5 ] && fail "$label: writes a solution"

# --- solutions ---
made system_gzip
run 2 solve ../system_gzip.h5 --output x.h5
bad 2 "../system_gzip.h5: H: is stored with filter 'deflate' \\(1\\), and osla reads its data as it writes them, without filters \\(h5repack -f NONE -l CONTI undoes a compression\\)"
made tiny
run 0 assemble --n 4 --output o.h5 ../tiny.h5
good
while read -r ranks method verdict; do
  rm -f job/x.h5
  run "$ranks" solve o.h5 --nb 2 --method "$method" --json x.json --output x.h5
  bad 1 "x.h5: $verdict"
  judged x.h5 "$(sed 's/^osla solve: x.h5: //' err)"
  judged x.json '"verdict"'
done <<'LIST'
0 cholesky x\[[0-3]\] is -?(nan|inf)
2 mixed the scaled residual is [0-9.]+e\+15, above 16
LIST
rm -f job/x.h5
run 2 solve o.h5 --nb 2 --method lu --output x.h5 # 1 / 1e-310 is infinite, and makes a NaN
bad 1 'o.h5: H is singular \(pivot 3 is zero, or no number\)'
[ -e job/x.h5 ] && fail "$label: writes a solution"
made hilbert
run 0 assemble --n 10 --output o.h5 ../hilbert.h5
good
for method in cholesky lu mixed; do # ill-conditioned is not unstable
  run 2 solve o.h5 --nb 3 --method $method --output x.h5
  good
  judged x.h5 good
done
end_lines || failed=1
exit $failed
