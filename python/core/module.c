/* The module osla._core: the functions of all files of this folder, and the values of the library's
 * enumerators, so that Python needs no copy of these values. */
#include "python/core/core.h"

#include <stdlib.h>

static const struct number {
  const char *name;
  int value;
} numbers[] = {{"FLOAT", OSLA_FLOAT},
               {"DOUBLE", OSLA_DOUBLE},
               {"COMPLEX_FLOAT", OSLA_COMPLEX_FLOAT},
               {"COMPLEX_DOUBLE", OSLA_COMPLEX_DOUBLE},
               {"LOWER", OSLA_LOWER},
               {"UPPER", OSLA_UPPER},
               {"GENERAL", OSLA_GENERAL},
               {"NOTRANS", OSLA_NOTRANS},
               {"TRANS", OSLA_TRANS},
               {"CONJTRANS", OSLA_CONJTRANS},
               {"NONUNIT", OSLA_NONUNIT},
               {"UNIT", OSLA_UNIT},
               {"LEFT", OSLA_LEFT},
               {"RIGHT", OSLA_RIGHT},
               {"GRID_ROWS", OSLA_GRID_ROWS},
               {"GRID_COLUMNS", OSLA_GRID_COLUMNS},
               {"GRID_NODES", OSLA_GRID_NODES},
               {"GRID_TILES", OSLA_GRID_TILES},
               {"GRID_ACROSS", OSLA_GRID_ACROSS},
               {"FILL_ZERO", OSLA_FILL_ZERO},
               {"FILL_IDENTITY", OSLA_FILL_IDENTITY},
               {"FILL_UNIFORM", OSLA_FILL_UNIFORM},
               {"FILL_DOMINANT", OSLA_FILL_DOMINANT},
               {"FILL_SPD", OSLA_FILL_SPD},
               {"FILL_INTEGER", OSLA_FILL_INTEGER},
               {"NORM_MAX", OSLA_NORM_MAX},
               {"NORM_ONE", OSLA_NORM_ONE},
               {"NORM_INF", OSLA_NORM_INF},
               {"NORM_FRO", OSLA_NORM_FRO},
               {"PIVOT_PARTIAL", OSLA_PIVOT_PARTIAL},
               {"PIVOT_TOURNAMENT", OSLA_PIVOT_TOURNAMENT},
               {"PIVOT_NONE", OSLA_PIVOT_NONE},
               {"MIXED_SINGLE", OSLA_MIXED_SINGLE},
               {"MIXED_FACTOR", OSLA_MIXED_FACTOR},
               {"MIXED_STALLED", OSLA_MIXED_STALLED},
               {"MIXED_SINGULAR", OSLA_MIXED_SINGULAR},
               {"COMBINE_SUM", OSLA_COMBINE_SUM},
               {"COMBINE_MIN", OSLA_COMBINE_MIN},
               {"COMBINE_MAX", OSLA_COMBINE_MAX},
               {"ISOLATE_UPDATE", OSLA_ISOLATE_UPDATE},
               {"ISOLATE_ELEMENT", OSLA_ISOLATE_ELEMENT},
               {"SHIP_LESS", OSLA_SHIP_LESS},
               {"SHIP_VALUES", OSLA_SHIP_VALUES},
               {"SHIP_FACTORS", OSLA_SHIP_FACTORS},
               {"STORED_WHOLE", OSLA_STORED_WHOLE},
               {"STORED_LOWER", OSLA_STORED_LOWER},
               {"STORED_UPPER", OSLA_STORED_UPPER},
               {"STORED_FULL", OSLA_STORED_FULL},
               {"FORMAT_BY_NAME", OSLA_FORMAT_BY_NAME},
               {"FORMAT_HDF5", OSLA_FORMAT_HDF5},
               {"FORMAT_RAW", OSLA_FORMAT_RAW},
               {"FILE_DOUBLE", OSLA_FILE_DOUBLE},
               {"FILE_INT64", OSLA_FILE_INT64},
               {"UNIT_BYTES", OSLA_UNIT_BYTES},
               {"UNIT_INT8", OSLA_UNIT_INT8},
               {"UNIT_INT16", OSLA_UNIT_INT16},
               {"UNIT_INT32", OSLA_UNIT_INT32},
               {"UNIT_INT64", OSLA_UNIT_INT64},
               {"UNIT_UINT8", OSLA_UNIT_UINT8},
               {"UNIT_UINT16", OSLA_UNIT_UINT16},
               {"UNIT_UINT32", OSLA_UNIT_UINT32},
               {"UNIT_UINT64", OSLA_UNIT_UINT64},
               {"UNIT_FLOAT", OSLA_UNIT_FLOAT},
               {"UNIT_DOUBLE", OSLA_UNIT_DOUBLE},
               {"UNIT_LONG_DOUBLE", OSLA_UNIT_LONG_DOUBLE},
               {"UNIT_COMPLEX_FLOAT", OSLA_UNIT_COMPLEX_FLOAT},
               {"UNIT_COMPLEX_DOUBLE", OSLA_UNIT_COMPLEX_DOUBLE},
               {"UNIT_FLOAT_AT", OSLA_UNIT_FLOAT_AT},
               {"UNIT_DOUBLE_AT", OSLA_UNIT_DOUBLE_AT},
               {"UNIT_INT64_AT", OSLA_UNIT_INT64_AT},
               {"REPLACE", OSLA_REPLACE},
               {"SUM", OSLA_SUM},
               {"PROD", OSLA_PROD},
               {"MIN", OSLA_MIN},
               {"MAX", OSLA_MAX},
               {"LOGICAL_AND", OSLA_LOGICAL_AND},
               {"LOGICAL_OR", OSLA_LOGICAL_OR},
               {"LOGICAL_XOR", OSLA_LOGICAL_XOR},
               {"BITS_AND", OSLA_BITS_AND},
               {"BITS_OR", OSLA_BITS_OR},
               {"BITS_XOR", OSLA_BITS_XOR},
               {"MINLOC", OSLA_MINLOC},
               {"MAXLOC", OSLA_MAXLOC},
               {"SUM_ARRIVAL", OSLA_SUM_ARRIVAL},
               {"SUM_EXACT", OSLA_SUM_EXACT},
               {"KRYLOV_CONVERGED", OSLA_KRYLOV_CONVERGED},
               {"KRYLOV_ITERATIONS", OSLA_KRYLOV_ITERATIONS},
               {"KRYLOV_INDEFINITE", OSLA_KRYLOV_INDEFINITE},
               {"KRYLOV_NOT_FINITE", OSLA_KRYLOV_NOT_FINITE},
               {"ITERATE_ASYNC", OSLA_ITERATE_ASYNC},
               {"ITERATE_RACY", OSLA_ITERATE_RACY},
               {"ITERATE_SYNC", OSLA_ITERATE_SYNC},
               {"ITERATE_CONVERGED", OSLA_ITERATE_CONVERGED},
               {"ITERATE_STAGNATED", OSLA_ITERATE_STAGNATED},
               {"ITERATE_SWEEPS", OSLA_ITERATE_SWEEPS},
               {"ITERATE_DIVERGED", OSLA_ITERATE_DIVERGED},
               {"ITERATE_STALLED", OSLA_ITERATE_STALLED},
               {"DIFFUSION_SOURCE", OSLA_DIFFUSION_SOURCE},
               {"DIFFUSION_MODE", OSLA_DIFFUSION_MODE},
               {"SPLITTING_CHOLESKY", OSLA_SPLITTING_CHOLESKY},
               {"SPLITTING_LU", OSLA_SPLITTING_LU},
               {"SPLITTING_CG", OSLA_SPLITTING_CG},
               {"SPLITTING_SPARSE", OSLA_SPLITTING_SPARSE},
               {"ERR_ARG", OSLA_ERR_ARG},
               {"ERR_MEM", OSLA_ERR_MEM},
               {"ERR_RANGE", OSLA_ERR_RANGE},
               {"ERR_IO", OSLA_ERR_IO},
               {"ERR_MPI", OSLA_ERR_MPI},
               {"ERR_STATE", OSLA_ERR_STATE},
               {"ERR_UNSUPPORTED", OSLA_ERR_UNSUPPORTED}};

