#!/usr/bin/env bash
# `osla invert --data` as a user runs it: the example's data give the model of the test that made
# them, on any number of ranks, by each solver; the commands of the guide; rejected tables.
set -u
. "${SRCDIR:?}/apps/tomography/tests/invert_runs.sh"
example=$SRCDIR/doc/example_data.csv guide=$SRCDIR/doc/measurements.md
model=(--mesh 6 --radial 3 --resolution 0)

bad() { # PATTERN
  refused "$1"
  [ -e "$scratch/none.osla" ] && fail "$label: a model"
}

# --- the example is made by the command of the guide, and its model is that of the test ---
made=$(sed -n 's/^build\/osla invert \(.*\) --write-data data.csv$/\1/p' "$guide")
[ -n "$made" ] || fail "the guide has no command for the example"
# shellcheck disable=SC2086 # words
run 0 node $made --resolution 0 --write-data "$scratch/data.csv" --output "$scratch/test.osla"
good
awk -F, 'NR == FNR { line[FNR] = $0; next }
  { n = split(line[FNR], other, ","); bad += n != NF
    for (i = 1; i <= NF; i++) { d = $i - other[i]; s = $i < 0 ? -$i : $i
      bad += $i ~ /^[-0-9.]+$/ ? (d < 0 ? -d : d) > 1e-5 * (s + 1) : $i != other[i] } }
  END { exit bad || FNR < 3000 }' "$example" "$scratch/data.csv" || fail "$label: not the example"
run 2 node "${model[@]}" --data "$example" --output "$scratch/first.osla" --json "$scratch/first.json"
good
same_model "$scratch/test.osla" "$scratch/first.osla" 1e-4
has '^Data +300 paths \(40 stations, 40 earthquakes\), 3600 measurements of 12 kinds$'
has '^Reference  .*/prem\.txt$'
has '^  rayleigh phase, branch 1 +50 to 100 +900 +[0-9.]+ +[0-9.]+$'
grep -q 'True model found' "$scratch/out" && fail "$label: it knows a true model"
grep -q '"reference_made": "osla reference --model prem' "$scratch/first.json" ||
  fail "$label: the JSON report does not say how the reference was made"
grep -q '"test": null' "$scratch/first.json" || fail "$label: a test in the JSON report"
[ "$(grep -c '"misfit_before"' "$scratch/first.json")" = 13 ] || fail "$label: not 12 fits"
while read -r ranks mode options; do
  # shellcheck disable=SC2086
  run "$ranks" "$mode" "${model[@]}" --data "$example" --output "$scratch/other.osla" $options
  good
  same_model "$scratch/first.osla" "$scratch/other.osla" 1e-6
done <<'LIST'
1 node --threads 3
3 node --solver lsqr --tolerance 1e-12
4 fake2 --solver lu
2 nolocal --solver cg --tolerance 1e-12
4 node --reproducible
LIST

