# Functions of the tests that run `osla invert`, with the words in the array `small` before their own.
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
failed=0 small=()
fail() { echo "$(basename "$0" .sh): $*"; head -n 30 "$scratch/out" "$scratch/err"; failed=1; }

# run RANKS MODE ARGUMENT...: runs osla invert; with 0 ranks without mpiexec
run() {
  local ranks=$1 mode=$2 env=()
  shift 2
  label="$* ($ranks ranks, $mode)"
  # shellcheck disable=SC2207 # words
  env=($(in_mode "$mode" "$ranks"))
  local command=("$OSLA" invert "${small[@]}" "$@")
  [ "$ranks" = 0 ] || command=("$MPIEXEC" -n "$ranks" "${command[@]}")
  timeout "$JOB_LIMIT" env "${env[@]}" "${command[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}
# here RANKS MODE ARGUMENT...: runs osla invert in a persistent process, for wrong input
here() {
  label="${*:3} ($1 ranks, $2)"
  run_line "$1" "$2" "$PWD" "$scratch/out" "$scratch/err" invert "${small[@]}" "${@:3}"
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s "$scratch/err" ] && fail "$label: something on stderr"
}
has() { grep -qE -- "$1" "$scratch/out" || fail "$label: no line '$1'"; }
# refused PATTERN: checks that the last run wrote one line that matches
refused() {
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla invert: $1\$" "$scratch/err" || fail "$label: stderr is not '$1'"
}
same_model() { # FILE FILE TOLERANCE
  "$BUILDDIR/apps/tomography/tests/result_diff" "$1" "$2" "$3" || fail "$label: another model"
}
