#include "src/transport/kept.h"
#include "src/transport/transport_ops.h"

#include <stdlib.h>

struct osla_kept {
  struct osla_kept *next;
  const void *key;
  void *object;
  void (*destroy)(void *object);
};

void *osli_transport_kept(const osla_transport *t, const void *key)
{
  for (const struct osla_kept *k = t->kept; k; k = k->next)
    if (k->key == key) return k->object;
  return NULL;
}

osla_err osli_transport_keep(osla_transport *t, const void *key, void *object,
                             void (*destroy)(void *object))
{
  struct osla_kept *k = malloc(sizeof *k);
  OSLA_CHECK(k, OSLA_ERR_MEM, "an object of a transport");
  *k = (struct osla_kept){t->kept, key, object, destroy};
  t->kept = k;
  return OSLA_OK;
}

void osli_transport_let_go(osla_transport *t, const void *key)
{
  struct osla_kept **at = &t->kept;
  while (*at && (*at)->key != key)
    at = &(*at)->next;
  struct osla_kept *found = *at;
  if (!found) return;
  *at = found->next;
  free(found);
}

void osli_transport_drop_kept(osla_transport *t)
{
  while (t->kept) {
    struct osla_kept *first = t->kept;
    t->kept = first->next;
    first->destroy(first->object);
    free(first);
  }
}
