# Time limits of tests; sourced by tests/run. A limit ends a test that hangs; it measures nothing.
# It holds for two quiet cores, and is stretched by the slowness of the machine when the test
# begins.

# find_slowness: sets `slowness` to the time of a fixed amount of work, in percent of the time on
# two quiet cores; at least 100. The work is starting processes, which dominates in scripts.
find_slowness() {
  local begin=${EPOCHREALTIME/[!0-9]/} i quiet_us=700000
  for ((i = 0; i < 100; i++)); do /bin/true; done
  for ((i = 0; i < 150000; i++)); do :; done
  slowness=$(((${EPOCHREALTIME/[!0-9]/} - begin) * 100 / quiet_us))
  [ $slowness -ge 100 ] || slowness=100
}

# set_stretch PERCENT: factor of all limits from now on. JOB_LIMIT is the limit of each job that a
# script starts: timeout "$JOB_LIMIT" mpiexec ...
set_stretch() {
  stretch=$1
  export JOB_LIMIT=$((120 * stretch / 100))
}
