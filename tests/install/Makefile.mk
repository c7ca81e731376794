tests_scripts += \
  tests/install/check_abi.sh \
  tests/install/check_archive.sh \
  tests/install/check_blas.sh \
  tests/install/check_cmake.sh \
  tests/install/check_doc.sh \
  tests/install/check_exports.sh \
  tests/install/check_floors.sh \
  tests/install/check_fortran.sh \
  tests/install/check_install.sh \
  tests/install/check_one_mpi.sh \
  tests/install/check_packaging.sh \
  tests/install/check_runner.sh \
  tests/install/check_tree.sh \
  tests/install/test_chroot.sh \
  tests/install/test_deb.sh
EXTRA_DIST += tests/install/configure.sh tests/install/installed.sh tests/install/check_floors.py tests/install/circles.py tests/install/listed.py tests/install/stable_names.py tests/install/abi/describe \
  tests/install/abi/from_headers tests/install/abi/libosla-x86_64-mpich.abi

# `make abi` writes the description of the library with which check_abi.sh compares, for this kind
# of machine and this MPI.
abi: libosla.la
	$(srcdir)/tests/install/abi/describe .libs/libosla.so >$(srcdir)/tests/install/abi/libosla-`uname -m`-$(MPI_FAMILY).abi
.PHONY: abi
