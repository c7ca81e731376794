# Floor 4: the command.
AM_CPPFLAGS += -I$(srcdir)/tools -I$(srcdir)/tools/info -I$(srcdir)/tools/invert \
  -I$(srcdir)/tools/tomo $(POPT_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += osla
osla_SOURCES = \
  tools/info/info.h tools/info/info.c tools/info/info_system.c tools/info/info_transport.c \
  tools/info/info_probe.c tools/info/info_speed.c tools/info/info_rules.c \
  tools/info/info_print.c tools/info/info_json.c tools/info/info_watchdog.c \
  tools/osla.c
osla_LDADD = tools/libinvert.la tools/libtomo.la libosla.la $(POPT_LIBS) $(JANSSON_LIBS)
