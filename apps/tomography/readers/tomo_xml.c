/* Reads XML as a stream (contract: tomo_xml.h).
 *
 * libxml2's push parser gets the file in pieces and calls back for each tag and text. It calls back
 * for a document type declaration after reading its name and before its content; the parser is
 * stopped there. The parser's errors come through a structured callback, so that nothing is
 * printed. In libxml2 2.9, errors of character encodings do not reach the parser's callback but the
 * thread's, so both callbacks are set.
 *
 * libxml2 2.9 compares each attribute of an element with all others, and searches all open
 * namespaces. The callback of an element limits their numbers. The length of a tag is limited
 * earlier: the parser waits for the end of a start tag, and this module stops it if that end does
 * not come in time.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/readers/tomo_xml.h"

#ifdef HAVE_LIBXML2

#include <ctype.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

enum { DEPTH_MAX = 64, PATH_LENGTH_MAX = 512, PIECE = 1 << 16 };
enum {
  ATTRIBUTES_MAX = 256, /* limit for an element's attributes, and for open namespaces */
  /* limit in bytes of a tag; it is checked once for each piece of the file, so a tag may have up to
   * PIECE bytes more */
  TAG_MAX = 1 << 16
};

typedef struct parse {
  xml_reader reader;
  const xml_format *format;
  xmlParserCtxtPtr context;
  osla_err err; /* the first error; its text is in osla_error_text() */
  int depth;    /* number of open elements, with the root */
  char path[PATH_LENGTH_MAX];
  size_t length[DEPTH_MAX]; /* length of `path` up to each depth of nesting */
  int64_t line[DEPTH_MAX];  /* line at which each open element began */
  int spaces[DEPTH_MAX]; /* number of namespaces declared by the open elements up to each depth */
  char text[XML_TEXT_MAX];
  size_t n_text;
  /* namespace of the first child of the root that is not in the format's namespace */
  char foreign[2 * TEXT_SHOWN];
  int64_t foreign_line;
} parse;

static int64_t line_now(const parse *p)
{
  return p->context->input ? p->context->input->line : 0;
}

/* Returns the error IO "FILE:LINE: XML: message" for the parser's current line. */
__attribute__((format(printf, 2, 3))) static osla_err xml_error(const parse *p, const char *format,
                                                                ...)
{
  char text[400];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return osla_error_set(OSLA_ERR_IO, "%s:%lld: XML: %s", p->reader.where->file,
                        (long long)line_now(p), text);
}
#define XML_CHECK(p, condition, ...)                                                               \
  do {                                                                                             \
    if (!(condition)) return xml_error(p, __VA_ARGS__);                                            \
  } while (0)

static void stop(parse *p, osla_err err)
{
  if (p->err == OSLA_OK) p->err = err;
  if (err != OSLA_OK) xmlStopParser(p->context);
}

/* --- callbacks --- */

#if LIBXML_VERSION < 21200
typedef xmlErrorPtr parser_error;
#else
typedef const xmlError *parser_error;
#endif

/* Records the parser's error, without line ends and unprintable characters. Does not stop the
 * parser, because libxml2 2.9 crashes if it is stopped during a change of encoding. */
static void note_error(void *user, parser_error error)
{
  parse *p = user;
  char text[160];
  int n = 0;
  if (p->err != OSLA_OK || error->level < XML_ERR_ERROR) return;
  for (const char *c = error->message ? error->message : ""; *c && n < (int)sizeof text - 1; c++)
    text[n++] = isprint((unsigned char)*c) ? *c : *c == '\n' ? ' ' : '?';
  while (n > 0 && text[n - 1] == ' ')
    n--;
  text[n] = '\0';
  p->err = osla_error_set(error->code == XML_ERR_NO_MEMORY ? OSLA_ERR_MEM : OSLA_ERR_IO,
                          "%s:%lld: XML: %s", p->reader.where->file,
                          (long long)(error->line > 0 ? error->line : line_now(p)), text);
}

static void on_error(void *user, parser_error error)
{
  parse *p = user;
  note_error(user, error);
  if (p->err != OSLA_OK) xmlStopParser(p->context);
}

static void on_document_type(void *user, const xmlChar *name, const xmlChar *external,
                             const xmlChar *system)
{
  parse *p = user;
  (void)name, (void)external, (void)system;
  stop(p, xml_error(p, "a document type declaration, which is not accepted"));
}

