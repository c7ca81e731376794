#!/usr/bin/env bash
# `osla invert --solver lsqr|cg`: the model of the direct solver on any number of ranks, threads and
# nodes; the same bits in each run; a small part of the memory; messages when it does not converge.
set -u
. "${SRCDIR:?}/apps/tomography/tests/invert_runs.sh"
small=(--mesh 4 --radial 3 --max-paths 200 --cell 45)

number() { sed -n "s/^.*\"$1\": *\([-0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
# near KEY FILE FILE RELATIVE: checks that the numbers differ by at most RELATIVE
near() {
  awk -v a="$(number "$1" "$2")" -v b="$(number "$1" "$3")" -v most="$4" 'BEGIN {
    d = a - b; if (d < 0) d = -d; s = a < 0 ? -a : a; exit !(a != "" && b != "" && d <= most * s) }' ||
    fail "$label: $1 is $(number "$1" "$3"), and $(number "$1" "$2") by assembly"
}

suffix=osla
[ "$HAVE_HDF5" = yes ] && suffix=h5
run 2 node --resolution 8 --output "$scratch/first.$suffix" --json "$scratch/first.json"
good
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" --tolerance 1e-12 --output "$scratch/other.$suffix" --json "$scratch/other.json" $options
  good
  same_model "$scratch/first.$suffix" "$scratch/other.$suffix" 1e-6
  for key in misfit_before misfit_after misfit_expected variance_reduction dense_threshold_km; do
    near $key "$scratch/first.json" "$scratch/other.json" 1e-8
  done
  if [[ $options == *--resolution* ]]; then
    near resolution_dense "$scratch/first.json" "$scratch/other.json" 1e-6
    near resolution_sparse "$scratch/first.json" "$scratch/other.json" 1e-6
  else
    grep -q '"resolution_dense": null' "$scratch/other.json" || fail "$label: a resolution nobody asked for"
  fi
  rm -f "$scratch/other".*
done <<'LIST'
1 node --solver lsqr --resolution 8
2 node --solver cg --resolution 8
3 node --solver cg
4 node --solver lsqr --threads 2
4 fake2 --solver lsqr --subset 7
3 nolocal --solver lsqr
LIST

# more ranks than paths or knots
label="one path"
timeout "$JOB_LIMIT" "$MPIEXEC" -n 3 "$OSLA" invert --mesh 1 --radial 1 --max-paths 1 --solver lsqr --tolerance 1e-12 --quiet \
  --output "$scratch/one.$suffix" >"$scratch/out" 2>"$scratch/err" </dev/null || fail "$label: exit status $?"
timeout "$JOB_LIMIT" "$OSLA" invert --mesh 1 --radial 1 --max-paths 1 --resolution 0 --quiet \
  --output "$scratch/direct.$suffix" >"$scratch/out" 2>"$scratch/err" </dev/null || fail "$label: exit status $?"
same_model "$scratch/direct.$suffix" "$scratch/one.$suffix" 1e-6

# the report; the same bits in two runs
run 3 node --solver lsqr --output "$scratch/a.$suffix" --json "$scratch/a.json"
good
has '^Solver +LSQR without assembly: [0-9]+ iterations, [0-9.e-]+ is left \(--tolerance 1e-08\); rows of G in [0-9.]+ KiB$'
has '^  products +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.e+]+ iterations/s$'
has '^  sums +[0-9.]+ +[0-9.]+ +[0-9.]+$'
grep -qE '^Updates|^  (factor|update|commit wait)' "$scratch/out" && fail "$label: speaks of a matrix"
for key in '"solver": "lsqr"' '"iterations": [0-9]' '"left": [0-9]' '"tolerance": ' '"bytes_rows": [0-9]' '"products": {'; do
  grep -q "$key" "$scratch/a.json" || fail "$label: no $key in the JSON report"
done
run 3 node --solver lsqr --threads 2 --output "$scratch/b.$suffix"
good
same_model "$scratch/a.$suffix" "$scratch/b.$suffix" 0

# memory as predicted: at n = 16,008 a twentieth of the direct solver
label="memory"
small=(--mesh 20 --max-paths 50 --resolution 0 --quiet)
run 2 node --solver lsqr --json "$scratch/lsqr.json"
good
# 2 ranks with half the matrix each
awk -v bytes="$(number bytes_per_rank "$scratch/lsqr.json")" -v n="$(number unknowns "$scratch/lsqr.json")" \
  'BEGIN { exit !(n == 16008 && bytes > 0 && 20 * bytes <= n * n * 4) }' ||
  fail "$label: $(number bytes_per_rank "$scratch/lsqr.json") bytes"

# no convergence: one line, no file
small=(--mesh 4 --radial 3 --max-paths 200 --cell 45 --output "$scratch/none.$suffix")
stops() { # PATTERN ARGUMENT...
  local pattern=$1
  shift
  run 2 node "$@"
  [ $status = 1 ] || fail "$label: exit status $status, not 1"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla invert: $pattern\$" "$scratch/err" || fail "$label: stderr is not '$pattern'"
  [ -e "$scratch/none.$suffix" ] && fail "$label: leaves a model"
}
advice='; raise --iterations, --damping or --smoothing'
stops "LSQR has not converged: [0-9.e-]+ is left after 3 iterations, and --tolerance is 1e-08$advice" --solver lsqr --iterations 3
stops "CG has not converged: [0-9.e-]+ is left after 3 iterations, and --tolerance is 1e-08$advice" --solver cg --iterations 3
exit $failed
