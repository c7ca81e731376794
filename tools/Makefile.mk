# Floor 4: the command.
AM_CPPFLAGS += -I$(srcdir)/tools -I$(srcdir)/tools/tomo -I$(srcdir)/tools/invert $(POPT_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += osla
osla_SOURCES = \
  tools/info.h tools/info.c tools/info_system.c tools/info_transport.c tools/info_probe.c \
  tools/info_speed.c tools/info_rules.c tools/info_print.c tools/info_json.c \
  tools/info_watchdog.c \
  tools/osla.c
osla_LDADD = tools/libinvert.la tools/libtomo.la libosla.la $(POPT_LIBS) $(JANSSON_LIBS)
