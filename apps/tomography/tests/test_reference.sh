#!/usr/bin/env bash
# `osla reference`: the shipped table is reproduced, lists of modes, bad input, and that only one
# rank writes.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_reference: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }
cd "$scratch" || exit 1

run() { # ARGUMENT...
  label=$*
  timeout "$JOB_LIMIT" "$OSLA" reference "$@" >out 2>err </dev/null
  status=$?
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s err ] && fail "$label: something on stderr"
}

# --- same FILE FILE: the same words, and numbers within 1e-4 of the largest number of their line
# ---
same() { # FILE FILE
  awk 'NR == FNR { line[FNR] = $0; n = FNR; next }
    { fields = split(line[FNR], a); largest = 0
      if (fields != NF) { print "line " FNR ": " NF " fields, not " fields; bad = 1; exit 1 }
      for (i = 2; i <= NF; i++) if ($i + 0 > largest) largest = $i + 0; else if (-$i > largest) largest = -$i
      for (i = 1; i <= NF; i++) {
        d = a[i] - $i
        number = $i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/
        if (number ? d > 1e-4 * largest || -d > 1e-4 * largest : a[i] != $i) {
          print "line " FNR ", field " i ": " $i ", not " a[i]; bad = 1; exit 1 } } }
    END { if (!bad && FNR != n) { print FNR " lines, not " n; exit 1 } exit bad }' "$1" "$2"
}
run --output prem.txt
good
same "$SRCDIR/data/prem.txt" prem.txt || fail "the shipped table is another one"
sed '20s/[1-9]\.[0-9]/9.9/' prem.txt >other.txt
same prem.txt other.txt >/dev/null && fail "the comparison sees nothing"

# --- only one rank writes; a single period; a listed mode ---
run --periods 100 --branches 1 --wave rayleigh
good
[ "$(grep -c '^mode rayleigh 0 100 4\.08[0-9]* 3\.7' out)" = 1 ] || fail "$label: not the row of 100 s"
mv out alone
timeout "$JOB_LIMIT" "$MPIEXEC" -n 3 "$OSLA" reference --periods 100 --branches 1 --wave rayleigh >out 2>err </dev/null ||
  fail "3 ranks: exit status $?"
cmp -s alone out || fail "3 ranks do not write what one does"
run --isotropic 0S30 1T10
good
grep -q '^0S30  *262\.11' out || fail "$label: not 262.11 s"
[ "$(wc -l <out)" = 3 ] || fail "$label: not 3 lines"

# --- periods that are equal in the written digits give one row; without dispersion there is no Q
# ---
run --periods 50:50.001:5 --branches 1 --wave love
good
[ "$(grep -c '^mode' out)" = 2 ] || fail "$label: not 2 rows"
printf 'm\n1 -1 1\n2 1 1\n0 4e3 8e3 4e3 9 9 8e3 4e3 1\n6371000 4e3 8e3 4e3 9 9 8e3 4e3 1\n' >even.txt
run --model even.txt 0T20
good
grep -qE '^0T20 .* -$' out || fail "$label: Q of what is not dispersive"

# --- bad input: one line, status 2, and no file ---
bad() { # MESSAGE ARGUMENT...
  local message=$1
  shift
  run "$@"
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(cat err)" = "osla reference: $message" ] || fail "$label: not '$message'"
  [ -s out ] && fail "$label: something on stdout"
  [ -e new.txt ] && fail "$label: a file was left"
}
bad "--periods: '1:2' is not FROM:TO:COUNT" --periods 1:2 --output new.txt
bad "--periods: 1 to 2 s is not within 5 to 1000 s" --periods 1:2:3 --output new.txt
bad "--periods: 1 periods from 20 to 30 s" --periods 20:30:1 --output new.txt
bad "--periods: nan to 30 s is not within 5 to 1000 s" --periods nan:30:3 --output new.txt
bad "--branches: 0 is outside 1 to 20" --branches 0 --output new.txt
bad "--fastest: 99 km/s is outside 2 to 12" --fastest 99 --output new.txt
bad "--vp-ratio: -1 is outside 0 to 2" --vp-ratio -1 --output new.txt
bad "--element: 0 km is outside 1 to 100" --element 0 --output new.txt
bad "--wave: 'scholte' is none of rayleigh, love, both" --wave scholte --output new.txt
bad "--no-ocean requires --model prem, but the model is m.txt" --model m.txt --no-ocean --output new.txt
bad "0S2: orders from 3 to 2000 and overtones up to 50 can be computed" 0S2 --output new.txt
bad "0X9 is not the name of a mode such as 0S20 or 1T10" 0X9 --output new.txt
bad "none.txt: No such file or directory" --model none.txt --output new.txt
printf 'm\n1 1 1\n2 1 1\n0 4e3 8e3 4e3 1 1 8e3 4e3 1\nwrong\n' >m.txt
bad "m.txt:5: 1 columns, but there are 9" --model m.txt --output new.txt
bad "--output: m.txt is also the file of the model m.txt" --model m.txt --output m.txt
bad "/nowhere/t.txt: directory /nowhere: No such file or directory" --output /nowhere/t.txt

# --- the manual page names every option ---
for option in $("$OSLA" reference --help | grep -oE -- '--[a-z-]+' | sort -u); do
  grep -q -- "${option//-/\\\\-}" "$SRCDIR/doc/osla-reference.1" || fail "the manual page does not name $option"
done
exit $failed
