#include "osla_version.h"

#define TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define TEXT(major, minor, patch)    TEXT_OF(major, minor, patch)

_Static_assert(OSLA_VERSION_MINOR < 100 && OSLA_VERSION_PATCH < 100, "OSLA_VERSION would not grow");

int osla_version(void)
{
  return OSLA_VERSION;
}

const char *osla_version_text(void)
{
  return TEXT(OSLA_VERSION_MAJOR, OSLA_VERSION_MINOR, OSLA_VERSION_PATCH);
}