static PyMethodDef options_methods[] = {{"options", osla_py_options, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};

static bool add_functions(PyObject *module)
{
  PyMethodDef *const tables[] = {
    options_methods,         osla_py_lifetime_methods, osla_py_end_methods,
    osla_py_array_methods,   osla_py_mpi_methods,      osla_py_transport_methods,
    osla_py_matrix_methods,  osla_py_kernel_methods,   osla_py_product_methods,
    osla_py_solve_methods,   osla_py_hessian_methods,  osla_py_file_methods,
    osla_py_forest_methods,  osla_py_transfer_methods, osla_py_sparse_methods,
    osla_py_iterate_methods, osla_py_device_methods};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (PyModule_AddFunctions(module, tables[i]) != 0) return false;
  return true;
}

static bool add_numbers(PyObject *module)
{
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) != 0) return false;
  return PyModule_AddStringConstant(module, "VERSION", osla_version_text()) == 0;
}

PyMODINIT_FUNC PyInit__core(void)
{
  if (!osla_py_mpi_is_ours() || !osla_py_watch_forks()) return NULL;
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "osla._core", .m_size = -1};
  PyObject *module = PyModule_Create(&definition);
  if (module && osla_py_handles_ready(module) && add_functions(module) && add_numbers(module))
    return module;
  Py_XDECREF(module);
  return NULL;
}
