#!/usr/bin/env bash
# Bad input of `osla invert`: exactly one line on stderr that names file, line and value, the exit
# status, and no remaining file; on one rank, under mpiexec and on two fake nodes.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_invert_errors: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }
mkdir "$scratch/in" "$scratch/work"
in=$scratch/in
without=

# words_of ARGUMENT...: sets label, and `words` to the command with all outputs except $without.
# No option is given twice, because popt would leak the first text, which the sanitizer reports.
words_of() {
  local outputs=()
  label="$* ($place)"
  [[ " $* " == *" --output "* ]] || outputs+=(--output m.osla)
  [[ " $* $without " == *" --map "* ]] || outputs+=(--map m.png)
  [[ " $* " == *" --json "* ]] || outputs+=(--json m.json)
  words=(invert --mesh 3 --radial 2 --max-paths 50 "${outputs[@]}" "$@")
}

# run ARGUMENT...: runs the command as a job in an empty folder; $place is "RANKS MODE", 0 ranks:
# without mpiexec
run() {
  local command
  words_of "$@"
  command=("$OSLA" "${words[@]}")
  [ "${place% *}" = 0 ] || command=("$MPIEXEC" -n "${place% *}" "${command[@]}")
  # shellcheck disable=SC2046 # words
  (cd "$scratch/work" && TMPDIR=$scratch/work timeout "$JOB_LIMIT" env $(in_mode "${place#* }" "${place% *}") "${command[@]}") \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}

# run_here ARGUMENT...: runs the command in a persistent process
run_here() {
  words_of "$@"
  # shellcheck disable=SC2086 # two words
  run_line $place "$scratch/work" "$scratch/out" "$scratch/err" "TMPDIR=$scratch/work" ${setting:+"$setting"} "${words[@]}"
}

# judge STATUS PATTERN: checks the exit status and the one line on stderr
judge() {
  [ $status = "$1" ] || fail "$label: exit status $status, not $1"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla invert: $2\$" "$scratch/err" || fail "$label: stderr is not '$2'"
  [ -s "$scratch/out" ] && fail "$label: something on stdout"
  [ -z "$(ls -A "$scratch/work")" ] || fail "$label: leaves $(ls -A "$scratch/work")"
  rm -rf "$scratch/work"; mkdir "$scratch/work"
}

place="0 node" setting=
bad() { # PATTERN ARGUMENT...: status 2, alone
  local pattern=$1
  shift
  run_here "$@"
  judge 2 "$pattern"
}
# everywhere RUN STATUS PATTERN ARGUMENT...: also on 3 ranks and on 2 fake nodes of 2
everywhere() {
  local way=$1 expected=$2 pattern=$3
  shift 3
  for place in "3 node" "4 fake2" "0 node"; do
    "$way" "$@"
    judge "$expected" "$pattern"
  done
}
bad_everywhere() { everywhere run_here "$@"; }
bad_jobs() { everywhere run "$@"; } # runs separate jobs, once for each exit path

# --- files ---
csv() { printf 'latitude,longitude,depth_km\n%s\n' "$1" >"$in/$2"; }
printf 'AAA XX 10.0 20.0 0 0\nBBB XX 91.5 20.0 0 0\n' >"$in/latitude"
printf 'AAA XX 10.0 20.0 0 0\nBBB XX nan 20.0 0 0\n' >"$in/nan"
printf 'AAA XX 10.0 20.0 0 0\n\nBBB XX\n' >"$in/short"
printf 'AAA XX 10.0 20.0 0 0\nBBB XX 10.0 20.0 0 0\n' >"$in/same"
: >"$in/empty"
csv 10,20,10 same.csv
csv 10,abc,10 malformed.csv
csv 10,20 fields.csv
csv 10,20,inf depth.csv
csv -90.01,20,10 latitude.csv
printf 'a,b\n1,2\n' >"$in/header.csv"

