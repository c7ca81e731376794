#!/usr/bin/env bash
# `osla solve` for sparse systems from Matrix Market files: CG and LSQR on any number of ranks, the
# default method, messages for bad input and for no convergence.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_solve_sparse: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }
cd "$scratch" || exit 1

run() { # RANKS MODE ARGUMENT...
  local ranks=$1 mode=$2 env=()
  shift 2
  label="$* ($ranks ranks, $mode)"
  env=($(in_mode "$mode" "$ranks"))
  timeout "$JOB_LIMIT" env "${env[@]}" "$MPIEXEC" -n "$ranks" "$OSLA" solve "$@" >out 2>err </dev/null
  status=$?
}
here() { # RANKS MODE ARGUMENT...: in a process that stays
  label="${*:3} ($1 ranks, $2)"
  run_line "$1" "$2" "$scratch" "$scratch/out" "$scratch/err" solve "${@:3}"
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s err ] && fail "$label: something on stderr"
}
# refused RUN STATUS PATTERN ARGUMENT...: checks that there is one line on stderr, on 2 ranks
refused() {
  local expected=$2 pattern=$3
  "$1" 2 node "${@:4}"
  [ $status = "$expected" ] || fail "$label: exit status $status, not $expected"
  [ "$(wc -l <err)" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla solve: $pattern\$" err || fail "$label: stderr is not '$pattern'"
}
bad() { refused here "$@"; }
bad_job() { refused run "$@"; } # runs a separate job, once for each exit path
number() { sed -n "s/^.*\"$1\": *\([-0-9.e+]*\),*\$/\1/p" r.json | head -n 1; }
below() { # KEY LIMIT
  awk -v x="$(number "$1")" -v most="$2" 'BEGIN { exit !(x != "" && x <= most) }' || fail "$label: $1 is $(number "$1")"
}

# a symmetric grid of 12 x 12; a matrix that is not symmetric; one of 30 x 20; right-hand sides
awk 'BEGIN { n = 12; for (i = 0; i < n * n; i++) { e[k++] = (i + 1) " " (i + 1) " 4.5"
    if (i % n) e[k++] = (i + 1) " " i " -1"; if (i >= n) e[k++] = (i + 1) " " (i + 1 - n) " -1" }
  print "%%MatrixMarket matrix coordinate real symmetric\n" n * n, n * n, k; for (i = 0; i < k; i++) print e[i] }' >grid.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n40 40 79"
  for (i = 1; i <= 40; i++) { print i, i, 2; if (i > 1) print i, i - 1, 1 } }' >lower.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate integer general\n30 20 60"
  for (i = 1; i <= 30; i++) { print i, 1 + (i - 1) % 20, 3; print i, 1 + (7 * i) % 20, 1 } }' >tall.mtx
for n in 144 40 30; do
  awk -v n=$n 'BEGIN { print "%%MatrixMarket matrix array real general\n" n, 1; for (i = 1; i <= n; i++) print i % 7 - 3 }' >b$n.mtx
done

while read -r ranks mode matrix n method options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" $matrix.mtx --rhs b$n.mtx --output x.h5 --json r.json $options
  good
  grep -q "\"method\": \"$method\"" r.json || fail "$label: another method"
  grep -q '"verdict": "good"' r.json || fail "$label: another verdict"
  [ $matrix = tall ] || below residual 1e-7
  below left 1e-8
  [ -s x.h5 ] || fail "$label: no x"
  rm -f x.h5 r.json
done <<'LIST'
1 node grid 144 cg
2 node grid 144 cg --block 12
3 nolocal grid 144 cg --block 0
4 fake2 grid 144 lsqr --method lsqr
2 node grid 144 cg --damping 3
1 node lower 40 lsqr --tolerance 1e-12
3 node lower 40 lsqr --tolerance 1e-12
4 node tall 30 lsqr
2 node tall 30 lsqr --damping 0.5
LIST
# entries of 1e-170 and 1e170, whose squares underflow and overflow
for exponent in -170 170; do
  awk -v e="e$exponent" 'NR > 2 { $0 = $0 e } { print }' grid.mtx >far.mtx
  awk -v e="e$exponent" 'NR > 2 { $0 = $0 e } { print }' b144.mtx >far_b.mtx
  for options in "far.mtx --rhs far_b.mtx" "far.mtx --rhs far_b.mtx --method lsqr" "grid.mtx --rhs far_b.mtx"; do
    # shellcheck disable=SC2086 # the options are words
    run 2 node $options --output x.h5 --json r.json; good
    grep -q '"verdict": "good"' r.json || fail "$label: another verdict"
    below residual 1e-7
    [ "$(number iterations)" -gt 5 ] || fail "$label: $(number iterations) iterations"
  done