enum { SPACE_SHOWN = 2 * TEXT_SHOWN };

/* Copies a namespace with '?' for unprintable characters. */
static void show_space(const char *space, char shown[SPACE_SHOWN])
{
  (void)snprintf(shown, SPACE_SHOWN, "%s", space);
  for (char *c = shown; *c; c++)
    if (!isgraph((unsigned char)*c)) *c = '?';
}

static osla_err check_root(parse *p, const char *name, const char *space)
{
  const xml_format *f = p->format;
  char shown[TEXT_SHOWN], space_shown[SPACE_SHOWN];
  if (strcmp(name, f->root) == 0 && strcmp(space, f->root_space) == 0) return OSLA_OK;
  text_printable(name, shown);
  show_space(space, space_shown);
  return xml_error(p,
                   "the root is \"%s\" of namespace \"%s\", and %s has \"%s\" "
                   "of \"%s\"",
                   shown, space_shown, f->name, f->root, f->root_space);
}

/* Appends the element's name to the path. */
static osla_err descend(parse *p, const char *name, const char *space)
{
  const bool ours = strcmp(space, p->format->space) == 0;
  const char *step = ours ? name : "*";
  const size_t length = p->depth > 1 ? p->length[p->depth - 1] : 0;
  if (p->depth == 0) {
    p->length[p->depth++] = 0;
    return check_root(p, name, space);
  }
  XML_CHECK(p, p->depth < DEPTH_MAX, "elements are nested more than %d deep", DEPTH_MAX);
  const size_t room = sizeof p->path - length;
  const int n = snprintf(p->path + length, room, "%s%s", length > 0 ? "/" : "", step);
  XML_CHECK(p, (size_t)n < room, "names of elements are too long");
  if (p->depth == 1 && !ours && p->foreign_line == 0) {
    show_space(space, p->foreign);
    p->foreign_line = line_now(p);
  }
  p->length[p->depth] = length + (size_t)n;
  p->line[p->depth] = p->reader.where->line = line_now(p);
  p->depth++;
  return p->format->begin(&p->reader, p->path);
}

/* Checks the numbers of attributes and open namespaces; `n_spaces` is the number that the element
 * declares. Called before the depth grows. */
static osla_err check_counts(parse *p, int n_spaces, int n_parts)
{
  const int open = n_spaces + (p->depth > 0 ? p->spaces[p->depth - 1] : 0);
  XML_CHECK(p, n_parts <= ATTRIBUTES_MAX, "an element has %d attributes, more than %d", n_parts,
            ATTRIBUTES_MAX);
  XML_CHECK(p, open <= ATTRIBUTES_MAX, "%d namespaces are declared here, more than %d", open,
            ATTRIBUTES_MAX);
  if (p->depth < DEPTH_MAX) p->spaces[p->depth] = open;
  return OSLA_OK;
}

static void on_begin(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *space,
                     int n_spaces, const xmlChar **spaces, int n_parts, int n_defaulted,
                     const xmlChar **parts)
{
  parse *p = user;
  (void)prefix, (void)spaces, (void)n_defaulted;
  if (p->err == OSLA_OK) stop(p, check_counts(p, n_spaces, n_parts));
  if (p->err != OSLA_OK) return;
  p->n_text = 0;
  p->reader.parts = parts;
  p->reader.n_parts = n_parts;
  stop(p, descend(p, (const char *)name, space ? (const char *)space : ""));
  p->reader.n_parts = 0;
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *space)
{
  parse *p = user;
  (void)name, (void)prefix, (void)space;
  if (p->err != OSLA_OK) return;
  p->depth--;
  if (p->depth == 0) return;
  while (p->n_text > 0 && strchr(" \t\r\n", p->text[p->n_text - 1]))
    p->n_text--;
  p->text[p->n_text] = '\0';
  p->reader.where->line = p->line[p->depth];
  stop(p, p->format->end(&p->reader, p->path, p->text + strspn(p->text, " \t\r\n")));
  p->path[p->length[p->depth - 1]] = '\0';
  p->n_text = 0;
}

static void on_text(void *user, const xmlChar *bytes, int count)
{
  parse *p = user;
  const size_t room = sizeof p->text - 1 - p->n_text;
  const size_t n = (size_t)count < room ? (size_t)count : room;
  memcpy(p->text + p->n_text, bytes, n);
  p->n_text += n;
}

