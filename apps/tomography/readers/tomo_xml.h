/* Private to tomo_io: XML of one format, read as a stream (SAX2 of libxml2, xmlsoft.org). Local,
 * thread-safe.
 *
 * A file is not trusted: one with a document type declaration is refused before anything in it is
 * read, so that there are no entities but the five of XML and no other file or address is ever
 * opened; memory does not grow with the file (libxml2 bounds names and nesting, this module the
 * rest); neither does the time for a byte: one with more than 256 attributes in an element, 256
 * namespaces in a place or more than 64 to 128 KiB in a tag is refused. */
#ifndef TOMO_XML_H
#define TOMO_XML_H

#include "apps/tomography/readers/tomo_text.h"

enum { XML_TEXT_MAX = 1024 };

typedef struct xml_reader xml_reader;

/* An element begins or ends. `path` is the names from the root's child on, "Network/Station"; an
 * element that is not of the format's namespace is "*" in it. `text` is what stands between its
 * tags, without blanks at the ends, if it has no children (at most XML_TEXT_MAX - 1 bytes; more is
 * reported as it stands, cut). */
typedef struct xml_format {
  const char *root, *root_space; /* name and namespace of the root */
  const char *space;             /* namespace of the elements below */
  const char *name;              /* for messages: "FDSN StationXML 1" */
  osla_err (*begin)(xml_reader *reader, const char *path);
  osla_err (*end)(xml_reader *reader, const char *path, const char *text);
} xml_format;

struct xml_reader {
  text_reader *where; /* file, and the line where the element begins: for messages */
  site_list *list;
  void *state;       /* the format's own */
  const void *parts; /* of the element that begins: see xml_attribute */
  int n_parts;
};

/* In begin: the value of an attribute without namespace, cut to size - 1 bytes. Returns false, and
 * an empty text, where there is none. */
bool xml_attribute(const xml_reader *reader, const char *name, char *value, int size);

/* Reads what the reader has opened. Errors: IO "FILE:LINE: ...", MEM, UNSUPPORTED in a build
 * without libxml2. */
osla_err xml_read(text_reader *where, const xml_format *format, void *state, site_list *list);

/* tomo_stationxml.c, tomo_quakeml.c */
osla_err xml_read_stations(text_reader *where, site_list *list);
osla_err xml_read_events(text_reader *where, site_list *list);

#endif