done
if command -v h5dump >/dev/null; then # x must not depend on the number of ranks
  run 1 node lower.mtx --rhs b40.mtx --output x1.h5 --tolerance 1e-14; good
  run 4 node lower.mtx --rhs b40.mtx --output x4.h5 --tolerance 1e-14; good
  h5diff --delta=1e-9 x1.h5 x4.h5 /x /x >out 2>&1 || fail "x on 4 ranks: another one"
fi
run 2 node grid.mtx --rhs b144.mtx --output x.h5
good
grep -qE '^A +144 x 144, 672 entries, damping 0, 2 ranks$' out || fail "$label: no line A"
grep -qE '^Method +cg: [0-9]+ iterations, [0-9.e-]+ is left \(--tolerance 1e-08\)$' out || fail "$label: no line Method"
grep -qE '^Residual +\|b - A x\| / \|b\| = [0-9.e-]+$' out || fail "$label: no line Residual"
rm -f x.h5

bad_job 2 '--rhs FILE is missing: a sparse system needs it' grid.mtx -o x.h5
bad 2 '--method: lu is not for sparse matrices \(FILE.mtx is sparse\)' grid.mtx --rhs b144.mtx -o x.h5 --method lu
bad 2 '--method: cg is not for dense matrices \(FILE.mtx is sparse\)' grid.h5 -o x.h5 --method cg
bad 2 "--method: 'qr' is none of cholesky, lu, mixed, cg, lsqr" grid.mtx --rhs b144.mtx -o x.h5 --method qr
bad 2 '--tolerance: -1 is not a positive number' grid.mtx --rhs b144.mtx -o x.h5 --tolerance=-1
bad 2 '--iterations: 0 is less than 1' grid.mtx --rhs b144.mtx -o x.h5 --iterations 0
bad 2 '--block: -1 is outside 0 to 4096' grid.mtx --rhs b144.mtx -o x.h5 --block=-1
bad 2 '--nb: is not for sparse matrices \(FILE.mtx is sparse\)' grid.mtx --rhs b144.mtx -o x.h5 --nb 32
bad 2 '--block: --method lsqr has no preconditioner' grid.mtx --rhs b144.mtx -o x.h5 --method lsqr --block 8
bad 2 '--full: leave it out, --method lu stores the full matrix anyway' grid.h5 -o x.h5 --method lu --full
bad 2 'absent.mtx: No such file or directory' absent.mtx --rhs b144.mtx -o x.h5
bad_job 2 'b40.mtx: has 40 values, but the blocks end with 144' grid.mtx --rhs b40.mtx -o x.h5
bad 2 'lower.mtx: is not symmetric, as --method cg needs; use --method lsqr' lower.mtx --rhs b40.mtx -o x.h5 --method cg
bad 2 'tall.mtx: 30 x 20 is not square, as --method cg needs; use --method lsqr' tall.mtx --rhs b30.mtx -o x.h5 --method cg
head -n 100 grid.mtx >cut.mtx
bad 2 'cut.mtx: 408 entries are announced, but the file has 98' cut.mtx --rhs b144.mtx -o x.h5
bad 2 '--rhs: b40.mtx, but grid.h5 has its own right-hand side' grid.h5 --rhs b40.mtx -o x.h5
[ -e x.h5 ] && fail "bad input leaves x"
bad_job 1 'x.h5: not converged after 2 iterations, [0-9.e-]+ is left; raise --iterations or --damping' \
  grid.mtx --rhs b144.mtx -o x.h5 --iterations 2
[ -s x.h5 ] || fail "$label: no x"
sed 's/ 4\.5$/ -4.5/' grid.mtx >negative.mtx
bad 1 'x.h5: not positive definite after 0 iterations, [0-9.e-]+ is left; raise --damping, or use --method lsqr' \
  negative.mtx --rhs b144.mtx -o x.h5 --block 0
bad 2 'Jacobi: diagonal element -4.5 of row 0 is not positive' negative.mtx --rhs b144.mtx -o x.h5

# matrices of others, from Debian's r-cran-matrix
place=$(dirname "$(ls /usr/lib/R/library/Matrix/external/lund_a.mtx 2>/dev/null || echo none/none)")
if [ -r "$place/lund_a.mtx" ]; then
  cp "$place"/{lund_a,pores_1,wrong}.mtx .
  awk 'BEGIN { print "%%MatrixMarket matrix array real general\n147 1"; for (i = 1; i <= 147; i++) print i }' >b147.mtx
  run 2 node lund_a.mtx --rhs b147.mtx -o x.h5 --json r.json
  good
  below residual 1e-7
  run 2 node pores_1.mtx --rhs b30.mtx -o x.h5 --tolerance 1e-14 --json r.json
  good
  below residual 1e-6
  bad 2 'wrong.mtx:3: row 0 is outside 1 to 2' wrong.mtx --rhs b30.mtx -o x.h5
else
  echo "test_solve_sparse: matrices of others not tested, r-cran-matrix is not here"
fi
end_lines || failed=1
exit $failed
