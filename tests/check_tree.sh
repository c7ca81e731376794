#!/usr/bin/env bash
# The tree as the next reader meets it: short sources, no left-over marks, no paths of one machine,
# every test in the table, every source in the distribution.
set -u
cd "${SRCDIR:-$(dirname "$0")/..}" || exit 1
offenders=0

# complain TEXT: reads offending lines; all under one headline count as one offence
complain() {
  local lines
  lines=$(cat)
  [ -n "$lines" ] || return
  printf '%s:\n%s\n' "$1" "$lines"
  offenders=$((offenders + 1))
}

sources() {
  find src kernels tools bench tests ga_adapt scalapack_adapt python fortran -name '*.[ch]' 2>/dev/null
}
texts() {
  sources
  find tests tools bench ga_adapt python fortran packaging doc data m4 .ci -type f \
    \( -name '*.sh' -o -name '*.md' -o -name '*.mk' -o -name 'osla_*.m4' -o -name 'run' \
       -o -name '*.py' -o -name '*.f90' -o -name '*.gp' -o -name 'list' -o -name '*.[1-9]' \)
  ls configure.ac Makefile.am quickstart ./*.md 2>/dev/null
}

long_sources() {
  local file lines
  for file in $(sources); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 450 ] || echo "$file: $lines lines"
  done
}

mark='TO''DO|FIX''ME|XX''X'
marks() { texts | xargs grep -nE "\\b($mark)\\b"; }

machine='(^|[^A-Za-z0-9_.$})])/(work|farm|home|root|Users)/'
machine_paths() { texts | xargs grep -nE "$machine"; }

untabled_tests() {
  local name
  for name in $(grep -hoE '^ +tests/(test|check)_[a-z0-9_]+(\.sh)?' tests/Makefile.mk); do
    grep -qE "^${name#tests/} " tests/list || echo "$name"
  done
}

unbuilt_tests() {
  local source
  for source in tests/test_*.c tests/test_*.sh tests/check_*.sh; do
    grep -qE "^ +${source%.c}( |\$)" tests/Makefile.mk || echo "$source"
  done
}

unbuilt_sources() {
  local source
  for source in $(find src kernels tools ga_adapt bench python -name '*.[ch]' ! -name example.c); do
    grep -qwF "$source" src/Makefile.mk kernels/Makefile.mk tools/Makefile.mk \
      tools/*/Makefile.mk ga_adapt/Makefile.mk bench/Makefile.mk python/Makefile.mk || echo "$source"
  done
}

# Compilers look for headers in the same list of folders for all sources: of two with one name the second is not found.
twin_headers() {
  find $(sed -n 's/^-I@srcdir@\///p' include_paths.in) -maxdepth 1 -name '*.h' -printf '%f\n' | sort | uniq -d
}

# Each public header says which part it is of, as osla.h and osla_unstable.h have it, and what threads may do;
# the stable part does not include the other one.
unclear_headers() {
  local header name part head
  for header in $(find src kernels -name 'osla_*.h' ! -name osla_unstable.h); do
    name=$(basename "$header")
    head=$(sed '/\*\//q' "$header")
    part=
    grep -qF "\"$name\"" src/osla.h && part='Part: stable (osla.h).'
    grep -qF "\"$name\"" src/osla_unstable.h && part="${part}Part: may change in any release (osla_unstable.h)."
    [ -n "$part" ] && grep -qxF " * $part" <<<"$head" || echo "$header: its head does not say: ${part:-in neither}"
    grep -qE '^ \* Threads[.:] ' <<<"$head" || echo "$header: its head says nothing of threads"
    case $part in *stable\ \(osla.h*) grep -nFf <(sed -n 's/^#include "\(osla_[a-z]*\.h\)"$/include "\1"/p' src/osla_unstable.h) \
      "$header" | sed "s|^|$header: |" ;; esac
  done
}

# Options can grow: reserved words end each struct, and tests/test_reserved.c has it in its table.
fixed_options() {
  find src kernels -name 'osla_*.h' -exec cat {} + | awk '
    /^} osla_[a-z]*_options;/ {gsub(/[};]/, ""); print $1, last ~ /^  uint64_t reserved\[/} {last = $0}' |
    while read -r name grows; do
      [ "$grows" = 1 ] || echo "$name: does not end with uint64_t reserved[]"
      grep -qF "\"$name\"" tests/test_reserved.c || echo "$name: not in tests/test_reserved.c"
    done
}

# README's table of measurements: each figure stands in the summary that its row links to.
unrecorded_figures() {
  local row entry figure rows=0
  while IFS= read -r row; do
    rows=$((rows + 1))
    entry=$(grep -oE 'results/[^)]*' <<<"$row")
    [ -f "$entry" ] || { echo "README.md: no $entry"; continue; }
    for figure in $(cut -d'|' -f3,4 <<<"$row" | grep -oE '\b[0-9]+(\.[0-9]+)?\b'); do
      grep -qwF -- "$figure" "$entry" || echo "README.md: $figure is not in $entry"
    done
  done < <(grep -E '^\|.*\]\(results/' README.md)
  [ $rows -ge 10 ] || echo "README.md: $rows rows of measurements"
}

dead_links() {
  local page target
  for page in ./*.md doc/*.md results/*.md results/*/*.md; do
    for target in $(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)# ]+' | sed 's/^](//' | grep -v '^[a-z]*:'); do
      [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
    done
  done
}

complain "sources over 450 lines" < <(long_sources)
complain "left-over marks" < <(marks)
complain "absolute paths of one machine" < <(machine_paths)
complain "tests that are built and not in tests/list" < <(untabled_tests)
complain "tests that are not in tests/Makefile.mk" < <(unbuilt_tests)
complain "sources that are in no Makefile.mk" < <(unbuilt_sources)
complain "headers with one name" < <(twin_headers)
complain "public headers that do not say what they are" < <(unclear_headers)
complain "options that cannot grow" < <(fixed_options)
complain "measurements in README.md that are not recorded" < <(unrecorded_figures)
complain "links to what is not there" < <(dead_links)
[ $offenders = 0 ] && echo "the tree is tidy"
