#!/usr/bin/env bash
# The files of the commands: no output is another file of the job under any name; unwritable outputs
# and lack of room are refused before the work; permissions and links are preserved; an unwritable
# standard output is an error, but a closed pipe is not. One line each.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
bench=$BUILDDIR/bench/osla-bench
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_files: $*"; head -n 5 "$scratch/out" "$scratch/err"; failed=1; }
mkdir "$scratch/job"
cd "$scratch/job" || exit 1

# run COMMAND...: runs it in this folder
run() {
  label=${*/#"$scratch/"/}
  timeout "$JOB_LIMIT" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ -s "$scratch/err" ] && fail "$label: something on stderr"
}
line() { # STATUS PATTERN: one line on stderr
  [ $status = "$1" ] || fail "$label: exit status $status, not $1"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla[^:]*: $2\$" "$scratch/err" || fail "$label: stderr is not '$2'"
}

# --- one file under two names: an existing file is unchanged, a new file is not made ---
mkdir d
for name in old hard; do echo "precious" >$name.h5; done
ln old.h5 other.h5          # a hard link
ln -s ../old.h5 d/link.h5   # a symbolic link
ln -s new.h5 to_new.h5      # to a file that does not exist yet
ln -s . same                # a folder under another name
cp old.h5 input.h5
before=$(ls -lAR --time-style=full-iso)
two() { # NAME OPTION NAME OTHER-OPTION COMMAND...: NAME is refused
  local name=$1 option=$2 other=$3 other_option=$4
  shift 4
  run "$@"
  line 2 "$option: $name is also the file of $other_option $other"
  [ "$(ls -lAR --time-style=full-iso)" = "$before" ] || fail "$label: changes the folder"
}
invert=("$OSLA" invert --mesh 3 --radial 2 --max-paths 20)
assemble=("$OSLA" assemble --n 9)
pairs=("old.h5 ./old.h5" "old.h5 other.h5" "d/link.h5 old.h5" "same/old.h5 d/../other.h5"
       "new.h5 ./new.h5" "to_new.h5 new.h5" "same/new.h5 $PWD/new.h5" "new.h5 d/../to_new.h5")
for pair in "${pairs[@]}"; do
  read -r a b <<<"$pair"
  two "$b" --json "$a" --output "${assemble[@]}" -o "$a" -j "$b" input.h5
