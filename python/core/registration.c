/* Gets arrays in device memory from their capsules (PyCapsule: a Python object that holds a C
 * pointer), which device_register makes. This file calls no other file of the folder, so that both
 * arrays.c and device.c can call it. */
#include "python/core/core.h"

const char osla_py_registration_name[] = "osla registration";

void *osla_py_registered(PyObject *object, size_t *bytes)
{
  if (!PyCapsule_IsValid(object, osla_py_registration_name)) return NULL;
  const osla_py_registration *r = PyCapsule_GetPointer(object, osla_py_registration_name);
  *bytes = r->bytes;
  return r->memory;
}
