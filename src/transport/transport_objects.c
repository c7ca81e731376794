#include "src/transport/transport_objects.h"
#include "src/transport/transport_ops.h"

#include <stdlib.h>

struct osla_owned_object {
  struct osla_owned_object *next;
  const void *key;
  void *object;
  void (*destroy)(void *object);
};

void *osli_transport_object_find(const osla_transport *t, const void *key)
{
  for (const struct osla_owned_object *k = t->owned_objects; k; k = k->next)
    if (k->key == key) return k->object;
  return NULL;
}

osla_err osli_transport_object_add(osla_transport *t, const void *key, void *object,
                                   void (*destroy)(void *object))
{
  struct osla_owned_object *k = malloc(sizeof *k);
  OSLA_CHECK(k, OSLA_ERR_MEM, "entry for an object of a transport");
  *k = (struct osla_owned_object){t->owned_objects, key, object, destroy};
  t->owned_objects = k;
  return OSLA_OK;
}

void osli_transport_object_remove(osla_transport *t, const void *key)
{
  struct osla_owned_object **at = &t->owned_objects;
  while (*at && (*at)->key != key)
    at = &(*at)->next;
  struct osla_owned_object *found = *at;
  if (!found) return;
  *at = found->next;
  free(found);
}

void osli_transport_objects_destroy(osla_transport *t)
{
  while (t->owned_objects) {
    struct osla_owned_object *first = t->owned_objects;
    t->owned_objects = first->next;
    first->destroy(first->object);
    free(first);
  }
}
