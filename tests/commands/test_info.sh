#!/usr/bin/env bash
# `osla info` on several rank counts and node layouts: exit status, key lines, JSON; and with
# defective MPIs, whose defect must be found.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_info: $*"; cat "$scratch/out" "$scratch/err"; failed=1; }

# run RANKS MODE [VARIABLE=VALUE...]: with 0 ranks without mpiexec
run() {
  local ranks=$1 mode=$2 env=()
  shift 2
  label="$ranks ranks, $mode"
  env=($(in_mode "$mode" "$ranks"))
  rm -f "$scratch/info.json"
  local command=("$OSLA" info --limit "${limit:-60}" --json "$scratch/info.json")
  [ "$ranks" = 0 ] || command=("$MPIEXEC" -n "$ranks" env "$@" "${command[@]}")
  timeout "$JOB_LIMIT" env "${env[@]}" "${command[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}
has() { grep -qE -- "$1" "$scratch/out" || fail "$label: no line '$1'"; }

healthy() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s "$scratch/err" ] && fail "$label: something on stderr"
  has '^OSLA [0-9]'
  has '^  MPI +[^ ]'
  has '^  BLAS +[^ ]'
  has '^  shared .* free in /dev/shm \([0-9]+ bytes\)$'
  has '^  ok +fetch-and-add '
  has '^ .* segments are page-aligned'
  has '^OSLA can work here\.$'
  grep -q FAILED "$scratch/out" && [ "$(grep -c FAILED "$scratch/out")" != 1 ] && fail "$label: FAILED"
}
transfers_work() {
  has '^  ok +put '
  has '^  ok +get '
  has '^  ok +put and notify '
  has '^  (ok|no) +alignment '
  has '^  (ok|no) +nested window '
  has '^  (ok|no) +strided get '
  has '^  (ok|no) +shared query '
}

# json RANKS NODES: checks that the file parses and agrees
json() {
  [ -s "$scratch/info.json" ] || fail "$label: no JSON file"
  command -v python3 >/dev/null || return
  python3 - "$scratch/info.json" "$1" "$2" <<'EOT' || fail "$label: JSON"
import json, sys
info = json.load(open(sys.argv[1]))
ranks, nodes = int(sys.argv[2]), int(sys.argv[3])
assert info["works"] is True and info["ranks"] == ranks and len(info["nodes"]) == nodes, info
assert sorted(r for node in info["nodes"] for r in node["ranks"]) == list(range(ranks)), info
assert {t["verdict"] for t in info["tests"]} <= {"ok", "no", "skipped"}, info["tests"]
assert len(info["tests"]) >= 9 and len(info["workarounds"]) >= 9, info
assert (info["speed"]["across_nodes"] is not None) == (nodes > 1), info["speed"]
busy = info["busy_target"]
assert (busy is not None) == (nodes > 1), busy
if busy:
    words = [t["verdict"] for t in info["tests"] if t["name"] == "notify across nodes"]
    late = [busy[key] > 0.3 * busy["target_computes_seconds"] for key in ("notify_seconds", "fetch_add_seconds")]
    assert busy["notify_needs_target"] is late[0] and words == ["no" if any(late) else "ok"], (busy, words)
    assert all(busy[key] > 0 for key in ("get_seconds", "notify_seconds", "fetch_add_seconds")), busy
for speed in info["speed"].values():
    assert speed is None or all(value > 0 for value in speed.values()), speed
EOT
}

for ranks in 0 1; do
  run $ranks node; healthy; json 1 1
  has '^  - +put +needs 2 ranks$'
done
run 2 node; healthy; transfers_work; json 2 1
has '^  node 0: ranks 0-1 on host '
has '^  (ok|no) +passive on node '
has '^  - +passive across nodes +needs 2 nodes'
has '^  - +notify across nodes +needs 2 nodes$'
has '^  on the node +[0-9]'
if grep -q 'MPICH.*ucx' "$scratch/out"; then # it warns of settings for transports that are not used
  run 2 node UCX_TLS=self,sm; healthy
  grep -qh 'UCX  WARN' "$scratch/out" "$scratch/err" && fail "$label: a warning of UCX's"
