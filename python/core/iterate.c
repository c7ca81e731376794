/* Fixed-point iterations: block Jacobi, also as a preconditioner, and the diffusion problem. */
#include "python/core/core.h"

#include <stdlib.h>

/* Python function even_start(n, ranks, rank) -> first row of the rank in the distribution of n rows
 * by osla_even_blocks */
static PyObject *even_start(PyObject *module, PyObject *args)
{
  (void)module;
  long long n;
  int ranks, rank;
  if (!osla_py_parse(args, "Lii", &n, &ranks, &rank)) return NULL;
  if (n < 0 || ranks < 1 || rank < 0 || rank > ranks)
    return osla_py_refuse(OSLA_ERR_ARG, "rank %d is not in 0 .. %d", rank, ranks);
  int64_t *start = malloc(((size_t)ranks + 1) * sizeof *start);
  if (!start) return PyErr_NoMemory();
  osla_even_blocks(n, ranks, start);
  long long found = start[rank];
  free(start);
  return PyLong_FromLongLong(found);
}

/* Input of one call: a diffusion problem, a sparse matrix, or a dense matrix. */
typedef struct run {
  osla_transport *transport;
  osla_diffusion *diffusion; /* diffusion problem; NULL if the input is a matrix */
  osla_csr *sparse;          /* sparse matrix; NULL if the matrix is dense */
  const osla_matrix *dense;  /* dense matrix, of which only the triangle `uplo` is read */
  osla_uplo uplo;
  const osla_splitting_options *blocks;
  const osla_iterate_options *how;
  const osla_coarse_options *coarse; /* options of a coarse level; NULL: no coarse level */
  int64_t rows, bound_steps;
  const double *b;
  double *x, alpha;
  int64_t corrections; /* number of corrections of the coarse level */
  osla_iterate_result result;
} run;

/* Runs the iteration of a problem, with the coarse level `coarse` if the call asks for one. */
static osla_err iterate_with(run *r, const osla_fixed_point *problem, const osla_coarse *coarse)
{
  osla_iteration *iteration = NULL;
  double *state = calloc((size_t)problem->length + 1, sizeof *state);
  osla_err err = state ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "iterate: a state");
  OSLA_TRY(osla_agree(r->transport, err));
  OSLA_TRY(osla_iteration_create(r->transport, problem, r->how, &iteration));
  if (r->coarse) OSLA_TRY(osla_iteration_add_coarse(iteration, coarse, r->coarse));
  if (r->bound_steps > 0) OSLA_TRY(osla_iterate_bound(iteration, r->bound_steps, &r->alpha));
  if (r->rows > 0) memcpy(state, r->x, (size_t)r->rows * sizeof *state);
  OSLA_TRY(osla_iterate(iteration, state, &r->result));
  r->corrections = osla_iteration_corrections(iteration);
  if (r->rows > 0) memcpy(r->x, state, (size_t)r->rows * sizeof *state);
cleanup:
  osla_iteration_destroy(&iteration);
  free(state);
  return err;
}

static osla_err run_it(run *r)
{
  if (r->diffusion) {
    const osla_fixed_point whole = osla_diffusion_problem(r->diffusion);
    const osla_coarse coarse = osla_diffusion_coarse(r->diffusion);
    return iterate_with(r, &whole, &coarse);
  }
  osla_splitting *split = NULL;
  OSLA_CALL(r->sparse ? osla_splitting_create(r->sparse, r->b, r->blocks, &split)
                      : osla_splitting_create_dense(r->uplo, r->dense, r->b, r->blocks, &split));
  const osla_fixed_point problem = osla_splitting_problem(split);
  const osla_coarse coarse = osla_splitting_coarse(split);
  osla_err err = iterate_with(r, &problem, &coarse);
  osla_splitting_destroy(&split);
  return err;
}

