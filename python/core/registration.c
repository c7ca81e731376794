/* Capsules of arrays in device memory, which device.c makes and other files read. This file calls
 * no other file of the folder, so both arrays.c and device.c can call it. */
#include "python/core/core.h"

const char osla_py_registration_name[] = "osla registration";

void *osla_py_registered(PyObject *object, size_t *bytes)
{
  if (!PyCapsule_IsValid(object, osla_py_registration_name)) return NULL;
  const osla_py_registration *r = PyCapsule_GetPointer(object, osla_py_registration_name);
  *bytes = r->bytes;
  return r->memory;
}