done
a=new.h5 b=./new.h5
two "$b" --checkpoint "$a" --output "${invert[@]}" -o "$a" --checkpoint "$b"
two "$b" --map "$a" --output "${invert[@]}" -o "$a" --map "$b"
two "$b" --json "$a" --map "${invert[@]}" --map "$a" --json "$b"
two "$b" --checkpoint "$a" --json "${invert[@]}" --json "$a" --checkpoint "$b"
two "$b" --checkpoint "$a" --output "${assemble[@]}" -o "$a" --checkpoint "$b" input.h5
two "$b" --json "$a" --output "$OSLA" solve input.h5 -o "$a" -j "$b"
two "$b" --trace "$a" --json "$bench" gemm --n 20 --json "$a" --trace "$b"
a=old.h5 b=other.h5
two "$b" --output "$a" --events "${invert[@]}" --events "$a" -o "$b"
two "$b" --json "$a" --stations "${invert[@]}" --stations "$a" --json "$b"
two "$b" --output "$a" "the updates" "${assemble[@]}" -o "$b" input.h5 "$a"
two "$b" --checkpoint "$a" "the updates" "${assemble[@]}" -o x.h5 --checkpoint "$b" "$a" input.h5
two "$b" --output "$a" "the system" "$OSLA" solve "$a" -o "$b"
two "$b" --json "$a" "the system" "$OSLA" solve "$a" -o x.h5 --json "$b"
two "$b" --json "$a" --output "$MPIEXEC" -n 2 "${assemble[@]}" -o "$a" -j "$b" input.h5
timeout "$JOB_LIMIT" "$OSLA" info --json ./report >report 2>"$scratch/err"
status=$? label="info --json, into standard output's file"
line 2 "--json: ./report is also the file of standard output"
rm -r ./*

# --- names and room are checked before the work ---
long=$(printf 'n%.0s' $(seq 256))
for option in --output --map --json --checkpoint; do
  run "$OSLA" invert --mesh 30 $option "$long" # would take minutes
  line 2 "n+\.\.\.: File name too long.*|n+: File name too long"
done
for option in --output --json --checkpoint; do
  [ $option = --output ] && output=() || output=(-o o.h5)
  run "${assemble[@]}" "${output[@]}" $option "$long" absent.h5
  line 2 "n+\.?\.?\.?: File name too long.*"
done
run "$OSLA" solve absent.h5 -o "$long"
line 2 "n+: File name too long"
run "$OSLA" info --json "$long"
line 2 "n+: File name too long"
run "$bench" gemm --n 20 --trace "$long"
line 2 "n+: File name too long"
mkfifo pipe # not /dev/null, which root could replace for the whole machine
run "$OSLA" info --json pipe
line 2 "pipe: exists and is not a regular file"
[ -p pipe ] || fail "$label: the pipe was replaced"
rm pipe
[ -z "$(ls -A)" ] || fail "names: leaves $(ls -A)"
"$BUILDDIR/tests/commands/assemble_check" make panels updates.h5 90 2>/dev/null
if [ "$HAVE_HDF5" = yes ]; then
  if unshare -m mount -t tmpfs tmpfs /mnt 2>/dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    small=(unshare -m sh -c 'mount -t tmpfs -o size=$1 tmpfs /mnt && shift && exec "$@"' sh)
    run "${small[@]}" 300k "${invert[@]}" --mesh 8 -o /mnt/m.h5 --checkpoint /mnt/c.h5
    line 2 "--output: /mnt/m.h5: the file system has not enough room: [0-9]+ bytes are needed, and [0-9]+ are free"
    run "${small[@]}" 20k "$OSLA" assemble --n 90 -o /mnt/o.h5 updates.h5
    line 2 "--output: /mnt/o.h5: the file system has not enough room: 32760 bytes are needed.*"
    run "${small[@]}" 40k "$OSLA" assemble --n 90 --full -o /mnt/o.h5 updates.h5
    line 2 "--output: /mnt/o.h5: the file system has not enough room: 64800 bytes are needed.*"
  else
    echo "test_files: mounts are not permitted: a small file system is not tested"
  fi
  (ulimit -f 16000 && exec timeout "$JOB_LIMIT" "$OSLA" assemble --n 1500 --full -o o.h5 updates.h5) \
    >"$scratch/out" 2>"$scratch/err" </dev/null # 18 MB of H, 16.4 MB are allowed
  status=$? label="assemble under ulimit -f"
  line 2 ".*File too large.*"
  [ "$(ls -A)" = updates.h5 ] || fail "$label: leaves $(ls -A)"
fi

# --- permissions and links are preserved when a result is written again ---
kept() { # NAME...
  local name
  for name in "$@"; do
    [ "$(stat -c %a "$name")" = 600 ] || fail "$label: $name has $(stat -c %a "$name"), not 600"
  done
}
umask 022
files=(-o m.osla --json m.json --map m.png)
run "${invert[@]}" -q "${files[@]}"
good
[ "$(stat -c %a m.osla)" = 644 ] || fail "$label: a new file has $(stat -c %a m.osla), not 644"
touch m.png
chmod 600 m.*
mv m.osla elsewhere && ln -s elsewhere m.osla
run "${invert[@]}" -q "${files[@]}"
good
kept m.json m.png elsewhere
[ "$(readlink m.osla)" = elsewhere ] || fail "$label: the link is gone"
if [ "$HAVE_HDF5" = yes ]; then
  for again in 1 2; do
    run "$OSLA" assemble --n 90 -q -o s.h5 -j s.json updates.h5
    good
    [ $again = 2 ] && kept s.h5 s.json
    run "$OSLA" solve s.h5 --damping 1 -q -o x.h5 -j x.json
    good
    chmod 600 s.* x.*
  done
  kept x.h5 x.json
  ln -s c.far c.h5
  run "${invert[@]}" -q --checkpoint c.h5 --interval 0
  good
  [ -L c.h5 ] || fail "$label: the link is gone"
  [ -e c.far ] && fail "$label: the checkpoint is left"
fi
run "$bench" gemm --n 20 --ref none --trace t.json
good
chmod 600 t.json
run "$bench" gemm --n 20 --ref none --trace t.json
kept t.json

# --- an unwritable standard output ---
unwritable="standard output cannot be written.*"
commands=("$OSLA --help" "$OSLA --version" "$OSLA help" "$OSLA help solve" "$OSLA assemble --help"
          "$OSLA info" "${invert[*]}" "$bench --help" "$bench --version" "$bench lu --help"
          "$bench gemm --n 20 --ref none" "$BUILDDIR/bench/osla-calibrate --help")
[ "$HAVE_HDF5" = yes ] && commands+=("$OSLA assemble --n 90 -o s.h5 updates.h5" \
  "$OSLA solve s.h5 --damping 1 -o x.h5")
for command in "${commands[@]}"; do
  # shellcheck disable=SC2086 # words
  timeout "$JOB_LIMIT" $command >/dev/full 2>"$scratch/err" </dev/null
  status=$? label="$command >/dev/full"
  line 2 "$unwritable"
done
rm -f left.osla
for command in "$OSLA help" "$OSLA solve --help" "$OSLA reference --isotropic 0S20" "$bench --version" \
  "$bench lu --help" "$BUILDDIR/bench/osla-calibrate --help" "${invert[*]} -o left.osla"; do
  rm -f pipe && mkfifo pipe # a new pipe, because a process that Open MPI leaves for a moment holds the old one open
  true <pipe & # opens the pipe and ends
  # shellcheck disable=SC2086
  (exec >pipe; wait; sleep 0.2; exec timeout "$JOB_LIMIT" $command) >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$? label="$command, into a closed pipe"
  good
done
cmp -s left.osla m.osla || fail "$label: another result"
timeout "$JOB_LIMIT" "${invert[@]}" -o closed.osla >&- 2>"$scratch/err" </dev/null
status=$? label="invert >&-"
line 2 "$unwritable"
cmp -s closed.osla m.osla || fail "$label: another result" # the text report went elsewhere
exit $failed
