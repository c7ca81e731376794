#!/usr/bin/env bash
# osla-calibrate: a model for each kind of work, with the errors of its own measurements; unwritable
# files and impossible sizes are refused in one line.
set -u
: "${BUILDDIR:?}" "${SRCDIR:?}" "${MPIEXEC:?}"
calibrate=$BUILDDIR/bench/osla-calibrate
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "test_calibrate: $*"; tail -n 20 out err; failed=1; }
run() { timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$calibrate" "$@" >out 2>err </dev/null; }

run --n 512 --output core.xml --json core.json || fail "exit status $?"
kinds=$(sed -n 's/.*\[OSLA_WORK_.*= "\(work-[a-z-]*\)".*/\1/p' "$SRCDIR/src/simulation/sim_core.c" | sort)
[ -n "$kinds" ] && [ "$(sed -n 's/.*<prop id="\([^"]*\)".*/\1/p' core.xml | sort)" = "$kinds" ] || fail "kinds in core.xml"
number='[0-9.]+(e-[0-9]+)?'
[ "$(grep -cvE "^ +<prop id=\"work-[a-z-]+\" value=\"$number [mnk1]+( $number [mnk1]+){0,5}\"/> <!-- error .* -->$" core.xml)" = 0 ] ||
  fail "a line of core.xml"
grep -qE '^a core: [0-9.e+]+ flops/s in large products$' out || fail "no rate"
if command -v python3 >/dev/null; then
  python3 - <<'PY' || fail "the errors that are stated are not those of the model"
import json, math, sys
for name, work in json.load(open("core.json"))["work"].items():
    errors = []
    for x in work["measured"]:
        model = sum(c * math.prod({"1": 1}.get(l) or x[l] for l in term) for term, c in work["seconds"].items())
        errors.append(abs(model / x["seconds"] - 1))
    errors.sort()
    for stated, found in (work["error_worst"], errors[-1]), (work["error_median"], errors[len(errors) // 2]):
        if abs(stated - found) > 1e-6 * found + 1e-9:
            sys.exit(f"{name}: {stated} is stated, {found} found")
PY
fi

# refused LINE ARGUMENT...: checks that the arguments give that line
refused() {
  local line=$1
  shift
  run "$@"
  [ $? = 2 ] && [ "$(grep -c . err)" = 1 ] && grep -qF "$line" err || fail "$*: not '$line'"
}
refused "osla-calibrate: --n: 10 is not between 256 and 65536" --n 10
refused "is also the file of --output" --n 256 --output x --json ./x
refused "nowhere" --n 256 --output nowhere/x
exit $failed
