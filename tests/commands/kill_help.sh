# shellcheck shell=bash
# Sourced by tests that kill jobs with checkpoints in c.h5 of the current folder, and start them
# again. They set OSLA, MPIEXEC and a function fail.
# shellcheck disable=SC2154

ranks_of() { # PID of mpiexec, which starts the ranks itself (Open MPI) or by a proxy
  local parent
  for parent in "$1" $(pgrep -P "$1"); do pgrep -x "${OSLA##*/}" -P "$parent"; done
}

is_running() { # PID of a rank; a zombie does not count
  awk -v name="(${OSLA##*/})" '$2 == name && $3 != "Z" {found = 1} END {exit !found}' \
    "/proc/$1/stat" 2>/dev/null
}

# start RANKS MODE COMMAND ARGUMENT...: starts a job in the background; `ranks` becomes its
# processes
start() {
  local count=$1 mode=$2 env=() i
  shift 2
  label="$1 ($count ranks, $mode)"
  env=($(in_mode "$mode" "$count"))
  env "${env[@]}" "$MPIEXEC" -n "$count" "$OSLA" "$@" >log 2>&1 </dev/null &
  job=$!
  for i in $(seq 1000); do
    ranks=($(ranks_of "$job"))
    [ "${#ranks[@]}" = "$count" ] && return
    [ -d "/proc/$job" ] || break
    sleep 0.005
  done
  fail "$label: no $count ranks"
}

# over TEXT: the job ended before it was killed. This is a failure, unless the caller can start
# again (may_be_over=yes) and the job ended well: then was_over becomes yes. Returns 1.
may_be_over=no was_over=no
over() {
  if [ $may_be_over = yes ] && wait "$job"; then was_over=yes; else fail "$label: $1"; fi
  return 1
}

# Waits for a checkpoint with more ids than the preceding one, which makes it longer.
size=0
wait_for_checkpoint() {
  local i now
  for i in $(seq 4000); do
    now=$(stat -c %s c.h5 2>/dev/null)
    [ "${now:-0}" -gt "$size" ] && { size=$now; return; }
    [ -d "/proc/$job" ] || break
    sleep 0.005
  done
  over "no further checkpoint was written"
}

# killed NUMBER: kills that rank by kill -9; the job ends with it.
killed() {
  local i
  kill -9 "${ranks[$1]}" 2>/dev/null || { over "was over before it was killed"; return; }
  for i in $(seq 200); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.05
  done
  kill -0 "$job" 2>/dev/null && { fail "$label: goes on for 10 s"; kill -9 "${ranks[@]}" "$job"; }
  wait "$job" && fail "$label: exit status 0"
  [ -s c.h5 ] || fail "$label: no checkpoint is left"
  size=$(stat -c %s c.h5)
}

# resumed LEAST: checks that the job resumed from at least so many data
before=0
resumed() {
  local now
  now=$(sed -n 's/^resumed from c.h5: \([0-9]*\) of .*/\1/p' log)
  [ "${now:-0}" -ge "$1" ] || fail "$label: resumed from '$now', not from $1 or more"
  before=${now:-0}
}
# finished: waits for the end of the job; the checkpoint has been removed
finished() {
  wait "$job" || fail "$label: exit status $?"
  resumed $((before + 1))
  [ -e c.h5 ] && fail "$label: leaves its checkpoint"
}
