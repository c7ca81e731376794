#include "forest_verify.h"

#include <inttypes.h>
#include <stdio.h>

static void describe(char *text, size_t size, uint64_t number, uint64_t what)
{
  static const char *const kinds[] = {"broadcast", "reduction", "fetch"};
  const int count = (int)(what >> 32);
  (void)snprintf(text, size, "transfer %" PRIu64 " is a %s, %s, of %d %s", number,
                 kinds[what & 255], osla_forest_combine_name(osla_forest_asked(what)), count,
                 osla_unit_name((osla_unit_type)(what >> 16 & 255)));
}

void osla_forest_check_same(const osla_forest *f, uint64_t number, const forest_transfer *x,
                            int rank, uint64_t their_number, uint64_t their_what)
{
  if ((uint32_t)number == (uint32_t)their_number && x->what == their_what) return;
  char mine[120], theirs[120];
  describe(mine, sizeof mine, number, x->what);
  describe(theirs, sizeof theirs, their_number, their_what);
  osla_transport_abort(f->t, osla_error_set(OSLA_ERR_STATE,
                                            "ranks begin different transfers of a forest: on rank "
                                            "%d %s, on rank %d %s",
                                            osla_transport_rank(f->t), mine, rank, theirs));
}
