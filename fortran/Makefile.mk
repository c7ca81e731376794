# Layer 4: the module osla for Fortran. Each source has one module, and osla_c.f90 has two. The
# order of compilation follows from the dependencies below.
fortran_sources = \
  fortran/osla_fortran.h fortran/osla_fortran.c \
  fortran/osla_c.f90 \
  fortran/osla_objects.f90 \
  fortran/osla_collectives.f90 \
  fortran/osla_grids.f90 \
  fortran/osla_devices.f90 \
  fortran/osla_matrices.f90 \
  fortran/osla_elements.f90 \
  fortran/osla_products.f90 \
  fortran/osla_triangles.f90 \
  fortran/osla_solves.f90 \
  fortran/osla_accumulator.f90 \
  fortran/osla_forests.f90 \
  fortran/osla_forest_transfers.f90 \
  fortran/osla_forest_runs.f90 \
  fortran/osla_forest_shapes.f90 \
  fortran/osla_sparse_matrices.f90 \
  fortran/osla_sparse_files.f90 \
  fortran/osla_krylov_solves.f90 \
  fortran/osla_iterations.f90 \
  fortran/osla_records.f90 \
  fortran/osla.f90
AM_FCFLAGS = $(OSLA_FCFLAGS) $(OSLA_SANITIZE) $(FC_MODOUT)fortran $(FC_MODINC)fortran
EXTRA_DIST += fortran/README.md fortran/interfaces.py fortran/left_out.py fortran/kinds.py \
  fortran/osla_accumulator.f90.in fortran/osla_elements.f90.in fortran/osla_products.f90.in \
  fortran/osla_solves.f90.in fortran/osla_triangles.f90.in fortran/osla_forest_transfers.f90.in

if HAVE_FORTRAN
lib_LTLIBRARIES += libosla_fortran.la
pkgconfig_DATA += osla-fortran.pc

fortran_modules = osla_values osla_c osla_objects osla_collectives osla_grids osla_devices osla_matrices osla_elements osla_products osla_triangles \
  osla_solves osla_accumulator osla_forests osla_forest_transfers osla_forest_runs osla_forest_shapes \
  osla_sparse_matrices osla_sparse_files osla_krylov_solves osla_iterations osla_records osla
fortran_between = fortran/osla_grids.lo fortran/osla_devices.lo fortran/osla_matrices.lo fortran/osla_elements.lo \
  fortran/osla_products.lo fortran/osla_triangles.lo fortran/osla_solves.lo fortran/osla_accumulator.lo fortran/osla_forests.lo fortran/osla_forest_transfers.lo \
  fortran/osla_forest_runs.lo fortran/osla_forest_shapes.lo fortran/osla_sparse_matrices.lo fortran/osla_sparse_files.lo \
  fortran/osla_krylov_solves.lo fortran/osla_iterations.lo fortran/osla_records.lo
fortran/osla_objects.lo: fortran/osla_c.lo
fortran/osla_collectives.lo: fortran/osla_objects.lo
$(fortran_between): fortran/osla_collectives.lo
fortran/osla.lo: $(fortran_between)
CLEANFILES += fortran/*.mod

# gfortran, ifx, flang and nvfortran all write module files called NAME.mod.
fortranincludedir = $(oslaincludedir)/$(FORTRAN_MODULES)
install_hooks += install-fortran-modules
uninstall_hooks += uninstall-fortran-modules
install-fortran-modules: libosla_fortran.la
	$(MKDIR_P) "$(DESTDIR)$(fortranincludedir)"
	for name in $(fortran_modules); do \
	  $(INSTALL_DATA) fortran/$$name.mod "$(DESTDIR)$(fortranincludedir)" || exit 1; \
	done
uninstall-fortran-modules:
	for name in $(fortran_modules); do rm -f "$(DESTDIR)$(fortranincludedir)/$$name.mod"; done
endif
libosla_fortran_la_SOURCES = $(fortran_sources)
# The run path lets a program that links only this library find libosla beside it.
libosla_fortran_la_LDFLAGS = -version-info 0:0:0 -no-undefined '-Wl,-rpath,$$ORIGIN'
libosla_fortran_la_LIBADD = libosla.la

# `make fortran-interfaces` writes the generated sources again. `make all` does not do this, because
# it needs Python. check_fortran.sh compares the committed files with the output.
fortran-interfaces:
	$(srcdir)/fortran/interfaces.py $(srcdir) >$(srcdir)/fortran/osla_c.f90.new
	mv $(srcdir)/fortran/osla_c.f90.new $(srcdir)/fortran/osla_c.f90
	$(srcdir)/fortran/kinds.py $(srcdir) $(srcdir)/fortran
.PHONY: fortran-interfaces install-fortran-modules
