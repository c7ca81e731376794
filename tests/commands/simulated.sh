# Functions of the tests that run bench/scripts/simulate.
: "${BUILDDIR:?}" "${SRCDIR:?}" "${MPIEXEC:?}" "${OSLA:?}"
bench=$BUILDDIR/bench/osla-bench
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "${0##*/}: $label: $*"; tail -n 20 out err; failed=1; }

# simulate ARGUMENT...: runs bench/scripts/simulate
simulate() {
  label=$*
  timeout "$JOB_LIMIT" "$MPIEXEC" "$@" >out 2>err </dev/null
  status=$?
}

# refused STATUS LINE: checks the exit status and the one line
refused() {
  [ $status = "$1" ] || fail "exit status $status, not $1"
  [ "$(cat err)" = "$2" ] || fail "stderr is not '$2'"
  [ -s out ] && fail "something on stdout"
}
seconds() { sed -n 's/.*"seconds":\[\([^]]*\)\].*/\1/p' json; }

# between LOW SECONDS HIGH: checks a range
between() {
  awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN {exit !(x >= low && x <= high)}' || fail "$2 is not from $1 to $3"
}

# alike A B MOST: true if B differs from A by at most the fraction MOST of A
alike() {
  awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN {d = (a - b) / a; exit !(d <= most && -d <= most)}'
}
