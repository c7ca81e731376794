/* Parses single option values (lists, names, lower limits), and writes the error line. See
 * bench_options.h. */
#include "bench/bench_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int bench_error(const bench_kernel *kernel, const char *format, ...)
{
  char name[40], text[800];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  (void)snprintf(name, sizeof name, "-bench %s", kernel->name);
  return command_error(name, "%s", text);
}

bool bench_list_has(const char *list, const char *name)
{
  size_t length = strlen(name);
  while (*list) {
    size_t item = strcspn(list, ",");
    if (item == length && strncmp(list, name, length) == 0) return true;
    list += item;
    if (*list == ',') list++;
  }
  return false;
}

int bench_add_sizes(const bench_kernel *kernel, const char *option, const char *text, int most,
                    int64_t *sizes, int *count)
{
  const char *at = text;
  do {
    char *end;
    errno = 0;
    long long value = strtoll(at, &end, 10);
    if (end == at || (*end != ',' && *end != '\0') || errno || value < 1)
      return bench_error(kernel, "%s: '%s' is not a list of sizes of at least 1", option, text);
    if (*count == most) return bench_error(kernel, "%s: more than %d sizes", option, most);
    sizes[(*count)++] = value;
    at = *end ? end + 1 : end;
    if (*end == '\0') break;
  } while (true);
  return OSLA_EXIT_OK;
}

int bench_at_least(const bench_kernel *kernel, const char *option, long long value, long long least)
{
  if (value >= least) return OSLA_EXIT_OK;
  return bench_error(kernel, "%s: %lld is less than %lld", option, value, least);
}

/* Position of the name in a comma-separated list, from 0; -1 if it is not an item. */
static int index_in(const char *list, const char *name, size_t length)
{
  for (int k = 0;; k++) {
    const size_t item = strcspn(list, ",");
    if (item == length && strncmp(list, name, length) == 0) return k;
    if (list[item] == '\0') return -1;
    list += item + 1;
  }
}

int bench_parse_names(const bench_kernel *kernel, const char *option, const char *names,
                      const char *text, unsigned *out)
{
  *out = 0;
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ",");
    const int k = index_in(names, at, length);
    if (k < 0)
      return bench_error(kernel, "%s: '%.*s' is not one of %s", option, (int)length, at, names);
    *out |= 1U << k;
    at += length;
    if (*at == '\0') return OSLA_EXIT_OK;
  }
}
