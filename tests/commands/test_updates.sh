#!/usr/bin/env bash
# The updates of osla-bench hessian are those of the table in bench/updates.md, and the program in
# bench/updates.md makes them, too.
set -u
: "${BUILDDIR:?}" "${MPIEXEC:?}" "${SRCDIR:?}"
page=$SRCDIR/bench/updates.md
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
grep -E '^\| [0-9]' "$page" >"$scratch/table"
[ "$(wc -l <"$scratch/table")" = 2 ] || { echo "test_updates: bench/updates.md has no table of two updates"; exit 1; }
timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$BUILDDIR/tests/commands/updates_table" </dev/null |
  sort >"$scratch/made"
diff "$scratch/table" "$scratch/made" || { echo "test_updates: osla-bench makes other updates (>) than the table (<)"; exit 1; }
command -v python3 >/dev/null || { echo "no python3: the program of bench/updates.md did not run"; exit 77; }
sed -n '/^```python$/,/^```$/p' "$page" | sed '1d;$d' >"$scratch/program.py"
python3 "$scratch/program.py" >"$scratch/made"
diff "$scratch/table" "$scratch/made" || { echo "test_updates: the program makes other updates (>) than the table (<)"; exit 1; }
echo "the table, the program and osla-bench make the same updates"
