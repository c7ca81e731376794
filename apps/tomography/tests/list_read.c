/* Readers of whole lists, for tests and the fuzzer; see list_read.h. */
#include "apps/tomography/tests/list_read.h"

#include <math.h>

#include "apps/tomography/readers/tomo_text.h"

osla_err list_read_events(const char *file, tomo_site **sites, int64_t *count)
{
  site_list list = {0};
  osla_err err = text_read_events(file, &list);
  const int64_t read = list.count;
  list.count = 0;
  for (int64_t i = 0; i < read; i++)
    if (!isnan(list.site[i].latitude)) list.site[list.count++] = list.site[i];
  if (err == OSLA_OK && list.count == 0) err = site_list_unlocated_error(&list, read);
  return site_list_release(&list, err, sites, count);
}

osla_err list_read_stations(const char *file, tomo_site **sites, int64_t *count)
{
  site_list list = {0};
  osla_err err = text_read_stations(file, &list);
  if (err == OSLA_OK && list.epochs) err = tomo_merge_sites(list.site, &list.count, true);
  return site_list_release(&list, err, sites, count);
}
