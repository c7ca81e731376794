#!/usr/bin/env bash
# The triple buffer and the ring of channels between two threads, under ThreadSanitizer; a build
# with a relaxed memory order must fail, which shows that the test can detect it.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
if ! echo 'int main(void){return 0;}' | gcc -fsanitize=thread -x c - -o none; then
  echo "no ThreadSanitizer for gcc here"
  exit 77
fi
# compile NAME TOP: compiles tests/commands/NAME_threads.c with the header in the folder src/memory
# of TOP
compile() { gcc -std=gnu17 -O1 -g -fsanitize=thread -I"$2" "$SRCDIR/tests/commands/$1_threads.c" -o program -lpthread >out 2>&1; }
./none >out 2>&1 || { echo "ThreadSanitizer does not run here"; exit 77; }
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

passes() {
  compile "$1" "$SRCDIR" && ./program >out 2>&1 || { cat out; echo "FAIL: $1"; exit 1; }
}

# each_order NAME: relaxes one memory order after the other; each must give a race
each_order() {
  local header=$SRCDIR/src/memory/$1.h lines line
  lines=$(grep -nE 'memory_order_(acquire|release|acq_rel)' "$header" | cut -d: -f1)
  [ -n "$lines" ] || { echo "FAIL: no order of memory in $1.h"; exit 1; }
  for line in $lines; do
    mkdir -p "$1-$line/src/memory"
    sed -E "${line}s/memory_order_(acquire|release|acq_rel)/memory_order_relaxed/" "$header" >"$1-$line/src/memory/$1.h"
    compile "$1" "$1-$line" || { cat out; exit 1; }
    ./program >out 2>&1 && { cat out; echo "FAIL: $1.h:$line: a relaxed order was not found"; exit 1; }
    grep -q 'data race' out || { cat out; echo "FAIL: $1.h:$line: no data race was named"; exit 1; }
  done
}

passes newest
passes ring
each_order newest
each_order ring
echo "ok"