bad_jobs 2 "$in/absent: No such file or directory" --stations "$in/absent"
bad_everywhere 2 "$in/malformed.csv:2: longitude .*abc.*" --events "$in/malformed.csv"
bad_everywhere 2 "$in/latitude:2: latitude .*91\.5.*" --stations "$in/latitude"
bad_everywhere 2 "no usable path: none of 2 station-event pairs is between 10 and 170 degrees apart" \
  --stations "$in/same" --events "$in/same.csv"
bad "$in/absent.csv: No such file or directory" --events "$in/absent.csv"
bad "$in/nan:2: latitude .*nan.*" --stations "$in/nan"
bad "$in/short:3: .*" --stations "$in/short"
bad "$in/empty: .*" --stations "$in/empty"
bad "$in/fields.csv:2: .*2.*3.*" --events "$in/fields.csv"
bad "$in/depth.csv:2: depth.*inf.*" --events "$in/depth.csv"
bad "$in/latitude.csv:2: latitude .*-90\.01.*" --events "$in/latitude.csv"
bad "$in/header.csv:1: .*" --events "$in/header.csv"
bad "$in: .*" --stations "$in"
mkfifo "$in/pipe" # has no writer
bad "$in/pipe: is not a regular file" --data "$in/pipe"
bad "$in/pipe: is not a regular file" --prior "$in/pipe"
cp -r "$SRCDIR/data" "$in/shipped"
setting=OSLA_DATA=$in/shipped
bad "--output: $in/shipped/prem.txt is also the file of --reference $in/shipped/prem.txt" \
  --data "$SRCDIR/doc/example_data.csv" --output "$in/shipped/prem.txt"
setting=
printf 'latitude,longitude\n10,20\n11,21\n' >"$in/nameless.csv"
bad "--write-data: the station at 10, 20 has no code, which --data needs" \
  --stations "$in/nameless.csv" --write-data d.csv
printf 'AAA XX 10.0 20.0 0 0\nAAA XX 12.0 20.0 0 0\n' >"$in/twice"
bad "--write-data: XX.AAA is the code of several stations, which --data could not tell apart" \
  --stations "$in/twice" --write-data d.csv
printf 'latitude,longitude,depth_km,id\n50,20,10,2\n55,20,10,\n' >"$in/numbered.csv"
bad "--write-data: the earthquake at 55, 20 has no id, and its number is the id of another" \
  --events "$in/numbered.csv" --write-data d.csv

# --- options ---
bad_jobs 2 "--damping: -1 is negative" --damping -1
bad_everywhere 2 "--solver: 'qr' is none of cholesky, lu, lsqr, cg" --solver qr
bad "--tolerance: 0 is not a positive number" --tolerance 0 --solver lsqr
bad "--iterations: 0 is outside 1 to [0-9]+" --iterations 0 --solver cg
bad "--resolution: -1 is outside 0 to 4096" --resolution=-1 --solver cg
without="needs an assembled matrix, and --solver lsqr has none"
bad_everywhere 2 "--checkpoint $without" --solver lsqr --checkpoint c.h5
bad "--reproducible $without" --solver lsqr --reproducible
bad "--bound $without" --solver lsqr --bound 7
bad "--precision float $without" --solver lsqr --precision float
bad "--triangle upper $without" --solver lsqr --triangle upper
bad "--full $without" --solver lsqr --full
bad "--grid $without" --solver lsqr --grid 1x1
bad "--nb $without" --solver lsqr --nb 64
bad "--damping: nan is not a number" --damping nan
bad "--damping: inf is not finite" --damping=inf
bad "--smoothing: -0.5 is negative" --smoothing -0.5
bad "--radial-smoothing: -2 is negative" --radial-smoothing -2
bad "--noise: nan is not a number" --noise nan
bad "--interval: -1 is negative" --interval -1
bad "--checkpoint: c.h5 is also the file of --output c.h5" --checkpoint c.h5 --output c.h5
bad "--max-distance: 20 is not between --min-distance 30 and 180" --min-distance 30 --max-distance 20
bad "--max-distance: nan is not between --min-distance 10 and 180" --max-distance nan
bad "--frobnicate: unknown option \(see osla invert --help\)" --frobnicate
bad "'stray' is not an option \(see osla invert --help\)" stray
bad "--mesh: 'ten' is not a number" --mesh ten
bad "--mesh: 0 is outside 1 to 512" --mesh 0
bad "--nb: '010' begins with 0: remove the zero" --nb 010
bad "--nb: '-08' begins with 0: remove the zero" --nb=-08
bad "--tolerance requires --solver lsqr or cg" --tolerance 1e-3
bad "--iterations requires --solver lsqr or cg" --iterations 5
bad "--radial: 65 is outside 1 to 64" --radial 65
bad "--depth: 7000 km is below 6371" --depth 7000
bad "--period-min: 0.5 is outside 1 to 10000 s" --period-min 0.5
bad "--period-max: 30 is not between --period-min 40 and 10000 s" --period-max 30
bad "--map-depth: 400 km is below the model's lower end, --depth 300" --map-depth 400 --depth 300
without=--map
bad "--map-depth requires --map, --report or --test spike" --map-depth 200
without=
bad "--max-paths: -1 is outside 0 to [0-9]+" --max-paths -1
bad "--seed: -1 is outside 0 to [0-9]+" --seed -1
bad "--precision: 'half' is neither double nor float" --precision half
bad "--grid: 'square' is not a grid such as 2x3" --grid square
bad "--map: m.osla is also the file of --output m.osla" --map m.osla
place="4 fake2"
run_here --grid 3x2
judge 2 "--grid: 3 x 2 is 6 processes, but there are 4 ranks"
place="0 node"

