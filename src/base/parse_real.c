/* A program that has called setlocale may read and write decimal commas; the calls here use the
 * locale "C". */
#include "config.h"

#include "src/base/parse_real.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain; /* never freed; (locale_t)0 if there was not enough memory */

static void make_plain(void)
{
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double osli_parse_real(const char *text, char **end)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, make_plain);
  double value = plain ? strtod_l(text, end, plain) : strtod(text, end);
  const size_t length = (size_t)(*end - text);
  if (!memchr(text, 'x', length) && !memchr(text, 'X', length)) return value;
  *end -= length;
  return 0.0;
}
