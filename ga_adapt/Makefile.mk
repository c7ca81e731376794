# Layer 4: the adaptor to Global Arrays, in the separate library libosla_ga.
AM_CPPFLAGS += $(GA_CFLAGS)

ga_adapt_sources = \
  ga_adapt/ga_internal.h \
  ga_adapt/ga_session.c \
  ga_adapt/ga_array.c ga_adapt/ga_local.c \
  ga_adapt/ga_matrix.c \
  ga_adapt/ga_gemm.c \
  ga_adapt/ga_factor.c \
  ga_adapt/ga_hessian.c

# The library that programs with Global Arrays link; empty if the build has no Global Arrays.
if HAVE_GA
ga_adapt_libs = libosla_ga.la
endif

EXTRA_DIST += ga_adapt/example.c ga_adapt/README.md
