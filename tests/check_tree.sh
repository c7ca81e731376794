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

hidden_headers() {
  local header
  for header in $(find src kernels -name 'osla_*.h'); do
    grep -qF "\"$(basename "$header")\"" src/osla.h || echo "$header"
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
complain "public headers that src/osla.h does not include" < <(hidden_headers)
complain "measurements in README.md that are not recorded" < <(unrecorded_figures)
complain "links to what is not there" < <(dead_links)
[ $offenders = 0 ] && echo "the tree is tidy"
