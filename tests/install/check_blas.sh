#!/usr/bin/env bash
# configure's choice of a BLAS: it must refuse one with 64-bit integers (ILP64), although it links,
# and accept one with MKL's header instead of cblas.h.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/install/configure.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "check_blas: $*"; cat out; failed=1; }
make_configure with_blas=auto OSLA_CHECK_BLAS

# An imitation of an ILP64 library, which the machine's pkg-config presents as OpenBLAS.
mkdir ilp64 mkl job
cat >ilp64/cblas.h <<'EOT'
void cblas_dgemm(void);
EOT
cat >ilp64/blas.c <<'EOT'
#include <stdint.h>
void cblas_dgemm(void) {}
void dpotrf_(void) {}
void dgetrf_(void) {}
double dasum_(const int64_t *n, const double *x, const int64_t *incx)
{
  return *n > 0 && *incx > 0 ? *x : 0;
}
EOT
read -ra compiler <<<"$CC"
"${compiler[@]}" -shared -fPIC -o ilp64/libilp64.so ilp64/blas.c || { echo "cannot compile"; exit 1; }
cat >pkg-config <<EOT
#!/bin/sh
case "\$*" in
  *--exists*openblas) exit 0 ;;
  *--cflags*openblas) echo "-I$scratch/ilp64" ;;
  *--libs*openblas) echo "-L$scratch/ilp64 -Wl,-rpath,$scratch/ilp64 -lilp64" ;;
  *version*) exit 0 ;;
  *) exit 1 ;;
esac
EOT
chmod +x pkg-config

# Only MKL's header: mkl_cblas.h declares what cblas.h does.
system=$(echo '#include <cblas.h>' | "${compiler[@]}" -E - | sed -n 's/^# [0-9]* "\(.*cblas.*\.h\)".*/\1/p' | head -n 1)
[ -n "$system" ] || { echo "the header of this BLAS was not found"; exit 77; }
echo '#error "this is not MKL"' >mkl/cblas.h
echo "#include \"$system\"" >mkl/mkl_cblas.h

(cd job && configure PKG_CONFIG="$scratch/pkg-config" BLAS_CFLAGS="-I$scratch/mkl") >out 2>&1
grep -qE '^checking for CBLAS and LAPACK\.\.\. -l.*, mkl_cblas\.h$' out ||
  fail "no other BLAS was taken, with mkl_cblas.h"
grep -qE '^configure: not taken: .*-lilp64, whose integers have 64 bits' out ||
  fail "nothing is said of the BLAS with integers of 64 bits"
exit $failed