fi
run 4 node; healthy; transfers_work; json 4 1
run 4 fake2; healthy; transfers_work; json 4 2
has '^  node 1: ranks 2-3 on host '
has '^  (ok|no) +passive across nodes '
has '^  (ok|no) +notify across nodes +(while the target computes a notify takes|a notify took) [0-9.]+ (u|m)?s,'
has '^  across nodes +[0-9]'
run 3 nolocal; healthy; transfers_work; json 3 3
has '^  - +passive on node +needs 2 ranks on one node'

# osla info tests devices only if OSLA_DEVICE names their kind. It does not fail if the kind is
# unknown or if no device of the kind can be opened.
run 1 node; healthy
has '^  not tested: set OSLA_DEVICE=cuda '
grep -q '"devices": null' "$scratch/info.json" || fail "$label: JSON of devices"
devices_work() {
  healthy
  has '^Devices +\(fake; rank 0 sees 4\)$'
  has '^  device 3 +fake device, '
  for name in copies BLAS Cholesky LU; do has "^  ok +device $name "; done
}
run 1 node OSLA_DEVICE=fake; devices_work
has '^  - +device to device +needs 2 ranks$'
run 2 node OSLA_DEVICE=fake; devices_work; json 2 1
has '^  ok +device to device '
python3 - "$scratch/info.json" <<'EOT' || fail "$label: JSON of devices"
import json, sys
found = json.load(open(sys.argv[1]))["devices"]
assert found["kind"] == "fake" and found["count"] == len(found["devices"]) == 4 and found["failure"] == "", found
EOT
run 4 node OSLA_DEVICE=fake; devices_work
has '^  ok +device to device '
run 1 node OSLA_DEVICE=fake OSLA_FAKE_DEVICE_BYTES=67108864; devices_work
has '^  device 3 +fake device, 64 MiB for each rank$'
run 1 node OSLA_DEVICE=fake OSLA_FAKE_DEVICE_BYTES=-1; healthy
has '^  not tested +OSLA_FAKE_DEVICE_BYTES=-1: must be a number$'
run 2 node OSLA_DEVICE=tpu; healthy
has '^  not tested +device "tpu": the kind must be fake or cuda$'
run 2 node OSLA_DEVICE=cuda CUDA_VISIBLE_DEVICES= # CUDA then hides all GPUs
[ $status = 0 ] || fail "$label, cuda: exit status $status, not 0"
has '^  not tested +device "cuda": '

# osla info must fail if a device gives wrong results. The faults of src/device/device.h that are
# planted here cause wrong results: notifies (1), collective calls (2) or copies to the host (4) do
# not wait for the work on the device.
for fault in 1 2 4; do
  timeout "$JOB_LIMIT" env OSLA_DEVICE=fake "$MPIEXEC" -n 2 "$BUILDDIR/tests/commands/osla_device_fault" $fault \
    info >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$? label="planted fault $fault of a device"
  [ $status = 1 ] || fail "$label: exit status $status, not 1"
  has '^  FAILED +device '
  [ "$(grep -c '^osla info: FAILED: device ' "$scratch/err")" = 1 ] || fail "$label: no error line"
done

# Prediction of the memory of a job: nothing runs; each wrong number gives one line.
predict() {
  timeout "$JOB_LIMIT" "$OSLA" info --predict "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  label="--predict $*"
}
predict --ranks 10000 --per-node 128 --n 1000000 --json "$scratch/predict.json"
[ $status = 0 ] && [ ! -s "$scratch/err" ] || fail "$label: exit status $status"
for name in matrix 'symmetric matrix, lower triangle' gemm LU 'Cholesky, full matrix' 'Cholesky, lower triangle' solve accumulator drop-in 'page tables'; do
  has "^$name.* (bytes|[KMG]iB) +[0-9.]+ ([KMGT]iB|bytes)\$"
done
python3 - "$scratch/predict.json" <<'EOT' || fail "$label: JSON"
import json, sys
p = json.load(open(sys.argv[1]))
matrix = p["matrix"]["rank_bytes"]
assert p["grid"] == [100, 100] and 1.0 <= matrix / (8e12 / 10000) < 1.05, p
assert 0.5 <= p["triangle"]["rank_bytes"] / matrix < 0.53, p
assert 0 < p["cholesky_triangle"]["rank_bytes"] < p["cholesky"]["rank_bytes"], p
assert all(p[k]["node_bytes"] == 128 * p[k]["rank_bytes"] > 0 for k in ("lu", "cholesky", "solve", "accumulator")), p
EOT
while read -r text options; do
  predict $options
  [ $status = 2 ] && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -qF -- "$text" "$scratch/err" ||
    fail "$label: exit status $status, not one line with $text"