/* Number of this rank's rows of x. Negative, with an exception, if the object is no matrix. */
static int64_t find_matrix(PyObject *object, run *r, osla_py_handle **h)
{
  if (PyObject_TypeCheck(object, osla_py_handle_type) &&
      ((osla_py_handle *)object)->kind == &osla_py_csr) {
    if (!osla_py_as_csr(object, h)) return -1;
    r->sparse = (*h)->object;
    r->transport = osla_csr_transport(r->sparse);
    return osla_csr_rows(r->sparse);
  }
  if (!osla_py_as_matrix(object, h)) return -1;
  r->dense = (*h)->object;
  r->transport = osla_grid_transport(osla_matrix_grid(r->dense));
  int size = osla_transport_size(r->transport), rank = osla_transport_rank(r->transport);
  int64_t *start = malloc(((size_t)size + 1) * sizeof *start);
  if (!start) {
    PyErr_NoMemory();
    return -1;
  }
  osla_even_blocks(osla_matrix_layout(r->dense).m, size, start);
  int64_t rows = start[rank + 1] - start[rank];
  free(start);
  return rows;
}

static PyObject *answer(osla_err err, const run *r)
{
  if (err != OSLA_OK) return osla_py_raise(err);
  const osla_iterate_result *e = &r->result;
  return Py_BuildValue("idddddLLLddL", (int)e->end, e->residual, e->start, e->norm, e->rounding,
                       e->error, (long long)e->sweeps, (long long)e->least, (long long)e->most,
                       r->alpha, e->seconds, (long long)r->corrections);
}

/* Sets *out to the options of a coarse level, or to NULL if `given` is None. Returns false with an
 * exception if `given` is something else. */
static bool coarse_options(PyObject *given, const osla_coarse_options **out)
{
  *out = NULL;
  return given == Py_None || (*out = osla_py_struct(given, sizeof **out)) != NULL;
}

/* Python function iterate(csr or matrix, uplo, b, x, blocks, options, options of the coarse level
 * or None, number of steps for the bound of the convergence rate) -> end, residual, start, norm,
 * rounding, error, this rank's sweeps, least, most, alpha, seconds, this rank's corrections */
static PyObject *iterate(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *pa, *pb, *px, *pblocks, *phow, *pcoarse;
  int uplo;
  long long steps;
  osla_py_handle *h;
  osla_py_array b, x;
  if (!osla_py_parse(args, "OiOOOOOL", &pa, &uplo, &pb, &px, &pblocks, &phow, &pcoarse, &steps))
    return NULL;
  run r = {.uplo = (osla_uplo)uplo, .bound_steps = steps};
  r.rows = find_matrix(pa, &r, &h);
  if (r.rows < 0 || !(r.blocks = osla_py_struct(pblocks, sizeof *r.blocks)) ||
      !(r.how = osla_py_struct(phow, sizeof *r.how)) || !coarse_options(pcoarse, &r.coarse) ||
      !osla_py_acquire_vector(pb, "b", OSLA_DOUBLE, r.rows, OSLA_PY_READ, &b))
    return NULL;
  if (!osla_py_acquire_vector(px, "x", OSLA_DOUBLE, r.rows, OSLA_PY_WRITE, &x)) {
    osla_py_release(&b);
    return NULL;
  }
  r.b = b.data;
  r.x = x.data;
  osla_err err;
  OSLA_PY_RUN(err, run_it(&r), h, NULL, NULL, NULL);
  osla_py_release(&x);
  osla_py_release(&b);
  return answer(err, &r);
}

/* ---- the diffusion problem ---- */

static osla_err destroy_diffusion(void **object)
{
  osla_diffusion_destroy((osla_diffusion **)object);
  return OSLA_OK;
}

static const osla_py_kind diffusion_kind = {"Diffusion", destroy_diffusion, true};

/* Python function diffusion_create(transport, options) */
static PyObject *diffusion_create(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  PyObject *bytes;
  if (!osla_py_parse(args, "O&O", osla_py_as_transport, &t, &bytes)) return NULL;
  const osla_diffusion_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_diffusion *d = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_diffusion_create(t->object, options, &d), t, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&diffusion_kind, d, t, false) : osla_py_raise(err);
}

