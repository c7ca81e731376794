#!/usr/bin/env bash
# `osla invert` with --posterior, --spread, --scan, --choose and --prior: the same numbers on any
# number of ranks and nodes; table, JSON, result file, picture; a posterior as the next prior;
# messages for bad options and files.
set -u
. "${SRCDIR:?}/apps/tomography/tests/invert_runs.sh"
small=(--mesh 4 --radial 3 --max-paths 200 --cell 45 --resolution 0)

# Prints numbers of the JSON report that do not depend on the ranks.
numbers() {
  grep -E '"(trace|deviation_[a-z]+|resolution|spread_[a-z_]+|unknown|misfit|norm|freedom|freedom_error|gcv|gcv_error|corner|least_gcv)": [0-9]' "$1" |
    tr -d ' ,'
}
same_numbers() { # FILE FILE TOLERANCE
  paste -d: <(numbers "$1") <(numbers "$2") | awk -F: -v most="$3" '
    function size(x) { return x < 0 ? -x : x }
    $1 != $3 || size($2 - $4) > most * size($2) || $2 == "" { print; bad = 1 }
    END { exit bad || NR < 40 }' || fail "$label: other numbers"
}

suffix=osla
[ "$HAVE_HDF5" = yes ] && suffix=h5
all=(--posterior --spread "40,20,100;-30,-150,900" --scan damping=0.01:100:5,vectors=5)
run 0 node "${all[@]}" --output "$scratch/first.$suffix" --json "$scratch/first.json"
good
has '^Forecast +at [0-9.]+ GF/s of all ranks: 5 factorisations of a scan about .*, the model.s .*, its inverse .*; together .*$'
has '^Forecast +the factorisation took .*: the inverse will take about .*$'
has '^Posterior: standard deviation [0-9.]+ \(least\), [0-9.]+ \(median\), [0-9.]+ \(mean\), [0-9.]+ \(most\) percent$'
has '^Degrees of freedom: [0-9.]+ of 486 unknowns'
[ "$(grep -cE '^ +-?[0-9.]+ +-?[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+$' "$scratch/out")" = 2 ] ||
  fail "$label: not two rows"
[ "$(grep -cE '^ +[0-9.]+ +0\.5 +[0-9.]+ +[0-9.]+ +[0-9.]+ \+- [0-9.]+ +[0-9.]+ \+- [0-9.e-]+( |$)' "$scratch/out")" = 5 ] ||
  fail "$label: not five priors"
has "^  The model's prior: damping 0\\.05, smoothing 0\\.5\$"
has '^  inverse +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.e+]+ GF/s$'
has '^  scan +[0-9.]+ +[0-9.]+ +[0-9.]+$'
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" "${all[@]}" --json "$scratch/other.json" $options
  good
  same_numbers "$scratch/first.json" "$scratch/other.json" 1e-7
done <<'LIST'
2 node --nb 40
3 node --triangle upper
2 node --inverse columns
4 fake2 --threads 2
LIST

# A scan without assembly must give equal results.
run 3 node --scan damping=0.01:100:5,vectors=5 --solver lsqr --tolerance 1e-12 --json "$scratch/lsqr.json"
good
paste -d: <(numbers "$scratch/first.json" | grep -E 'misfit|norm|freedom|gcv') <(numbers "$scratch/lsqr.json" | grep -E 'misfit|norm|freedom|gcv') |
  awk -F: '{ d = $2 - $4; if (d < 0) d = -d } $1 != $3 || d > 1e-5 * $2 || $2 == "" { print; bad = 1 }
    END { exit bad || NR < 30 }' || fail "$label: other numbers"

# a chosen prior gives the same model as the same prior given by options
run 2 node --scan damping=0.01:100:5 --choose gcv --output "$scratch/chosen.$suffix" --json "$scratch/chosen.json"
good
has "^  The model's prior: damping [0-9.]+, smoothing 0\\.5\$"
grep -q '"chosen": "gcv"' "$scratch/chosen.json" || fail "$label: the JSON report does not say what was chosen"
damping=$(sed -n "s/^  The model's prior: damping \\([0-9.]*\\), .*/\\1/p" "$scratch/out")
[ "$damping" = 0.05 ] && fail "$label: the prior of the scan is the default"
run 2 node --damping "$damping" --output "$scratch/given.$suffix"
good
"$BUILDDIR/apps/tomography/tests/result_diff" "$scratch/given.$suffix" "$scratch/chosen.$suffix" 1e-9 || fail "$label: another model"

