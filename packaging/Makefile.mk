# Recipes for packages. make builds nothing in this folder.
EXTRA_DIST += \
  packaging/make_deb packaging/spack/package.py packaging/easybuild/osla-main-foss-2023a.eb \
  packaging/debian/control packaging/debian/rules packaging/debian/copyright packaging/debian/source/format \
  packaging/debian/libosla0.install packaging/debian/libosla-fortran0.install \
  packaging/debian/libosla-scalapack.install packaging/debian/libosla-scalapack.triggers packaging/debian/libosla-scalapack.lintian-overrides \
  packaging/debian/libosla-dev.install packaging/debian/libosla-dev.examples \
  packaging/debian/osla.install packaging/debian/python3-osla.install packaging/debian/osla.docs packaging/debian/not-installed
