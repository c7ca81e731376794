#!/usr/bin/env bash
# Tests the suites of device memory. Plants each fault of src/device/device.h in the library, and
# requires that a suite on the fake device then fails, on one node and on two. Without a fault (0)
# the suites must pass. The faults are:
#   1  a notify does not wait for the work on the device
#   2  a collective call does not wait for the work on the device
#   4  a copy to or from host memory does not wait for earlier work
#   8  a temporary lies in host memory instead of on the device
#   16 memcpy is called for device memory
#   32 work of one lane does not wait for work of the other lane
#   64 locks of the accumulator are released before the addition on the device is complete
#   128 a rank announces values of a forest before the work that computes them is complete
#   256 a rank reports that it has read values of a forest before the work that reads them is complete
#   512 a signal of a device does not wait for earlier work of its lane
#   1024 a device does not wait for the signal of another rank's device
#   2048 the end of a transfer does not let later work wait for the devices that read its values
# Faults 128 and above are tested on one node only, because only ranks of a node read each other's
# values in place. test_device_forest must also find fault 4, and test_device_signals must also find
# faults 512 and 1024.
: "${BUILDDIR:?}" "${MPIEXEC:?}" "${JOB_LIMIT:?}"
cd "$BUILDDIR" || exit 1
mkdir -p tests/logs
ulimit -c 0
failed=0
for run in {1,2}' '{0,1,2,4,8,16,32,64} 1' '{128,256,512,1024,2048,'4 forest'} 1' '{512,1024}' signals' {1,2}' '{2,4,16}' sparse'; do
  read -r nodes fault suite <<<"$run"
  suites="test_device test_device_kernels test_device_lanes"
  [ "$fault" = 64 ] && suites=test_device_assembly
  [ "$fault" -gt 64 ] || [ "$suite" = forest ] && suites=test_device_forest
  # The two suites of sparse matrices must find faults 2, 4 and 16 without the other suites.
  [ "$suite" = sparse ] && suites="test_device_sparse test_device_cg"
  [ "$suite" = signals ] && suites=test_device_signals
  # shellcheck disable=SC2086
  OSLA_FAKE_NODES=$nodes OSLA_TEST_DEVICE_FAULT=$fault timeout "$JOB_LIMIT" $MPIEXEC -n 2 \
    tests/device/suites $suites >tests/logs/device-fault-$nodes-$fault-$suite.log 2>&1
  status=$?
  if [ $((fault == 0)) = $((status == 0)) ] && [ $status != 124 ]; then
    echo "fault $fault on $nodes nodes ($suites): exit status $status, as expected"
  else
    echo "fault $fault on $nodes nodes ($suites): exit status $status; see tests/logs/device-fault-$nodes-$fault-$suite.log"
    failed=1
  fi
done
exit $failed
