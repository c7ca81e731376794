#!/usr/bin/env bash
# Two hosts whose network line fails during a job: with OSLA_PATIENCE all ranks end within that time
# with one line that names the waiting rank and call; the last checkpoint is complete, and a job on
# one host resumes from it to the result of an undisturbed job.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${MPIEXEC:?}" "${OSLA:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "test_broken_line: $label: $*"; tail -n 20 out err; failed=1; }
export OSLA_PATIENCE=2

# ranks_of_this NAME: the processes of NAME that this test has started
ranks_of_this() {
  local rank
  for rank in $(pgrep -x "$1"); do
    grep -qsz "^BROKEN_LINE=$$\$" "/proc/$rank/environ" && echo "$rank"
  done
}
is_alive() { grep -qs "^State:[[:space:]]*[^Z]" "/proc/$1/status"; }

# break_line CONDITION PROGRAM ARGUMENT...: runs the program on the hosts; when CONDITION holds, the
# line fails. Writes to the file "end": remaining ranks, seconds until the end, ranks seen. mpiexec
# does not notice the end of ranks on the other host and may stay (MPICH 4.0.2); it is killed here.
break_line() {
  local condition=$1 left=2 rank job
  shift
  BROKEN_LINE=$$ "$MPIEXEC" -n 2 "$@" >out 2>err </dev/null &
  job=$!
  for _ in $(seq 600); do
    ranks=$(ranks_of_this "${1##*/}")
    $condition && break
    sleep 0.05
  done
  $HOSTS_DOWN
  SECONDS=0
  while [ $SECONDS -lt 40 ] && [ "$left" -gt 0 ]; do
    sleep 0.2
    left=$(for rank in $ranks; do is_alive "$rank" && echo; done | wc -l)
  done
  echo "$left $SECONDS" "$(echo $ranks | wc -w)" >end
  kill $job 2>/dev/null
  true
}
both_have_computed() { # for 2 s
  [ "$(for rank in $ranks; do awk '$14 > 200' "/proc/$rank/stat"; done 2>/dev/null | wc -l)" -ge 2 ]
}
two_checkpoints_came() { # the second is longer
  local now
  now=$(stat -c %s c.h5 2>/dev/null) || return
  [ "$now" -gt "${size:=$now}" ]
}
export -f break_line ranks_of_this is_alive both_have_computed two_checkpoints_came

# broken WHERE CONDITION PROGRAM ARGUMENT...: checks a soon end with one line that matches WHERE
broken() {
  local where=$1 left seconds ranks
  shift
  timeout "$JOB_LIMIT" "$SRCDIR/tests/hosts" -b "$BUILDDIR" 2 bash -c 'break_line "$@"' broken "$@" >hosts 2>&1
  case $? in
    0) ;;
    77) tail -n 1 hosts; exit 77 ;;
    *) cat hosts; fail "tests/hosts failed"; return ;;
  esac
  read -r left seconds ranks <end
  [ "$ranks" -ge 2 ] || fail "only $ranks ranks were seen"
  [ "$left" = 0 ] || fail "$left ranks are left"
  [ "$seconds" -le 15 ] || fail "took $seconds s"
  [ "$(grep -c '^osla\[' err)" = 1 ] || fail "not one line"
  grep -qE "^osla\[[01]\]: nothing came .*for 2 s $where.*; ending all ranks\$" err || fail "no line '$where'"
}

label="a factorisation"
broken 'in osla_potrf, step [0-9]+' both_have_computed \
  "$BUILDDIR/bench/osla-bench" chol --ref none --n 3000 --reps 1000

label="a checkpoint"
if [ "$HAVE_HDF5" = yes ]; then
  check=$BUILDDIR/tests/commands/assemble_check files=()
  for kind in panels blocks other; do
    "$check" make $kind $kind.h5 90 >out 2>err || fail "cannot make $kind"
  done
  # all ranks wait for the first reading of the files; with sanitizers, which are about three times
  # slower, there are fewer files
  [ "$SANITIZERS" = no ] && times=200 || times=60
  for ((i = 0; i < times; i++)); do files+=(panels.h5 blocks.h5 other.h5); done
  assemble=(assemble --n 90 --output s.h5 --checkpoint c.h5)
  broken '' two_checkpoints_came "$OSLA" "${assemble[@]}" --interval 0 "${files[@]}"
  [ -e s.h5 ] && fail "the job has come to its end"
  # no OSLA_PATIENCE: a busy machine may delay messages by more than 2 s although the line is up
  env -u OSLA_PATIENCE timeout "$JOB_LIMIT" "$MPIEXEC" -n 3 "$OSLA" "${assemble[@]}" "${files[@]}" >out 2>err </dev/null || fail "goes not on: status $?"
  grep -qE '^resumed from c.h5: [1-9][0-9]* of ' out || fail "has not resumed"
  "$check" sum s.h5 90 0 "${files[@]}" >out 2>err || fail "another sum than that of all updates"
fi
exit $failed
