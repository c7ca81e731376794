/* Objects of the floors above that live as long as a transport, such as memory that all forests of
 * a transport share (floor 1, internal to the library). */
#ifndef KEPT_H
#define KEPT_H

#include "osla_transport.h"

/* The object that was kept under this key, the address of a static object; NULL: none. Local. */
void *osli_transport_kept(const osla_transport *t, const void *key);

/* Keeps it: osla_transport_destroy calls destroy(object), of the latest first. To be called on all
 * ranks in the same order. Errors: MEM. */
osla_err osli_transport_keep(osla_transport *t, const void *key, void *object,
                             void (*destroy)(void *object));

/* It is kept no more, and not destroyed. Accepts a key without an object. Local. */
void osli_transport_let_go(osla_transport *t, const void *key);

/* Part of osla_transport_destroy. */
void osli_transport_objects_destroy(osla_transport *t);

#endif
