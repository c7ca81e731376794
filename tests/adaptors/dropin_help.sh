# Functions for the scripts that test the drop-in, which source this file and run in a scratch
# folder.
. "$BUILDDIR/tests/config.env"
library=$BUILDDIR/scalapack_adapt/libosla_scalapack.so
[ -f "$library" ] || { echo "built without shared libraries"; exit 77; }
preload=$library
if [ "$SANITIZERS" != no ]; then
  preload="$($CC -print-file-name=libasan.so) $library" # the sanitizer's library must be first
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0   # BLACS does not free its memory
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
complain() { echo "$(basename "$0" .sh): $*"; failures=$((failures + 1)); }

with=(LD_PRELOAD="$preload" OSLA_SCALAPACK_VERBOSE=1)
on=("${with[@]}" OSLA_SCALAPACK=force)
. "$SRCDIR/tests/modes.sh"
fake=($(in_mode fake2 2))

# run OUT RANKS PROGRAM ARGUMENTS [VARIABLE=VALUE...]: stdout in OUT, stderr in OUT.err
run() {
  local out=$1 ranks=$2 program=$3 arguments=$4
  shift 4
  timeout "$JOB_LIMIT" "$MPIEXEC" -n "$ranks" env "$@" "$program" $arguments >"$out" 2>"$out.err" ||
    { complain "$program $arguments on $ranks ranks failed"; tail "$out" "$out.err"; }
}

# same WHAT FILE FILE: compares the output of the runs without and with the drop-in
same() {
  [ -s "$2" ] || complain "$1: nothing printed"
  diff "$2" "$3" >diff.out || { complain "$1: another result with the drop-in"; head diff.out; }
}

# taken FILE ROUTINE: prints the number of offloaded calls of a routine in the drop-in's first table
taken() { awk -v routine="$2" '$1 == routine && !found {n = $2; found = 1} END {print n + 0}' "$1"; }