/* Python function diffusion_facts(diffusion) -> first, count, ranks, spectral radius */
static PyObject *diffusion_facts(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &diffusion_kind);
  if (!h) return NULL;
  int64_t first[3], count[3];
  int ranks[3];
  osla_diffusion_own(h->object, first, count);
  osla_diffusion_ranks(h->object, ranks);
  return Py_BuildValue("(LLL)(LLL)(iii)d", (long long)first[0], (long long)first[1],
                       (long long)first[2], (long long)count[0], (long long)count[1],
                       (long long)count[2], ranks[0], ranks[1], ranks[2],
                       osla_diffusion_radius(h->object));
}

/* Converts the arguments (diffusion, x), where x is a one-dimensional state. */
static bool convert_state(PyObject *object, PyObject *px, osla_py_handle **h, osla_py_array *x)
{
  *h = osla_py_handle_of(object, &diffusion_kind);
  return *h &&
         osla_py_acquire_vector(px, "x", OSLA_DOUBLE, osla_diffusion_problem((*h)->object).length,
                                OSLA_PY_WRITE, x);
}

/* Python function diffusion_fill(diffusion, x) */
static PyObject *diffusion_fill(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *object, *px;
  osla_py_handle *h;
  osla_py_array x;
  if (!osla_py_parse(args, "OO", &object, &px) || !convert_state(object, px, &h, &x)) return NULL;
  bool usable = osla_py_is_usable(h);
  if (usable && x.rows > 0) osla_diffusion_fill(h->object, x.data);
  osla_py_release(&x);
  if (!usable) return NULL;
  Py_RETURN_NONE;
}

/* Python function diffusion_iterate(diffusion, x, options, options of the coarse level or None,
 * steps of the bound) -> the result of iterate */
static PyObject *diffusion_iterate(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *object, *px, *phow, *pcoarse;
  long long steps;
  osla_py_handle *h;
  osla_py_array x;
  if (!osla_py_parse(args, "OOOOL", &object, &px, &phow, &pcoarse, &steps)) return NULL;
  run r = {.bound_steps = steps, .how = osla_py_struct(phow, sizeof *r.how)};
  if (!r.how || !coarse_options(pcoarse, &r.coarse) || !convert_state(object, px, &h, &x))
    return NULL;
  r.transport = h->root->object;
  r.diffusion = h->object;
  r.rows = x.rows;
  r.x = x.data;
  osla_err err;
  OSLA_PY_RUN(err, run_it(&r), h, NULL, NULL, NULL);
  osla_py_release(&x);
  return answer(err, &r);
}

osla_err osla_py_sweeps_make(osla_csr *matrix, int64_t block, int sweeps, osla_iterate_mode mode,
                             osla_py_sweeps *out)
{
  osla_transport *t = osla_csr_transport(matrix);
  const int64_t rows = osla_csr_rows(matrix);
  const osla_splitting_options blocks = {.block = block};
  const osla_iterate_options how = {.mode = mode, .sweeps = sweeps};
  *out = (osla_py_sweeps){.right = calloc((size_t)rows + 1, sizeof *out->right)};
  osla_err err = out->right ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sweeps: a vector");
  OSLA_TRY(osla_agree(t, err));
  OSLA_TRY(osla_splitting_create(matrix, out->right, &blocks, &out->split));
  const osla_fixed_point problem = osla_splitting_problem(out->split);
  OSLA_TRY(osla_sweeps_create(t, &problem, rows, out->right, &how, &out->sweeps));
cleanup:
  if (err != OSLA_OK) osla_py_sweeps_free(out);
  return err;
}

void osla_py_sweeps_free(osla_py_sweeps *s)
{
  osla_sweeps_destroy(&s->sweeps);
  osla_splitting_destroy(&s->split);
  free(s->right);
  *s = (osla_py_sweeps){NULL, NULL, NULL};
}

PyMethodDef osla_py_iterate_methods[] = {
  {"even_start", even_start, METH_VARARGS, NULL},
  {"iterate", iterate, METH_VARARGS, NULL},
  {"diffusion_create", diffusion_create, METH_VARARGS, NULL},
  {"diffusion_facts", diffusion_facts, METH_O, NULL},
  {"diffusion_fill", diffusion_fill, METH_VARARGS, NULL},
  {"diffusion_iterate", diffusion_iterate, METH_VARARGS, NULL},
  {NULL, NULL, 0, NULL}};
