# Floors 0 to 2, bottom-up: base, transport, memory, blas, matrix.
# Public headers (installed) and sources (with the headers that stay private).
src_headers = \
  src/osla.h \
  src/base/osla_types.h \
  src/base/osla_error.h \
  src/base/osla_clock.h \
  src/base/osla_log.h \
  src/base/osla_random.h

src_sources = \
  src/base/error.c \
  src/base/clock.c \
  src/base/log.c \
  src/base/random.c
