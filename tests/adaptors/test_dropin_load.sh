#!/usr/bin/env bash
# The drop-in with ScaLAPACK loaded in different ways: by the program, by a plug-in with RTLD_LOCAL,
# by Python; and without ScaLAPACK. The lengths of CHARACTER arguments reach the real routine.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
read -ra compiler <<<"$CC"
read -ra plain <<<"$PLAIN_CC"
read -ra libraries <<<"$SCALAPACK_LIBS"

# no effect in a process without MPI
for bind in "" 1; do
  [ "$(LD_BIND_NOW=$bind LD_PRELOAD=$preload sh -c 'echo started' 2>&1)" = started ] || complain "sh, LD_BIND_NOW=$bind"
done
LD_PRELOAD=$preload cat /proc/self/maps >maps
grep -q libosla_scalapack maps || complain "it is not loaded"
sed 's|.*/||' maps | grep -E 'mpi|blas|scalapack_kernels' && complain "a process without MPI gets all of this"

# a plug-in
"${plain[@]}" -o host "$SRCDIR/tests/adaptors/dropin_host.c" -ldl || complain "no host"
"${compiler[@]}" -I"$SRCDIR" -shared -fPIC -Dmain=plugin_main -o plugin.so "$SRCDIR"/tests/adaptors/dropin_{random,program}.c \
  "${libraries[@]}" -lm || complain "no plug-in"
export LD_LIBRARY_PATH=$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
run program 2 "$BUILDDIR/tests/adaptors/dropin_random" 40 NONE=
run plugin 2 ./host "plugin.so 40" "${on[@]}"
same "a plug-in" program plugin
[ "$(taken plugin.err pdsyrk)" -gt 0 ] || { complain "no call of a plug-in was taken"; cat plugin.err; }
run plugin 2 ./host "plugin.so 40" "${on[@]}" LD_BIND_NOW=1
same "a plug-in, bound at once" program plugin
[ "$(taken plugin.err pdsyrk)" -gt 0 ] || complain "no call of a plug-in was taken, bound at once"
run plugin 2 ./host "plugin.so 40" "${on[@]}" OSLA_SCALAPACK=off
same "a plug-in, switched off" program plugin
grep -q '^pdsyrk .* switched off$' plugin.err || complain "a plug-in, switched off"

# Python
scalapack=$(ldd "$BUILDDIR/tests/adaptors/dropin_random" | awk '/scalapack/ {print $3; exit}')
if command -v python3 >/dev/null && [ -n "$scalapack" ]; then
  for mode in force off; do
    run python 2 python3 "$SRCDIR/tests/adaptors/dropin_ctypes.py $scalapack" "${on[@]}" OSLA_SCALAPACK=$mode
    [ "$(cat python)" = "info 0 error 0" ] || { complain "Python, $mode"; cat python python.err; }
    [ "$(taken python.err pdgetrf)" = $([ $mode = off ] && echo 0 || echo 1) ] || { complain "Python, $mode"; cat python.err; }
  done
else
  echo "no python3, or ScaLAPACK is not a shared library"
fi

# lengths of CHARACTER arguments are passed by the kernels' library, and also if that library is
# missing
"${plain[@]}" -shared -fPIC -o lengths.so "$SRCDIR/tests/adaptors/dropin_lengths.c" -ldl || complain "no library for lengths"
cp "$library" alone.so
for program in dropin_random dropin_lapack; do
  run expected 2 "$BUILDDIR/tests/adaptors/$program" 40 NONE=
  run lengths 2 "$BUILDDIR/tests/adaptors/$program" 40 "${on[@]}" LD_PRELOAD="$preload $scratch/lengths.so" OSLA_SCALAPACK=off
  same "$program, lengths" expected lengths
  run alone 2 "$BUILDDIR/tests/adaptors/$program" 40 "${on[@]}" \
    LD_PRELOAD="${preload/$library/$scratch/alone.so} $scratch/lengths.so"
  same "$program, no kernels" expected alone
  [ "$(grep -c 'all calls are passed on: libosla_scalapack_kernels.so' alone.err)" = 2 ] || complain "no word of missing kernels"
done

# the two libraries define equal routines
for l in "$library" "${library%.so}_kernels.so"; do
  nm -D --defined-only "$l" | awk '$3 ~ /^p.*_$/ {print $3}' | sort >"names.$(basename "$l")"
done
diff names.* || complain "the two libraries have other routines"

[ $failures = 0 ] && echo "the drop-in is found, and finds, what its caller has"
