#!/usr/bin/env bash
# The boundary of each library: every symbol that the shared library exports is declared in a public
# header, and so is every osla_NAME that any library calls. The archives of ARMCI, OpenSHMEM and
# Global Arrays use no private function of libosla.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}"
. "$SRCDIR/tests/install/installed.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "check_exports: $*"; failed=1; }
# complain TEXT: reports the names that it reads, if there are any
complain() {
  local names
  names=$(tr '\n' ' ')
  [ -z "$names" ] || fail "$1: $names"
}

python3 - "$SRCDIR" >declared <<'EOT' || exit 1
import pathlib, re, sys
found = set()
for header in pathlib.Path(sys.argv[1], "include").glob("*.h"):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    found |= set(re.findall(r"\bOSLA_API\b[^;{]*?\b(osla_\w+)\s*\(", text))
print("\n".join(sorted(found)))
EOT
export LC_ALL=C
sort -u -o declared declared
[ "$(wc -l <declared)" -gt 300 ] || fail "only $(wc -l <declared) functions are declared"

for library in $(find "$installed" -name 'libosla*.a') "$BUILDDIR"/.libs/libosla_kernels.a; do
  [ -f "$library" ] || continue
  nm --extern-only --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $3 ~ /^osla_/ {print $3}' | sort -u |
    comm -23 - declared | complain "${library##*/} has osla_ names that no public header declares"
done
for library in $(find "$installed" -name libosla.so); do
  nm --dynamic --defined-only "$library" | awk '{print $3}' | grep -v '^_' | sort -u >shown
  comm -23 shown declared | complain "libosla.so shows what no public header declares"
  for archive in $(find "$installed" -name libosla_armci.a -o -name libosla_shmem.a -o -name libosla_ga.a); do
    nm --defined-only "$archive" 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u >own
    nm --undefined-only "$archive" 2>/dev/null | awk '{print $2}' | grep -E '^osl[ai]_' | sort -u | comm -23 - own | comm -23 - shown |
      complain "${archive##*/} needs what libosla.so does not show"
  done
done
exit $failed
