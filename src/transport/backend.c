/* The list of transport backends in this program, and the choice among them. */
#include "osla_backend.h"
#include "src/transport/transport_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OFFERED = 4 };

/* Backends of other libraries, added at run time by osla_backend_offer, so that libosla does not
 * depend on those libraries. */
static struct {
  const osla_transport_ops *offered[MAX_OFFERED];
  int count;
} backends;

static const osla_transport_ops *backend_at(int i)
{
  return i == 0 ? osli_transport_built_in : backends.offered[i - 1];
}

static int count_backends(void)
{
  return 1 + backends.count;
}

static bool is_known(const osla_transport_ops *ops)
{
  for (int i = 0; i < count_backends(); i++)
    if (backend_at(i) == ops) return true;
  return false;
}

const osla_backend_services *osla_backend_offer(const osla_transport_ops *ops)
{
  static osla_backend_services services = {.allgather = osli_allgather,
                                           .wait_until = osli_wait_until};
  services.built_in = osli_transport_built_in;
  if (!is_known(ops) && backends.count < MAX_OFFERED) backends.offered[backends.count++] = ops;
  return &services;
}

static int find_backend(const char *name)
{
  for (int i = 0; i < count_backends(); i++)
    if (strcmp(backend_at(i)->name, name) == 0) return i;
  return -1;
}

static osla_err report_unknown(const char *name, bool by_environment)
{
  char names[80] = "";
  for (int i = 0, used = 0; i < count_backends(); i++)
    used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i > 0 ? ", " : "",
                     backend_at(i)->name);
  return osla_error_set(
    OSLA_ERR_UNSUPPORTED, "transport '%s'%s: this program has only: %s%s", name,
    by_environment ? " (OSLA_TRANSPORT)" : "", names,
    strcmp(name, "sim") == 0
      ? " (a simulation needs a build of its own: configure --enable-simulation)"
      : "");
}

osla_err osli_backend_choose(MPI_Comm comm, const char *name, const osla_transport_ops **out)
{
  const char *wish = getenv("OSLA_TRANSPORT");
  bool by_environment = !name && wish && wish[0];
  if (!name) name = wish && wish[0] ? wish : osli_transport_built_in->name;
  int mine = find_backend(name), span[2] = {mine, -mine};
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, span, 2, MPI_INT, MPI_MIN, comm));
  if (span[0] >= 0 && span[0] != -span[1])
    return osla_error_set(
      OSLA_ERR_ARG,
      "transport '%s': other ranks ask for a different one; all ranks must ask for the same", name);
  if (mine < 0) return report_unknown(name, by_environment);
  if (span[0] < 0)
    return osla_error_set(OSLA_ERR_UNSUPPORTED, "another rank asks for an unknown transport");
  *out = backend_at(mine);
  return OSLA_OK;
}

const char *osla_simulated_machine(void)
{
  return osli_transport_built_in->machine ? osli_transport_built_in->machine() : NULL;
}
