# The recipe for Spack 1.0 or newer: copy it to packages/osla/ of your own repository (spack repo
# create).
from spack.package import *
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage


class Osla(AutotoolsPackage):
    """One-sided linear algebra: dense and sparse kernels on MPI's remote memory access, an accumulator
    for large symmetric matrices, and linearised surface-wave tomography."""

    homepage = "https://example.org/osla"
    git = "https://example.org/osla.git"
    maintainers("osla-developers")
    license("BSD-3-Clause")

    version("main", branch="main")

    variant("shared", default=True, description="Build shared libraries and the drop-in for ScaLAPACK")
    variant("fortran", default=True, description="Build the module osla for Fortran")
    variant("hdf5", default=True, description="Write and read HDF5 files")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("blas")
    depends_on("lapack")
    depends_on("popt")
    depends_on("jansson")
    depends_on("libxml2")
    depends_on("netcdf-c")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("cunit", type="test")

    def configure_args(self):
        spec = self.spec
        libs = spec["lapack"].libs + spec["blas"].libs
        args = [f"CC={spec['mpi'].mpicc}", f"--with-blas={libs.ld_flags}"]
        args += self.enable_or_disable("shared")
        args += self.with_or_without("fortran")
        args.append("--without-python")
        if spec.satisfies("+fortran"):
            args.append(f"FC={spec['mpi'].mpifc}")
        return args
