/* The kinds of objects that handles hold, and how each is destroyed. */
#include "python/core/core.h"

static osla_err destroy_transport(void **object)
{
  osla_transport_destroy((osla_transport **)object);
  return OSLA_OK;
}

static osla_err destroy_grid(void **object)
{
  osla_grid_destroy((osla_grid **)object);
  return OSLA_OK;
}

static osla_err destroy_matrix(void **object)
{
  osla_matrix_destroy((osla_matrix **)object);
  return OSLA_OK;
}

static osla_err destroy_hessian(void **object)
{
  osla_hessian_destroy((osla_hessian **)object);
  return OSLA_OK;
}

static osla_err destroy_file(void **object)
{
  osla_file_close((osla_file **)object);
  return OSLA_OK;
}

static osla_err destroy_forest(void **object)
{
  return osla_forest_destroy((osla_forest **)object);
}

static osla_err destroy_csr(void **object)
{
  return osla_csr_destroy((osla_csr **)object);
}

static osla_err close_device(void **object)
{
  osla_device_close((osla_device **)object);
  return OSLA_OK;
}

const osla_py_kind osla_py_transport = {"Transport", destroy_transport, true};
const osla_py_kind osla_py_grid = {"Grid", destroy_grid, false};
const osla_py_kind osla_py_matrix = {"Matrix", destroy_matrix, true};
const osla_py_kind osla_py_hessian = {"Hessian", destroy_hessian, true};
const osla_py_kind osla_py_file = {"File", destroy_file, true};
const osla_py_kind osla_py_forest = {"Forest", destroy_forest, true};
const osla_py_kind osla_py_csr = {"CSR", destroy_csr, true};
/* Closing a device is a local operation, but the kind is marked as collective. So all ranks close a
 * device in one collective call, after they have destroyed the matrices on it. */
const osla_py_kind osla_py_device = {"Device", close_device, true};
