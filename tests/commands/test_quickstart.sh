#!/usr/bin/env bash
# ./quickstart waits while another package manager holds a lock of apt's, prints that, and
# continues; other failures of apt are reported at once. Programs that only pretend to install and
# to build replace the real ones.
set -u
: "${SRCDIR:?}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_quickstart: $label: $*"; cat "$scratch/out"; failed=1; }

mkdir -p "$scratch/bin" "$scratch/config/m4" "$scratch/include"
cp "$SRCDIR/quickstart" "$scratch/"
touch "$scratch/configure.ac" "$scratch/include/osla_version.h" "$scratch/config/m4/osla_none.m4"
program() { cat >"$1"; chmod +x "$1"; }
program "$scratch/configure" <<'EOT'
#!/bin/sh
mkdir -p tests
echo MPI_FAMILY=mpich MPIEXEC=true >tests/config.env
touch config.status
EOT
# The first $LOCKED calls fail as in apt 2.6; the program writes its calls to the folder $KEPT.
program "$scratch/bin/apt-get" <<'EOT'
#!/bin/sh
echo "$1" >>"$KEPT/calls"
if [ "$(grep -c "^$1" "$KEPT/calls")" -le "$LOCKED" ]; then
  lock=/var/lib/dpkg/lock-frontend
  [ "$1" = install ] || lock=/var/lib/apt/lists/lock
  printf '%s\n' "E: Could not get lock $lock. It is held by process 7 (unattended-upgr)" "E: Unable to lock" >&2
  exit 100
fi
[ -z "$BROKEN" ] || { echo "E: The package cache file is corrupted" >&2; exit 100; }
[ "$1" = update ] || touch "$KEPT/installed"
EOT
program "$scratch/bin/dpkg-query" <<'EOT'
#!/bin/sh
shift 3
[ ! -e "$KEPT/installed" ] || printf '%s=installed\n' "$@"
EOT
program "$scratch/bin/sudo" <<'EOT'
#!/bin/sh
exec "$@"
EOT
program "$scratch/bin/sleep" <<'EOT'
#!/bin/sh
echo "sleep $1" >>"$KEPT/calls"
EOT
for name in apt-cache autoreconf make pkg-config; do printf '#!/bin/sh\n' | program "$scratch/bin/$name"; done
grep -qsE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release || { echo "not Debian or Ubuntu: quickstart installs nothing"; exit 77; }

# quickstart STATUS LOCKED [BROKEN]: runs it with LOCKED failing calls
quickstart() {
  local status
  rm -f "$scratch/calls" "$scratch/installed"
  env -u MPI KEPT="$scratch" LOCKED="$2" BROKEN="${3:-}" PATH="$scratch/bin:$PATH" "$scratch/quickstart" build >"$scratch/out" 2>&1
  status=$?
  [ $status = "$1" ] || fail "exit status $status, not $1"
}
calls() { [ "$(paste -sd ' ' "$scratch/calls")" = "$1" ] || fail "not '$1': $(paste -sd ' ' "$scratch/calls")"; }
lines() { [ "$(grep -c "waiting up to 20 minutes for another package manager to release /var/lib/.*held by process 7" "$scratch/out")" = "$1" ] ||
  fail "not $1 lines on waiting"; }

label="no lock"
quickstart 0 0
calls "update install"
lines 0
label="each lock twice"
quickstart 0 2
calls "update sleep 10 update sleep 10 update install sleep 10 install sleep 10 install"
lines 2
label="another failure"
quickstart 1 1 broken
calls "update sleep 10 update"
grep -q "package cache file is corrupted" "$scratch/out" || fail "its reason is missing"
label="a lock for ever"
quickstart 1 100000
[ "$(grep -c '^update' "$scratch/calls")" = 121 ] || fail "$(grep -c '^update' "$scratch/calls") tries, not 121"
grep -q "apt-get update failed" "$scratch/out" && grep -q "held by process 7" "$scratch/out" || fail "its reason is missing"
exit $failed
