# Manual pages, guides and example programs.
dist_man_MANS = \
  doc/osla.1 \
  doc/osla-info.1 \
  doc/osla-invert.1 \
  doc/osla-assemble.1 \
  doc/osla-solve.1 \
  doc/osla-reference.1 \
  doc/osla-bench.1 \
  doc/osla-calibrate.1

EXTRA_DIST += doc/measurements.md doc/example_data.csv doc/design.md doc/hazards.md doc/clusters.md doc/simulation.md doc/devices.md doc/scalapack.md doc/global_arrays.md doc/grid_and_blocks.md doc/large_machines.md doc/papers.md doc/assemble_or_not.md doc/normal_equations.md doc/asynchronous.md doc/python.md doc/reference.md doc/fortran.md \
  doc/grid_and_blocks.c doc/map.png doc/example.c doc/example.f90 doc/asynchronous.c doc/write_updates.c doc/write_updates.py

# `make doc` makes all documentation as HTML, in site/html of the build tree.
doc_site = doc/site/build doc/site/conf.py doc/site/contracts.py doc/site/pages.py doc/site/check.py \
  doc/site/site.css
EXTRA_DIST += $(doc_site)
doc:
	@test -z "$(DOC_PACKAGES)" || { echo "make doc: tools are missing (Debian packages: $(DOC_PACKAGES)); then configure again" >&2; exit 1; }
	@SPHINX_BUILD="$(SPHINX_BUILD)" DOXYGEN="$(DOXYGEN)" MANDOC="$(MANDOC)" \
	  $(srcdir)/doc/site/build $(srcdir) site $(PACKAGE_VERSION) $(filter-out include/osla.h include/osla_unstable.h,$(public_headers)) $(ga_headers)
.PHONY: doc
mostlyclean-local:
	rm -rf site
