#!/usr/bin/env bash
# Uses CMake to find and link the library, after it was installed into a folder and copied
# elsewhere.
set -u
HAVE_GA=no HAVE_FORTRAN=no
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS LDFLAGS CFLAGS

fail() { echo "check_cmake: $*"; exit 1; }
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }
command -v cmake >/dev/null || { echo "cmake not found (Debian package: cmake)"; exit 77; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$SRCDIR/tests/install/installed.sh"
config=$(find "$installed" -name osla-config.cmake)
[ -n "$config" ] || fail "no osla-config.cmake installed"
# the prefix becomes $scratch/moved
prefix=$(cd "$(dirname "$config")/../../.." && pwd)
[ -d "$prefix/include/osla" ] || prefix=$(dirname "$prefix") # lib/MACHINE
cp -a "$prefix" "$scratch/moved" || exit 1

mkdir "$scratch/user"
cp "$SRCDIR/doc/example.c" "$scratch/user/example.c"
cp "$SRCDIR/doc/example.f90" "$scratch/user"
cp "$SRCDIR/ga_adapt/example.c" "$scratch/user/example_ga.c"
cat >"$scratch/user/CMakeLists.txt" <<'EOT'
cmake_minimum_required(VERSION 3.12)
project(user C)
find_package(osla 0.1 REQUIRED)
find_package(osla 0.1 REQUIRED) # twice, as in large projects
add_executable(example example.c)
target_link_libraries(example osla::osla)
if(TARGET osla::ga)
  add_executable(example_ga example_ga.c)
  target_link_libraries(example_ga osla::ga)
endif()
if(TARGET osla::scalapack)
  message(STATUS "scalapack there")
endif()
if(TARGET osla::fortran)
  enable_language(Fortran)
  add_executable(example_fortran example.f90)
  target_link_libraries(example_fortran osla::fortran)
endif()
EOT
flags=()
[ -z "$SANITIZE_FLAGS" ] || flags=("-DCMAKE_C_FLAGS=$SANITIZE_FLAGS" "-DCMAKE_Fortran_FLAGS=$SANITIZE_FLAGS")
[ "$HAVE_FORTRAN" = no ] || flags+=("-DCMAKE_Fortran_COMPILER=$FC")

configure() { # FOLDER OPTION...: CMake on the user's project
  local folder=$1
  shift
  rm -rf "${scratch:?}/$folder"
  cmake -S "$scratch/user" -B "$scratch/$folder" -DCMAKE_PREFIX_PATH="$scratch/moved" "${flags[@]}" "$@" >"$scratch/out" 2>&1
}
refused() { # TEXT: the last configure must have failed, with it
  tr -s ' \n' ' ' <"$scratch/out" | grep -qF "$1" || { cat "$scratch/out"; fail "expected: $1"; }
}

configure build || { cat "$scratch/out"; fail "cmake"; }
grep -q 'scalapack there' "$scratch/out" || [ ! -f "$BUILDDIR/.libs/libosla.so" ] || fail "no osla::scalapack"
quietly make -C "$scratch/build" VERBOSE=1
grep -q "$BUILDDIR" "$scratch/out" && fail "a folder of the build is used"
for ranks in 1 2; do
  quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n $ranks "$scratch/build/example"
  grep -qE '^info 0, largest \|x\| 0\.[0-9]+$' "$scratch/out" || { cat "$scratch/out"; fail "example on $ranks ranks"; }
done
if [ "$HAVE_FORTRAN" = yes ]; then
  quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/build/example_fortran"
  grep -qE '^info 0, largest \|x\| 0\.[0-9]+$' "$scratch/out" || { cat "$scratch/out"; fail "the example in Fortran"; }
fi
[ "$HAVE_GA" = no ] || [ -x "$scratch/build/example_ga" ] || fail "osla::ga was built, and is not found"

sed -i 's/osla 0.1 REQUIRED/osla 0.1 REQUIRED COMPONENTS nonesuch/' "$scratch/user/CMakeLists.txt"
configure other && fail "a component that does not exist was found"
refused "built without nonesuch"
sed -i 's/osla 0.1 REQUIRED COMPONENTS nonesuch/osla 77.0 REQUIRED/' "$scratch/user/CMakeLists.txt"
configure other && fail "version 77 was found"
refused "version: $(sed -n 's/^Version: //p' "$BUILDDIR/osla.pc")"
sed -i 's/osla 77.0/osla 0.1/' "$scratch/user/CMakeLists.txt"
echo '#include <mpi.h>' >"$scratch/mpi.c"
for family in mpich openmpi; do # MPI of the other family, if this machine has its wrapper and headers
  [ $family != "$MPI_FAMILY" ] && mpicc.$family -c "$scratch/mpi.c" -o "$scratch/mpi.o" 2>/dev/null || continue
  configure other -DMPI_C_COMPILER="$(command -v mpicc.$family)" -DCMAKE_C_COMPILER="$(command -v gcc)" && fail "$family was taken for $MPI_FAMILY"
  refused "built with $MPI_FAMILY, and CMake has found $family"
done
echo "CMake $(cmake --version | sed -n '1s/[^0-9]*//p'): found where it was moved to, used on 1 and 2 ranks"
