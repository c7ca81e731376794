/* Reads XML of one format as a stream, with SAX2 of libxml2, xmlsoft.org (private to the readers).
 * Local, thread-safe.
 *
 * A file is not trusted. A document type declaration is an error before any of its content is read,
 * so only the five predefined entities exist and no other file or address is opened. Memory does
 * not grow with the file (libxml2 limits names and nesting, this module everything else). The time
 * for each byte is bounded, too: more than 256 attributes of an element, 256 open namespaces, or 64
 * to 128 KiB in a tag are errors.
 */
#ifndef TOMO_XML_H
#define TOMO_XML_H

#include "apps/tomography/readers/tomo_text.h"

enum { XML_TEXT_MAX = 1024 };

typedef struct xml_reader xml_reader;

/* Callbacks for the begin and the end of an element. `path` has the names from the root's child on,
 * "Network/Station"; an element of another namespace has the name "*". `text` is the text of an
 * element without children, without outer blanks, cut to XML_TEXT_MAX - 1 bytes. */
typedef struct xml_format {
  const char *root, *root_space; /* name and namespace of the root element */
  const char *space;             /* namespace of the elements below the root */
  /* name of the format in messages, for example "FDSN StationXML 1" */
  const char *name;
  osla_err (*begin)(xml_reader *reader, const char *path);
  osla_err (*end)(xml_reader *reader, const char *path, const char *text);
} xml_format;

struct xml_reader {
  text_reader *where; /* the file, and the line at which the current element begins, for messages */
  site_list *list;
  void *state;       /* state of the format's callbacks */
  const void *parts; /* attributes of the current element, for xml_attribute */
  int n_parts;
};

/* Copies the value of an attribute without namespace, cut to size - 1 bytes. Only the callback
 * `begin` may call it. Returns false and an empty text if the element has no such attribute. */
bool xml_attribute(const xml_reader *reader, const char *name, char *value, int size);

/* Parses the file that `where` has opened. Errors: IO "FILE:LINE: ...", MEM, UNSUPPORTED in a build
 * without libxml2. */
osla_err xml_read(text_reader *where, const xml_format *format, void *state, site_list *list);

/* Readers in tomo_stationxml.c and tomo_quakeml.c. */
osla_err xml_read_stations(text_reader *where, site_list *list);
osla_err xml_read_events(text_reader *where, site_list *list);

#endif
