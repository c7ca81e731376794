/* Checks of the memory and of the layout of the matrices of a call. */
#include "src/matrix/memory_kind.h"
#include "src/device/device.h"

osla_err osli_check_on_host(const char *call, int count, const osla_matrix *const *matrices)
{
  for (int i = 0; i < count; i++)
    if (matrices[i] && osla_matrix_device(matrices[i])) return osli_device_refuse(call);
  return OSLA_OK;
}

osla_err osli_check_full(const char *call, int count, const osla_matrix *const *matrices)
{
  for (int i = 0; i < count; i++)
    OSLA_CHECK(
      !matrices[i] || !osla_matrix_is_triangle(matrices[i]), OSLA_ERR_UNSUPPORTED,
      "%s: does not take a matrix of osla_matrix_create_triangle: copy it to a full matrix "
      "first (osla_matrix_copy)",
      call);
  return OSLA_OK;
}

osla_err osli_check_one_memory(const char *call, int count, const osla_matrix *const *matrices)
{
  for (int i = 1; i < count; i++)
    OSLA_CHECK(osla_matrix_device(matrices[i]) == osla_matrix_device(matrices[0]), OSLA_ERR_ARG,
               "%s: the matrices lie in host memory and on a device, or on two devices: put all "
               "into the memory of one (osla_matrix_copy)",
               call);
  return OSLA_OK;
}

osla_err osli_matrix_create_like(const osla_matrix *like, osla_grid *grid, osla_dtype dtype,
                                 const osla_layout *l, osla_matrix **out)
{
  osla_device *device = osla_matrix_device(like);
  if (device) return osla_matrix_create_on(device, grid, dtype, l->m, l->n, l->mb, l->nb, out);
  return osla_matrix_create(grid, dtype, l->m, l->n, l->mb, l->nb, out);
}

/* osla_agree also returns errors of queued work on all ranks. A matrix in host memory has no queued
 * work, so osla_barrier, which is faster, is used for such a matrix. */
osla_err osli_matrix_barrier(const osla_matrix *a)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  return osla_matrix_device(a) ? osla_agree(t, OSLA_OK) : osla_barrier(t);
}