# the picture
if [ -n "$GNUPLOT" ]; then
  run 1 node --scan damping=0.01:10:4,smoothing=0.1:1:3,vectors=2 --scan-plot "$scratch/scan.png"
  good
  [ "$(head -c 8 "$scratch/scan.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$label: not a PNG"
fi

# priors from files: layers with the values of the defaults; the posterior of a job
printf 'depth_top_km,depth_bottom_km,sigma_percent\n0,400,4.472135955\n400,1000,4.472135955\n' >"$scratch/layers.csv"
run 2 node --output "$scratch/default.$suffix"
good
run 3 node --prior "$scratch/layers.csv" --output "$scratch/layers.$suffix"
good
"$BUILDDIR/apps/tomography/tests/result_diff" "$scratch/default.$suffix" "$scratch/layers.$suffix" 1e-8 || fail "$label: another model"
printf 'top,bottom,sigma,smoothing\n0,400,10,1\n400,1000,0.2,1\n' >"$scratch/deep.csv"
run 2 node --prior "$scratch/deep.csv" --posterior --damping 1 --json "$scratch/deep.json"
good
grep -q "\"file\": \"$scratch/deep.csv\"" "$scratch/deep.json" || fail "$label: no file in the JSON report"
run 2 node --prior "$scratch/first.$suffix" --posterior --solver cholesky
good
less=$(sed -n 's/^Posterior: .*, \([0-9.]*\) (most) percent$/\1/p' "$scratch/out")
awk -v x="$less" 'BEGIN { exit !(x > 0 && x < 3) }' || fail "$label: a posterior that is not below its prior: '$less'"

# bad options and files: one line, nothing written
refuse() { # RUN PATTERN ARGUMENT...
  local pattern=$2
  "$1" 0 node "${@:3}" --output "$scratch/none.$suffix"
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla invert: $pattern\$" "$scratch/err" || fail "$label: stderr is not '$pattern'"
  [ -e "$scratch/none.$suffix" ] && fail "$label: leaves a model"
}
bad() { refuse here "$@"; }
refuse run '--posterior needs an assembled matrix: use --solver cholesky or lu, not lsqr' --posterior --solver lsqr
bad '--spread needs an assembled matrix: use --solver cholesky or lu, not cg' --spread 1,2,3 --solver cg
bad "--inverse in-place requires --solver cholesky" --posterior --inverse in-place --solver lu
bad "--inverse: 'none' is neither in-place nor columns" --posterior --inverse none
bad '--inverse requires --posterior' --inverse columns
bad '--choose requires --scan' --choose gcv
bad '--scan-plot requires --scan' --scan-plot "$scratch/none.png"
bad "--choose: 'best' is neither corner nor gcv" --scan damping=1:2:3 --choose best
bad "--scan: 'colour' is none of damping=A:B:N, smoothing=A:B:N, vectors=K" --scan colour=1:2:3
bad "--scan: 'damping' is none of damping=A:B:N, smoothing=A:B:N, vectors=K" --scan damping
bad '--scan: damping needs A:B:N, N values from A to B' --scan damping=1:2
bad '--scan: damping is given twice' --scan damping=1:2:3,damping=1:2:3
bad "--scan: 'x' is not a number" --scan damping=x:2:3
bad "--scan: 'nan' is not a number" --scan damping=nan:2:3
bad "--scan: '2' is not a whole number from 3 to 1000" --scan damping=1:2:2
bad "--scan: '3.5' is not a whole number from 3 to 1000" --scan damping=1:2:3.5
bad '--scan: smoothing from 2 to 1: both must be positive, the first the smaller' --scan smoothing=2:1:4
bad '--scan: damping from 0 to 1: both must be positive, the first the smaller' --scan damping=0:1:4
bad '--scan: 100 x 100 priors are more than 1000' --scan damping=1:2:100,smoothing=1:2:100
bad '--scan needs damping=A:B:N or smoothing=A:B:N' --scan vectors=7
bad "--scan: '1' is not a whole number from 2 to 1024" --scan damping=1:2:3,vectors=1
bad '--spread: latitude 91 is outside -90 to 90' --spread 1,2,3\;91,2,3
bad '--spread: depth 1001 is outside 0 to 1000' --spread 1,2,3\;1,2,1001
bad "--spread: '1' has no depth; write LAT,LON,DEPTH" --spread 1,2
bad "--spread: unexpected '4' after LAT,LON,DEPTH" --spread 1,2,3,4
bad "--spread: '' is not a number" --spread '1,2,3;'
bad '--spread: more than 64 points' --spread "$(printf '1,2,3;%.0s' {1..64})4,5,6"
bad "$scratch/none.csv: No such file or directory" --prior "$scratch/none.csv"
printf 'top,bottom,sigma\n0,400,10\n300,1000,-2\n' >"$scratch/bad.csv"
bad "$scratch/bad.csv:3: sigma_percent -2 is outside 1e-06 to 1e\\+06" --prior "$scratch/bad.csv"
printf 'top,bottom,sigma\n0,400,10\n' >"$scratch/bad.csv"
bad "$scratch/bad.csv: no layer holds the radial function at 500 km" --prior "$scratch/bad.csv"
bad "$scratch/default.$suffix: .*deviation.*" --prior "$scratch/default.$suffix"
end_lines || failed=1
exit $failed