done <<'EOT'
0 --ranks 0 --per-node 1 --n 5
-4 --ranks -4 --per-node 1 --n 5
5 --ranks 4 --per-node 5 --n 5
0 --ranks 4 --per-node 0 --n 5
-3 --ranks 4 --per-node 2 --n -3
4000000000 --ranks 4 --per-node 2 --n 4000000000
99999999999999999999 --ranks 4 --per-node 2 --n 99999999999999999999
0 --ranks 4 --per-node 2 --n 5 --nb 0
--per-node --ranks 4 --n 5
EOT
timeout "$JOB_LIMIT" "$OSLA" info --ranks 4 >"$scratch/out" 2>"$scratch/err" </dev/null
[ $? = 2 ] && grep -q '^osla info: --ranks requires --predict$' "$scratch/err" || fail "--ranks alone"

# A preloaded library must not precede the sanitizer's.
if [ "$SANITIZERS" = no ]; then
  read -ra compiler <<<"$CC"
  if "${compiler[@]}" -shared -fPIC -o "$scratch/broken.so" "$SRCDIR/tests/commands/broken_mpi.c"; then
    run 2 nolocal LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=none; healthy
    run 2 nolocal LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=put
    [ $status = 1 ] || fail "$label, lost puts: exit status $status, not 1"
    has '^  FAILED +put +rank . to rank .: byte 29 of [0-9]+ is wrong$'
    has "^OSLA cannot work here: 'put' failed\.$"
    [ "$(grep -c '^osla info: FAILED: put: rank' "$scratch/err")" = 1 ] || fail "$label: no error line"
    limit=3 run 2 nolocal LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=hang
    [ $status != 0 ] && [ $status != 124 ] || fail "$label, hanging flush: exit status $status"
    grep -q "^osla info: FAILED: the test 'put' did not end within 3 s$" "$scratch/err" ||
      fail "$label: no error line"
    # Without windows every command reports this at once, with advice.
    for fault in window separate; do
      case $fault in
        window) text='this MPI gives no window \(MPI_Win_create: .*\): try .*' ;;
        separate) text='this MPI keeps .* apart \(not MPI_WIN_UNIFIED\), so that .*: try .*' ;;
      esac
      run 2 nolocal LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=$fault
      [ $status = 1 ] || fail "$label, $fault: exit status $status, not 1"
      has '^  FAILED +segment +this MPI '
      [ "$(grep -c FAILED "$scratch/out")" = 2 ] || fail "$label, $fault: more has failed"
      grep -qE "^osla info: FAILED: segment: $text$" "$scratch/err" || fail "$label, $fault: no error line"
      timeout "$JOB_LIMIT" env $(in_mode nolocal 2) "$MPIEXEC" -n 2 env LD_PRELOAD="$scratch/broken.so" \
        BROKEN_MPI=$fault "$BUILDDIR/bench/osla-bench" chol --n 100 --ref none >"$scratch/out" 2>"$scratch/err"
      status=$?
      [ $status = 2 ] || fail "osla-bench, $fault: exit status $status, not 2"
      [ "$(wc -l <"$scratch/err")" = 1 ] && grep -qE "^osla-bench chol: $text$" "$scratch/err" ||
        fail "osla-bench, $fault: not the one line"
    done
    # A message cannot be sent while another one is on its way to the failing rank: no rank waits
    # for ever.
    timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 env OSLA_SPARSE_FROM=1 LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=letters \
      "$BUILDDIR/bench/osla-bench" forest --case gather --n 8 --ref none >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status != 0 ] && [ $status != 124 ] || fail "osla-bench, letters: exit status $status"
    [ "$(grep -c '^osla\[' "$scratch/err")" = 1 ] &&
      grep -qE '^osla\[1\]: MPI error: an exchange of letters: .*; ending all ranks$' "$scratch/err" ||
      fail "osla-bench, letters: not the one line"
    run 2 node LD_PRELOAD="$scratch/broken.so" BROKEN_MPI=none; healthy # one node needs no windows
  else
    fail "cannot build the MPI with a fault"
  fi
fi
exit $failed