# --- other commands of the guide ---
while read -r line; do
  label=$line
  words=${line#*build/osla }
  # shellcheck disable=SC2086
  (cd "$scratch" && timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$OSLA" ${words//doc\/example_data.csv/$example}) \
    >"$scratch/out" 2>"$scratch/err" </dev/null || fail "$label: exit status $?"
  [ -s "$scratch/err" ] && fail "$label: something on stderr"
done < <(grep '^mpiexec.mpich .*build/osla' "$guide")
[ -s "$scratch/spike.h5" ] || fail "the guide's commands leave no spike.h5"

# --- outliers ---
awk -F, -v OFS=, '/^(#|event)/ { print; next } { $9 = $9 + (NR % 97 == 5 ? $7 : 0); print }' "$example" >"$scratch/wild.csv"
run 3 node "${model[@]}" --data "$scratch/wild.csv" --robust --json "$scratch/wild.json"
good
has '^Outliers +[0-9]+ data beyond 3 deviations .*, 3[0-9] cycle skips are left out'
grep -qE '"cycle_skips": 3[0-9]' "$scratch/wild.json" || fail "$label: cycle skips in the JSON report"

# --- a checkpoint is valid only for its data ---
if [ "$HAVE_HDF5" = yes ]; then
  run 2 node "${model[@]}" --data "$example" --checkpoint "$scratch/c.h5" --keep-checkpoint
  good
  run 2 node "${model[@]}" --data "$example" --checkpoint "$scratch/c.h5" --keep-checkpoint --output "$scratch/other.osla"
  grep -q 'resumed from' "$scratch/err" "$scratch/out" || fail "$label: it begins anew"
  [ $status = 0 ] || fail "$label: exit status $status"
  same_model "$scratch/first.osla" "$scratch/other.osla" 1e-6
  run 2 node "${model[@]}" --data "$scratch/wild.csv" --checkpoint "$scratch/c.h5" --output "$scratch/none.osla"
  [ $status = 2 ] || fail "$label: a checkpoint of other data is taken"
  run 2 node "${model[@]}" --test spike --spike-at 0,20 --checkpoint "$scratch/s.h5" --keep-checkpoint
  good
  run 2 node "${model[@]}" --test spike --spike-at 40,-110 --checkpoint "$scratch/s.h5" --output "$scratch/none.osla"
  [ $status = 2 ] || fail "$label: a checkpoint of other spikes is taken"
fi

# --- rows that match no entry, and wrong rows ---
head -n 100 "$example" >"$scratch/part.csv"
for i in 1 2 3; do echo "nobody$i,II,AAK,rayleigh,phase,0,40,minor,1,2"; done >>"$scratch/part.csv"
tr , ';' <"$scratch/part.csv" >"$scratch/semicolons.csv"
run 3 node "${model[@]}" --data "$scratch/semicolons.csv" --json "$scratch/part.json"
good
has '^Not used +3 of 101 measurements:$'
has "^ +$scratch/semicolons.csv:101: event nobody1 is not on the list$"
grep -q '"unmatched": 3' "$scratch/part.json" || fail "$label: unmatched in the JSON report"
for place in "0 node" "3 node" "4 fake2"; do
  head -n 5 "$example" | sed '5s/,[^,]*$/,-2/' >"$scratch/sigma.csv"
  # shellcheck disable=SC2086
  here $place "${model[@]}" --data "$scratch/sigma.csv" --output "$scratch/none.osla"
  bad "$scratch/sigma.csv:5: column sigma: -2 is not positive"
  head -n 5 "$example" | sed '4s/,0,[0-9.]*,minor/,0,2000,minor/' >"$scratch/period.csv"
  # shellcheck disable=SC2086
  here $place "${model[@]}" --data "$scratch/period.csv" --output "$scratch/none.osla"
  bad "$scratch/period.csv:4: column period_s: .*2000 s: .*covers 25 to 300 s"
done
here 0 node --data "$scratch/nothing.csv" --output "$scratch/none.osla"
bad "$scratch/nothing.csv: No such file or directory"
tr , ' ' <"$example" >"$scratch/blanks.csv"
here 0 node --data "$scratch/blanks.csv" --output "$scratch/none.osla"
bad "$scratch/blanks.csv:2: the header is one field, .*: fields are separated by commas, semicolons, tabs or \|"
here 0 node --data "$example" -d "$scratch/part.csv" --output "$scratch/none.osla"
bad "--data: $example and $scratch/part.csv: only one table is possible"
here 0 node --data "$example" --reference "$example" --output "$scratch/none.osla"
bad "$example:[12]: not a reference table: .*"
here 0 node --data "$example" --periods 3 --output "$scratch/none.osla"
bad "--periods defines synthetic data: it cannot be combined with --data"
here 0 node --data "$example" --noise 0 --output "$scratch/none.osla"
bad "--noise needs a true model: add --test"
here 0 node --test spike --spike-at 95,0 --output "$scratch/none.osla"
bad "--spike-at: latitude 95 is outside -90 to 90"
here 0 node --test spike --spike-at 5,0: --output "$scratch/none.osla"
bad "--spike-at: '' is not LAT,LON or LAT,LON,KM"
here 0 node --test waves --output "$scratch/none.osla"
bad "--test: 'waves' is none of checkerboard, blobs, spike"
here 0 node --data "$example" --output "$example"
bad "--output: .* is also the file of --data .*"

# --- one wild delay among thousands, far beyond a wide limit: the reported model includes its
# weight ---
awk -F, -v OFS=, 'NR == 1001 { $9 = 317.3 } { print }' "$example" >"$scratch/one.csv"
run 2 node "${model[@]}" --data "$scratch/one.csv" --robust --outlier 20
good
has '^Outliers +1 data beyond 20 deviations .* 0 cycle skips are left out \(models found again: 1\)$'
# --- half of the data fit exactly: the scale is 0, and no datum is an outlier ---
head -n 3 "$example" >"$scratch/few.csv"
run 0 node "${model[@]}" --data "$scratch/few.csv" --robust
good
has '^Outliers +0 data .* 0 cycle skips'
# --- a datum that occurs twice, in a table that is not in order ---
{ sed -n 1,2p "$example"; sed -n '3,$p' "$example" | tac; sed -n '$p' "$example"; } >"$scratch/twice.csv"
here 0 node --data "$scratch/twice.csv" --output "$scratch/none.osla"
bad "$scratch/twice.csv:3603: the same datum as line 3 \(rayleigh phase, branch 1, 150 s\)"
# --- impossible numbers; options without effect ---
awk -F, -v OFS=, 'NR == 4 { $9 = "1e160" } { print }' "$example" >"$scratch/huge.csv"
here 0 node --data "$scratch/huge.csv" --output "$scratch/none.osla"
bad "$scratch/huge.csv:4: column delay_s: a delay of 1e\\+160 s is beyond 1e\\+06 s"
awk -F, -v OFS=, 'NR == 5 { $10 = "1e-300" } { print }' "$example" >"$scratch/sure.csv"
here 0 node --data "$scratch/sure.csv" --output "$scratch/none.osla"
bad "$scratch/sure.csv:5: column sigma: a deviation of 1e-300 s is outside 1e-06 to 1e\\+06 s"
here 0 node --data "$example" --outlier 2 --output "$scratch/none.osla"
bad "--outlier requires --robust"
here 0 node --center 20 --output "$scratch/none.osla"
bad "--center requires --map or --report"
# --- events by number, which counts all entries of the list before the selection ---
sed -e 's/^id,/name,/' "$SRCDIR/data/sample_events.csv" >"$scratch/noid.csv"
awk -F, -v OFS=, 'NR == FNR { if (!/^#/ && !/^id,/) number[$1] = ++n; next } $1 in number { $1 = number[$1] } { print }' \
  "$SRCDIR/data/sample_events.csv" "$example" >"$scratch/numbers.csv"
run 0 node "${model[@]}" --data "$example" --magnitude 8.3/ --output "$scratch/by_id.osla"
good
run 0 node "${model[@]}" --events "$scratch/noid.csv" --data "$scratch/numbers.csv" --magnitude 8.3/ --output "$scratch/by_number.osla"
good
same_model "$scratch/by_id.osla" "$scratch/by_number.osla" 1e-12

end_lines || failed=1
exit $failed
