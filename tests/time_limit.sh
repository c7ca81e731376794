# Time limits of tests; read by tests/run. A limit ends a test that hangs and measures nothing. It is
# for two quiet cores, and stretched by how much slower this machine is when the test begins.

# find_slowness: sets `slowness` to the time of a fixed piece of work, in percent of what it takes on
# two quiet cores; at least 100. The work is what scripts spend their time on: starting processes.
find_slowness() {
  local begin=${EPOCHREALTIME/[!0-9]/} i quiet_us=700000
  for ((i = 0; i < 100; i++)); do /bin/true; done
  for ((i = 0; i < 150000; i++)); do :; done
  slowness=$(((${EPOCHREALTIME/[!0-9]/} - begin) * 100 / quiet_us))
  [ $slowness -ge 100 ] || slowness=100
}

# set_stretch PERCENT: of all limits from now on. JOB_LIMIT is for each job that a script starts:
# timeout "$JOB_LIMIT" mpiexec ...
set_stretch() {
  stretch=$1
  export JOB_LIMIT=$((120 * stretch / 100))
}
