#!/usr/bin/env bash
# The triple buffer of channels between two threads, under ThreadSanitizer; and that it would tell: a
# build whose exchanges are relaxed must fail.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
compile() { gcc -std=gnu17 -O1 -g -fsanitize=thread -I"$1" "$SRCDIR/tests/newest_threads.c" -o "$2" -lpthread; }
if ! compile "$SRCDIR/src/memory" good >out 2>&1 || ! echo 'int main(void){return 0;}' | gcc -fsanitize=thread -x c - -o none; then
  echo "no ThreadSanitizer for gcc here"
  exit 77
fi
./none >out 2>&1 || { echo "ThreadSanitizer does not run here"; exit 77; }
export TSAN_OPTIONS=halt_on_error=1:exitcode=66
./good >out 2>&1 || { cat out; echo "FAIL: the triple buffer"; exit 1; }
mkdir relaxed
sed 's/memory_order_acq_rel/memory_order_relaxed/' "$SRCDIR/src/memory/newest.h" >relaxed/newest.h
compile relaxed bad >out 2>&1 || { cat out; exit 1; }
./bad >out 2>&1 && { cat out; echo "FAIL: relaxed exchanges were not found"; exit 1; }
grep -q 'data race' out || { cat out; echo "FAIL: no data race was named"; exit 1; }
echo "ok"
