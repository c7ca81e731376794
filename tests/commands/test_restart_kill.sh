#!/usr/bin/env bash
# `osla assemble` and `osla invert` with --checkpoint are killed (kill -9) at several moments, also
# while they write a checkpoint, and resume with other rank counts: the result is that of an
# undisturbed job. A file of another job is refused in one line.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
[ "$HAVE_HDF5" = yes ] || { echo "this build has no HDF5"; exit 77; }
check=$BUILDDIR/tests/commands/assemble_check
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
. "$SRCDIR/tests/commands/kill_help.sh"
fail() { echo "test_restart_kill: $*"; tail -n 20 log; failed=1; }

# stop_in_write: stops rank 0, which makes the file, while a temporary file exists.
stop_in_write() {
  local i
  for i in $(seq 4000); do
    if compgen -G 'c.h5.tmp*' >/dev/null; then
      kill -STOP "${ranks[0]}" 2>/dev/null || break
      until [ "$(awk '{print $3}' "/proc/${ranks[0]}/stat" 2>/dev/null)" = T ]; do
        [ -d "/proc/${ranks[0]}" ] || break
      done
      compgen -G 'c.h5.tmp*' >/dev/null && return
      kill -CONT "${ranks[0]}"
    fi
    [ -d "/proc/$job" ] || break
  done
  fail "$label: never seen writing"
}

# refused PATTERN COMMAND ARGUMENT...: checks that there is one line, and that the checkpoint is
# unchanged
refused() {
  local pattern=$1 sum
  shift
  sum=$(cksum c.h5)
  timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$OSLA" "$@" >log 2>&1 </dev/null && fail "$*: exit status 0"
  [ "$(wc -l <log)" = 1 ] || fail "$*: not one line"
  grep -qE "^osla $1: c.h5: $pattern\$" log || fail "$*: not '$pattern'"
  [ "$sum" = "$(cksum c.h5)" ] || fail "$*: has changed the checkpoint"
}

# kills COMMAND ARGUMENT...: kills during work, then during writing, each with another rank count
kills() {
  before=0 size=0
  start 2 node "$@"
  wait_for_checkpoint # it may be empty
  wait_for_checkpoint
  killed 1
  start 3 node "$@"
  wait_for_checkpoint
  sleep 0.02
  killed 0
  resumed 1
  rm -f c.h5.tmp*
  start 2 fake2 "$@"
  wait_for_checkpoint
  stop_in_write
  killed 0
  resumed $((before + 1))
  compgen -G 'c.h5.tmp*' >/dev/null || fail "$label: was not writing when it was killed"
}

# --- assemble: whole numbers, compared bitwise with a serial sum ---
for kind in panels blocks other; do "$check" make "$kind" "$kind.h5" 90 || fail "cannot make $kind"; done
files=()
for i in $(seq 120); do files+=(panels.h5 blocks.h5 other.h5); done
assemble=(assemble --n 90 --output s.h5 --checkpoint c.h5 --interval 0)
kills "${assemble[@]}" "${files[@]}"
refused 'has order 90, the accumulator has order 91' assemble --n 91 --output s.h5 --checkpoint c.h5 \
  "${files[@]}"
refused 'was written for job "assemble: [0-9]+ updates, 360 files, .*' assemble --n 90 \
  --output s.h5 --checkpoint c.h5 "${files[@]:1}"
[ -e s.h5 ] && fail "a killed or refused job has written s.h5"
start 4 node assemble --n 90 --output s.h5 --checkpoint c.h5 --nb 7 "${files[@]}"
finished
"$check" sum s.h5 90 0 "${files[@]}" >>log 2>&1 || fail "assemble: another sum than that of all updates"
rm -f c.h5* s.h5

# --- invert: to rounding, compared with an undisturbed job ---
shape=(--mesh 3 --max-paths 2500 --subset 1 --resolution 0)
number() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*\$/\1/p" "$2"; }
"$MPIEXEC" -n 2 "$OSLA" invert --quiet "${shape[@]}" --json whole.json >log 2>&1 || fail "not killed: fails"
kills invert "${shape[@]}" --json parts.json --checkpoint c.h5 --interval 0
refused 'was written for job .*' invert "${shape[@]}" --noise 0.5 --checkpoint c.h5
start 3 node invert "${shape[@]}" --threads 2 --json parts.json --checkpoint c.h5
finished
for name in misfit_before misfit_after misfit_expected data; do
  a=$(number $name whole.json) b=$(number $name parts.json)
  awk -v a="$a" -v b="$b" 'BEGIN {d = a - b; exit !(a > 0 && d * d <= 1e-18 * a * a)}' ||
    fail "invert: $name is $b, and $a without kills"
done
exit $failed
