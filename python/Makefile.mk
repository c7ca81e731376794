# The Python package osla. core/ is C and becomes one extension module, osla/ is Python. The build
# puts both into python/osla of the build tree, for PYTHONPATH=build/python.
python_modules = \
  python/osla/__init__.py \
  python/osla/_errors.py \
  python/osla/_words.py \
  python/osla/_calls.py \
  python/osla/_device_arrays.py \
  python/osla/transport.py python/osla/device.py \
  python/osla/matrix.py \
  python/osla/kernels.py python/osla/products.py \
  python/osla/hessian.py \
  python/osla/file.py \
  python/osla/forest.py python/osla/sparse.py \
  python/osla/iterations.py \
  python/osla/_core.pyi \
  python/osla/py.typed
python_sources = \
  python/core/core.h \
  python/core/errors.c \
  python/core/kinds.c \
  python/core/process.c \
  python/core/handle.c \
  python/core/handle_type.c \
  python/core/end.c \
  python/core/arrays.c \
  python/core/options.c \
  python/core/mpi.c \
  python/core/transport.c \
  python/core/matrix.c python/core/registration.c python/core/device.c \
  python/core/kernels.c python/core/products.c \
  python/core/solve.c \
  python/core/hessian.c \
  python/core/file.c \
  python/core/forest.c python/core/transfer.c \
  python/core/sparse.c python/core/iterate.c \
  python/core/module.c
python_tests = \
  python/tests/conftest.py python/tests/bindings.py \
  python/tests/test_lifetime.py python/tests/test_collective_errors.py \
  python/tests/test_matrix.py python/tests/test_device.py python/tests/test_device_arrays.py \
  python/tests/test_kernels.py python/tests/test_products.py \
  python/tests/test_hessian.py python/tests/test_hessian_on.py \
  python/tests/test_file.py \
  python/tests/test_forest.py python/tests/test_transfer.py \
  python/tests/test_sparse.py python/tests/test_iterations.py \
  python/tests/test_conversions.py python/tests/test_normals.py python/tests/test_surface.py python/tests/endings.py \
  python/tests/with_mpi4py.py \
  python/tests/overhead.c \
  python/tests/overhead.py

EXTRA_DIST += $(python_modules) $(python_sources) $(python_tests) python/examples/inversion.py \
  python/examples/normals.py python/examples/sinex.py python/examples/packed.py python/examples/make_normals.py \
  python/README.md

if HAVE_PYTHON
python_packagedir = $(pythondir)/osla
python_package_LTLIBRARIES = python/_core.la
dist_python_package_DATA = $(python_modules)
python__core_la_SOURCES = $(python_sources)
python__core_la_CPPFLAGS = $(AM_CPPFLAGS) $(PYTHON_CFLAGS)
python__core_la_CFLAGS = $(OSLA_CFLAGS) $(OSLA_SANITIZE)
python__core_la_LIBTOOLFLAGS = $(shared_alone)
python__core_la_LDFLAGS = -module -avoid-version -shared -shrext .abi3.so -export-symbols-regex '^PyInit__core$$'
python__core_la_LIBADD = libosla.la -ldl

noinst_DATA += python/osla/built
python/osla/built: $(addprefix $(srcdir)/,$(python_modules)) python/_core.la
	$(AM_V_GEN)$(MKDIR_P) python/osla && \
	for f in $(python_modules); do \
	  test $(srcdir)/$$f -ef $$f || cp $(srcdir)/$$f python/osla/ || exit 1; \
	done && ln -sf ../.libs/_core.abi3.so python/osla/_core.abi3.so && touch $@
CLEANFILES += python/osla/built python/osla/_core.abi3.so
clean_hooks += clean-python-modules
clean-python-modules:
	for f in $(python_modules); do test $(srcdir)/$$f -ef $$f || rm -f $$f; done

# An extension module needs no libtool file, so `make install` removes it.
install_hooks += install-python-module
uninstall_hooks += uninstall-python-package
install-python-module:
	rm -f $(DESTDIR)$(python_packagedir)/_core.la
uninstall-python-package:
	rm -rf $(DESTDIR)$(python_packagedir)
endif
