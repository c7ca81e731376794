/* The reference implementation cublasxt: multiplies matrices in host memory by cuBLASXt, which
 * moves tiles to the GPU and back. cuBLASXt is part of the cuBLAS library that the plug-in for CUDA
 * has loaded. The program finds its functions at run time, so it compiles without the headers of
 * CUDA. See bench_reference.h. */
#include "bench/bench_reference.h"

#include <dlfcn.h>
#include <string.h>

/* Types of functions of cublasXt.h. Each function returns 0 if it succeeds. The arguments transa
 * and transb are 0 (not transposed), 1 (transposed) or 2 (conjugate transposed). */
typedef int create_function(void **handle);
typedef int destroy_function(void *handle);
typedef int select_function(void *handle, int n_devices, int *devices);
typedef int gemm_function(void *handle, int transa, int transb, size_t m, size_t n, size_t k,
                          const void *alpha, const void *a, size_t lda, const void *b, size_t ldb,
                          const void *beta, void *c, size_t ldc);

/* Finds a function of the cuBLAS library that this process has loaded; NULL if there is no such
 * library or function. */
static void *find_function(const char *name)
{
  static const char *const files[] = {"libcublas.so.14", "libcublas.so.13", "libcublas.so.12"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof files / sizeof *files && !library; i++)
    library = dlopen(files[i], RTLD_NOW | RTLD_NOLOAD);
  void *found = library ? dlsym(library, name) : NULL;
  if (library) (void)dlclose(library); /* the plug-in still uses it, so it stays loaded */
  return found;
}

bool reference_cublasxt_is_offered(void)
{
  return find_function("cublasXtCreate") && find_function("cublasXtDgemm");
}

static osla_err setup(void *data)
{
  reference_gemm *g = data;
  create_function *create;
  select_function *choose;
  void *found[] = {find_function("cublasXtCreate"), find_function("cublasXtDeviceSelect")};
  int device = 0;
  OSLA_CALL(reference_gemm_impl(g).setup(g));
  memcpy(&create, &found[0], sizeof create);
  memcpy(&choose, &found[1], sizeof choose);
  OSLA_CHECK(create && choose && create(&g->xt) == 0 && choose(g->xt, 1, &device) == 0,
             OSLA_ERR_UNSUPPORTED, "cublasxt: cublasXtCreate or cublasXtDeviceSelect failed");
  return OSLA_OK;
}

static osla_err run(void *data)
{
  reference_gemm *g = data;
  char name[] = "cublasXtDgemm";
  /* The factors 1 and 0. Complex types use both elements, real types only the first one. */
  const float one_s[2] = {1, 0}, zero_s[2] = {0, 0};
  const double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
  const bool single = g->dtype == OSLA_FLOAT || g->dtype == OSLA_COMPLEX_FLOAT;
  gemm_function *gemm;
  name[strlen("cublasXt")] = (char)(osla_dtype_letter(g->dtype) - 'a' + 'A');
  void *found = find_function(name);
  memcpy(&gemm, &found, sizeof gemm);
  const int status =
    gemm ? gemm(g->xt, (int)g->transa, (int)g->transb, (size_t)g->m, (size_t)g->n, (size_t)g->k,
                single ? (const void *)one_s : one_d, g->a, (size_t)reference_gemm_ld(g, 0), g->b,
                (size_t)reference_gemm_ld(g, 1), single ? (const void *)zero_s : zero_d, g->c,
                (size_t)reference_gemm_ld(g, 2))
         : -1;
  OSLA_CHECK(status == 0, OSLA_ERR_UNSUPPORTED, "cublasxt: %s returned %d", name, status);
  return OSLA_OK;
}

static void teardown(void *data)
{
  reference_gemm *g = data;
  void *found = find_function("cublasXtDestroy");
  destroy_function *destroy;
  memcpy(&destroy, &found, sizeof destroy);
  if (g->xt && destroy) (void)destroy(g->xt);
  g->xt = NULL;
  reference_gemm_impl(g).teardown(g);
}

bench_impl reference_cublasxt_impl(reference_gemm *g)
{
  bench_impl impl = reference_gemm_impl(g);
  g->in_host_memory = true;
  impl.name = "cublasxt";
  impl.setup = setup;
  impl.run = run;
  impl.teardown = teardown;
  impl.nb = BENCH_NO_NB;
  return impl;
}