/* --- the file --- */

/* Copies an attribute's value, with "&" for "&#38;". libxml2's SAX parser passes an ampersand as
 * "&#38;". */
static void copy_value(const char *from, const char *end, char *value, int size)
{
  static const char ampersand[] = "&#38;";
  const ptrdiff_t length = (ptrdiff_t)sizeof ampersand - 1;
  int n = 0;
  while (from < end && n < size - 1) {
    const bool escaped = end - from >= length && memcmp(from, ampersand, (size_t)length) == 0;
    value[n++] = *from;
    from += escaped ? length : 1;
  }
  value[n] = '\0';
}

bool xml_attribute(const xml_reader *reader, const char *name, char *value, int size)
{
  /* five pointers for each attribute: name, prefix, namespace, begin and end of the value */
  const xmlChar *const *part = reader->parts;
  value[0] = '\0';
  for (int i = 0; i < reader->n_parts; i++, part += 5) {
    if (part[2] || strcmp((const char *)part[0], name) != 0) continue;
    copy_value((const char *)part[3], (const char *)part[4], value, size);
    return true;
  }
  return false;
}

/* Stops the parser if it waits for the end of a start tag that is too long. */
static void check_tag(parse *p)
{
  const xmlParserInput *input = p->context->input;
  if (p->err != OSLA_OK || !input || p->context->instate != XML_PARSER_START_TAG) return;
  if (input->end - input->cur > TAG_MAX)
    stop(p, xml_error(p, "a tag of more than %d bytes", TAG_MAX));
}

static void feed(parse *p)
{
  static const char short_file[] = "%s:%lld: XML: the file ends before the root";
  text_reader *where = p->reader.where;
  char piece[PIECE];
  size_t n;
  while (p->err == OSLA_OK && (n = text_read_bytes(where, piece, sizeof piece)) > 0) {
    (void)xmlParseChunk(p->context, piece, (int)n, 0);
    check_tag(p);
  }
  if (p->err == OSLA_OK && ferror(where->stream))
    p->err = osla_error_set(OSLA_ERR_IO, "%s: cannot be read", where->file);
  if (p->err == OSLA_OK) (void)xmlParseChunk(p->context, NULL, 0, 1);
  if (p->err == OSLA_OK && (!p->context->wellFormed || p->depth > 0))
    p->err = osla_error_set(OSLA_ERR_IO, short_file, where->file, (long long)line_now(p));
}

osla_err xml_read(text_reader *where, const xml_format *format, void *state, site_list *list)
{
  xmlSAXHandler calls = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = on_begin,
                         .endElementNs = on_end,
                         .characters = on_text,
                         .cdataBlock = on_text,
                         .internalSubset = on_document_type,
                         .serror = on_error};
  parse p = {.reader = {.where = where, .list = list, .state = state}, .format = format};
  xmlInitParser();
  const xmlStructuredErrorFunc others = xmlStructuredError;
  void *const theirs = xmlStructuredErrorContext;
  p.context = xmlCreatePushParserCtxt(&calls, &p, NULL, 0, NULL);
  OSLA_CHECK(p.context, OSLA_ERR_MEM, "%s: no memory for the XML parser", where->file);
  (void)xmlCtxtUseOptions(p.context, XML_PARSE_NONET);
  xmlSetStructuredErrorFunc(&p, note_error);
  feed(&p);
  xmlSetStructuredErrorFunc(theirs, others);
  xmlFreeDoc(p.context->myDoc);
  xmlFreeParserCtxt(p.context);
  OSLA_CALL(p.err);
  OSLA_CHECK(
    list->count > 0 || p.foreign_line == 0, OSLA_ERR_IO,
    "%s:%lld: XML: elements below the root have the namespace \"%s\", and those of %s \"%s\"",
    where->file, (long long)p.foreign_line, p.foreign, format->name, format->space);
  return OSLA_OK;
}

#else

bool xml_attribute(const xml_reader *reader, const char *name, char *value, int size)
{
  (void)reader, (void)name, (void)size;
  value[0] = '\0';
  return false;
}

osla_err xml_read(text_reader *where, const xml_format *format, void *state, site_list *list)
{
  (void)state, (void)list;
  return osla_error_set(OSLA_ERR_UNSUPPORTED,
                        "%s: is XML, but this build cannot read %s: it has no libxml2", where->file,
                        format->name);
}

#endif
