#!/usr/bin/env bash
# Checks of the source tree: length of sources, left-over marks, paths of one machine, every test
# listed, every source distributed.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
offenders=0

# complain TEXT: reads offending lines; all lines under one headline count as one offence
complain() {
  local lines
  lines=$(cat)
  [ -n "$lines" ] || return
  printf '%s:\n%s\n' "$1" "$lines"
  offenders=$((offenders + 1))
}

sources() {
  find include src kernels tools apps bench tests ga_adapt scalapack_adapt python fortran -name '*.[ch]' 2>/dev/null
}
texts() {
  sources
  find tests tools apps bench ga_adapt python fortran packaging doc data config/m4 .ci -type f \
    \( -name '*.sh' -o -name '*.md' -o -name '*.mk' -o -name 'osla_*.m4' -o -name 'run' \
       -o -name '*.py' -o -name '*.f90' -o -name '*.gp' -o -name 'list' -o -name '*.[1-9]' \)
  ls configure.ac Makefile.am quickstart ./*.md 2>/dev/null
}

# Starting a process is slow on some machines, so each check passes all files at once.
long_sources() {
  sources | xargs wc -l | awk '$1 > 450 && $2 != "total" {print $2 ": " $1 " lines"}'
}

mark='TO''DO|FIX''ME|XX''X'
marks() { texts | xargs grep -nE "\\b($mark)\\b"; }

machine='(^|[^A-Za-z0-9_.$})])/(work|farm|home|root|Users)/'
machine_paths() { texts | xargs grep -nE "$machine"; }

unbuilt_sources() {
  find include src kernels tools apps ga_adapt bench python -name "*.[ch]" ! -name example.c ! -path "bench/peers/*" ! -path "bench/scripts/*" |
    grep -vxFf <(cat include/Makefile.mk src/Makefile.mk src/*/*/Makefile.mk kernels/Makefile.mk tools/Makefile.mk apps/*/Makefile.mk apps/*/*/Makefile.mk ga_adapt/Makefile.mk \
      bench/Makefile.mk python/Makefile.mk | grep -oE '[a-zA-Z0-9_./-]+\.[ch]\b' | sed 's|^/||')
}

# The head of each public header says to which part it belongs (as in osla.h and osla_unstable.h),
# and what threads may do. The stable part does not include the other part.
unclear_headers() {
  local header name part head line=$'\n' stable unstable stable_ones=()
  stable=$(cat include/osla.h) unstable=$(cat include/osla_unstable.h)
  for header in $(find include -name 'osla_*.h' ! -name osla_unstable.h ! -name osla_ga.h); do
    name=${header##*/}
    head=$(<"$header")
    head=${head%%\*/*}$line part=
    [[ $stable == *"\"$name\""* ]] && part='Part: stable (osla.h).'
    [[ $unstable == *"\"$name\""* ]] && part="${part}Part: may change in any release (osla_unstable.h)."
    [[ -n $part && $head == *"$line * $part$line"* ]] || echo "$header: its head does not say: ${part:-in neither}"
    [[ $head =~ "$line * Threads"[.:]" " ]] || echo "$header: its head says nothing of threads"
    case $part in *stable\ \(osla.h*) stable_ones+=("$header") ;; esac
  done
  grep -nFf <(sed -n 's/^#include "\(osla_[a-z]*\.h\)"$/include "\1"/p' include/osla_unstable.h) "${stable_ones[@]}" /dev/null
}

# Options can grow: each options struct ends with reserved words, and tests/kernels/test_reserved.c
# lists it.
fixed_options() {
  local table
  table=$(cat tests/kernels/test_reserved.c)
  find include -name 'osla_*.h' ! -name osla_ga.h -exec cat {} + | awk '
    /^} osla_[a-z]*_options;/ {gsub(/[};]/, ""); print $1, last ~ /^  uint64_t reserved\[/} {last = $0}' |
    while read -r name grows; do
      [ "$grows" = 1 ] || echo "$name: does not end with uint64_t reserved[]"
      [[ $table == *"\"$name\""* ]] || echo "$name: not in tests/kernels/test_reserved.c"
    done
}

# README's table of measurements: each figure occurs in the summary that the last cell of its row
# names, by the [LABEL] of a line "[LABEL]: results/..." below the table.
unrecorded_figures() {
  local row entry figure rows=0
  while IFS= read -r row; do
    rows=$((rows + 1))
    entry=${row% |} entry=$(grep -F "${entry##*| }: results/" README.md) entry=${entry##*: }
    [ -f "$entry" ] || { echo "README.md: no $entry"; continue; }
    for figure in $(cut -d'|' -f3,4 <<<"$row" | grep -oE '\b[0-9]+(\.[0-9]+)?\b'); do
      grep -qwF -- "$figure" "$entry" || echo "README.md: $figure is not in $entry"
    done
  done < <(grep -E '^\|.*\| \[[^]]+\] \|$' README.md)
  [ $rows -ge 5 ] || echo "README.md: $rows rows of measurements"
}

dead_links() {
  local page target
  awk 'FNR == 1 {code = 0} /^```/ {code = !code; next} !code {
    for (rest = $0; match(rest, /\]\([^)# ]+/); rest = substr(rest, RSTART + RLENGTH))
      print FILENAME, substr(rest, RSTART + 2, RLENGTH - 2)}' ./*.md doc/*.md results/*.md results/*/*.md $(git ls-files '*/README.md' 2>/dev/null) |
    while read -r page target; do
      [[ $target =~ ^[a-z]*: || -e ${page%/*}/$target ]] || echo "$page: $target"
    done
}

complain "sources over 450 lines" < <(long_sources)
complain "left-over marks" < <(marks)
complain "absolute paths of one machine" < <(machine_paths)
complain "tests that tests/list or the Makefile.mk of their folder lacks" < <(python3 tests/install/listed.py)
complain "sources that are in no Makefile.mk" < <(unbuilt_sources)
complain "public headers that do not say what they are" < <(unclear_headers)
complain "options that cannot grow" < <(fixed_options)
complain "measurements in README.md that are not recorded" < <(unrecorded_figures)
complain "links to what is not there" < <(dead_links)
[ $offenders = 0 ] && echo "the tree is tidy"
