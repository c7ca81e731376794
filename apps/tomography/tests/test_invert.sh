#!/usr/bin/env bash
# `osla invert` as a user runs it: the same numbers and the same model on any number of ranks, nodes
# and grids; reports, files, map, progress line; and a manual page that names every option.
set -u
. "${SRCDIR:?}/apps/tomography/tests/invert_runs.sh"
small=(--mesh 4 --radial 3 --max-paths 200 --cell 45)

# numbers FILE: prints the results that must not depend on the ranks, one in each line
numbers() {
  grep -E '"(misfit_[a-z]+|variance_reduction|dense_threshold_km|knots|correlation|amplitude)":' "$1" |
    tr -d ' ,'
  grep -E '"(resolution_[a-z]+|unknowns|paths|data|stations|events)": [0-9]' "$1" | tr -d ' ,'
}
same_numbers() { # FILE FILE
  paste -d: <(numbers "$1") <(numbers "$2") | awk -F: '
    function size(x) { return x < 0 ? -x : x }
    $1 != $3 || size($2 - $4) > 1e-8 * size($2) || $2 == "" { print; bad = 1 }
    END { exit bad || NR < 20 }' || fail "$label: other numbers"
}

suffix=osla
[ "$HAVE_HDF5" = yes ] && suffix=h5
run 0 node --output "$scratch/first.$suffix" --json "$scratch/first.json"
good
has '^Model +486 unknowns: 162 knots x 3 radial functions to 1000 km$'
has '^Data +200 paths \(40 stations, 40 earthquakes\) x 100 measurements$'
has '^Machine +1 rank \(1 x 1\) x 1 thread, 1 node; about .* of memory per rank$'
has '^Misfit per datum, in variances: [0-9.]+ before, [0-9.]+ after \([0-9.]+ expected'
has '^Variance reduction of the data: 0\.[0-9]+$'
has '^  rays are dense +[0-9]+ +0\.[0-9]+ '
has '^Resolution, mean diagonal of 12 and 12 unknowns .*: 0\.[0-9]+ dense, 0\.[0-9]+ few$'
has '^  factor +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.e+]+ GF/s$'
has '^  whole job +[0-9.]+$'
has "^Report +$scratch/first.json$"
if command -v python3 >/dev/null; then
  python3 -m json.tool "$scratch/first.json" >/dev/null || fail "not JSON"
fi
for key in noise min_distance_degrees seed damping precision bytes_per_rank seconds_wall; do
  grep -q "\"$key\": " "$scratch/first.json" || fail "no $key in the JSON report"
done

# other ranks, nodes and grids
while read -r ranks mode options; do
  # in nodes of one host Open MPI has no windows for several threads
  [ "$MPI_FAMILY" = openmpi ] && [ "$mode" = nolocal ] && options=${options/--progress-thread/}
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" --output "$scratch/other.$suffix" --json "$scratch/other.json" $options
  good
  same_numbers "$scratch/first.json" "$scratch/other.json"
  same_model "$scratch/first.$suffix" "$scratch/other.$suffix" 1e-9
  rm -f "$scratch/other".*
done <<'LIST'
2 node
3 node --grid 3x1 --solver lu
4 node --threads 2 --grid 1x3 --full
4 fake2 --triangle upper --nb 37
2 nolocal
3 nolocal --grid 1x3 --progress-thread
LIST

run 2 node --output "$scratch/plain.osla" --precision float
good
[ "$(head -n 1 "$scratch/plain.osla")" = "OSLA-RESULT 1" ] || fail "not the plain format"
grep -aq '^text precision float$' "$scratch/plain.osla" || fail "no setting in the plain file"
same_model "$scratch/first.$suffix" "$scratch/plain.osla" 1e-3

# --quiet writes nothing; an existing file is replaced
run 2 node --quiet --json "$scratch/first.json" --output "$scratch/plain.osla"
good
[ -s "$scratch/out" ] && fail "$label: something on stdout"
same_model "$scratch/first.$suffix" "$scratch/plain.osla" 1e-9

# --- the map ---
if [ -n "$GNUPLOT" ]; then
  run 2 node --map "$scratch/map.png" --map-depth 300
  good
  has "^Map +$scratch/map.png$"
  [ "$(head -c 8 "$scratch/map.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] ||
    fail "$label: not a PNG"
  rm -f "$scratch/map.png"
fi
mkdir "$scratch/none" "$scratch/files"
if [ "$MPI_FAMILY" = openmpi ]; then # without mpiexec MPI_Init starts this daemon, which searches ssh
  ln -s "$(command -v orted)" "$scratch/none"
  export OMPI_MCA_plm=isolated
fi
label="without gnuplot"
env PATH="$scratch/none" "$OSLA" invert "${small[@]}" --map "$scratch/files/map.png" \
  --output "$scratch/files/m.$suffix" >"$scratch/out" 2>"$scratch/err" </dev/null
status=$?
[ $status = 0 ] || fail "$label: exit status $status"
[ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
grep -q "^osla: no map: .*gnuplot is not installed" "$scratch/err" || fail "$label: which line?"
grep -q '^Map ' "$scratch/out" && fail "$label: the report names a map"
[ "$(ls -A "$scratch/files")" = "m.$suffix" ] || fail "$label: $(ls -A "$scratch/files")"

# --- the progress line appears on a terminal, also through mpiexec, and in none of the runs above
# ---
if command -v script >/dev/null; then
  long="invert --mesh 6 --subset 1 --periods 250"
  for command in "$OSLA $long" "$MPIEXEC -n 2 $OSLA $long"; do
    label="on a terminal: $command"
    timeout "$JOB_LIMIT" script -qec "$command" /dev/null >"$scratch/out" 2>"$scratch/err" </dev/null ||
      fail "$label: exit status $?"
    grep -qaE 'assembling: [0-9]+ / 1570 paths, [0-9]+ paths/s, [0-9.]+ m?s left' "$scratch/out" ||
      fail "$label: no progress line"
    label="with its stderr in a file: $command"
    timeout "$JOB_LIMIT" script -qec "$command 2>$scratch/err" /dev/null >"$scratch/out" </dev/null
    [ -s "$scratch/err" ] && fail "$label: something on stderr"
    grep -qa assembling "$scratch/out" && fail "$label: a progress line"
  done
  label="--quiet on a terminal"
  timeout "$JOB_LIMIT" script -qec "$OSLA $long --quiet" /dev/null >"$scratch/out" 2>"$scratch/err" </dev/null
  [ -s "$scratch/out" ] && fail "$label: not silent"
else
  echo "test_invert: no progress line tested, the command script is not here"
fi

# --- help and manual page name the same options ---
label="help"
"$OSLA" invert --help >"$scratch/out" 2>"$scratch/err"
grep -oE '^ +(-[a-z], +)?--[a-z-]+' "$scratch/out" | grep -oE -- '--[a-z-]+' | sort >"$scratch/help"
sed -n '/^\.SH OPTIONS/,/^\.SH INPUT/p' "$SRCDIR/doc/osla-invert.1" |
  sed 's/\\-/-/g' | awk 'after { print } { after = /^\.TP/ }' | grep -oE -- '--[a-z-]+' |
  sort >"$scratch/man"
diff "$scratch/help" "$scratch/man" >"$scratch/out" || fail "help (<) and manual page (>) differ"
[ "$(wc -l <"$scratch/help")" -gt 30 ] || fail "only $(wc -l <"$scratch/help") options"
exit $failed