# --- output ---
bad_everywhere 2 "$scratch/absent/m.osla: directory $scratch/absent: No such file or directory" \
  --output "$scratch/absent/m.osla"
bad "$scratch/absent/m.png: directory .*" --map "$scratch/absent/m.png"
bad "$scratch/absent/m.json: directory .*" --json "$scratch/absent/m.json"
bad "$in: exists and is not a regular file" --output "$in"
mkdir "$scratch/locked"
chmod 555 "$scratch/locked"
if [ -w "$scratch/locked" ]; then
  echo "test_invert_errors: this user may write everywhere: a folder without permission is not tested"
else
  bad "$scratch/locked/m.osla: directory .*Permission denied" --output "$scratch/locked/m.osla"
fi

# --- sizes that do not fit are rejected before any allocation, hence at once ---
needs='[0-9]+ unknowns do not fit: [0-9]+ bytes are needed on a node, but only [0-9]+ bytes'
start=$SECONDS
bad_everywhere 2 "$needs of memory are available" --mesh 300
[ $((SECONDS - start)) -lt 30 ] || fail "$label: three times took $((SECONDS - start)) s"
bad "$needs of memory are available" --mesh 512 --radial 64
if unshare -m mount -t tmpfs -o size=100m tmpfs /dev/shm 2>/dev/null; then
  label="/dev/shm too small"
  (cd "$scratch/work" && timeout "$JOB_LIMIT" unshare -m sh -c 'mount -t tmpfs -o size=100m tmpfs /dev/shm &&
    OSLA_SHARED_MEMORY=mpi exec "$@"' sh "$MPIEXEC" -n 2 "$OSLA" invert --mesh 12 --output m.osla) \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  judge 2 "5768 unknowns do not fit: [0-9]+ bytes are needed on a node, but only [0-9]+ bytes are free in /dev/shm .*"
else
  echo "test_invert_errors: mounts are not permitted: a small /dev/shm is not tested"
fi

# --- the work fails although the input is correct: status 1 ---
none=(--damping 0 --smoothing 0 --radial-smoothing 0)
bad_jobs 1 "the Hessian is not positive definite \(leading minor of order [0-9]+\): raise --damping or --smoothing" \
  "${none[@]}"
place="2 node"
run "${none[@]}" --solver lu --precision float
judge 1 "the Hessian is not positive definite .*, or use --precision double"
end_lines || failed=1
exit $failed
