/* Objects of higher layers that live as long as a transport, such as memory that all star forests
 * of a transport share (internal). */
#ifndef TRANSPORT_OBJECTS_H
#define TRANSPORT_OBJECTS_H

#include "osla_transport.h"

/* The object with this key, which is the address of a static object; NULL if there is none. Local.
 */
void *osli_transport_object_find(const osla_transport *t, const void *key);

/* Adds an object with its key. osla_transport_destroy calls destroy(object), for the latest object
 * first. All ranks must add objects in the same order. Errors: MEM. */
osla_err osli_transport_object_add(osla_transport *t, const void *key, void *object,
                                   void (*destroy)(void *object));

/* Removes an object without destroying it; a key without an object is accepted. Local. */
void osli_transport_object_remove(osla_transport *t, const void *key);

/* Destroys all objects; part of osla_transport_destroy. */
void osli_transport_objects_destroy(osla_transport *t);

#endif
