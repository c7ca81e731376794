# Floor 4: the command.
AM_CPPFLAGS += -I$(srcdir)/tools -I$(srcdir)/tools/tomo $(POPT_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += osla
osla_SOURCES = \
  tools/command.h tools/command.c tools/command_util.c \
  tools/info.c \
  tools/osla.c
osla_LDADD = libosla.la $(POPT_LIBS) $(JANSSON_LIBS)
