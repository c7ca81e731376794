/* Program of test_left_alive.sh: makes the objects that its arguments name. With the argument
 * "self" it destroys transport and objects in MPI_Finalize, by an attribute on MPI_COMM_SELF; with
 * "all" it destroys them before MPI_Finalize; otherwise never. */
#include "osla_forest.h"
#include "osla_hessian.h"
#include "osla_matrix.h"
#include "osla_segment.h"
#include "osla_shmem.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100 };

static struct {
  osla_transport *t;
  osla_grid *grid;
  osla_matrix *wrapped, *made;
  osla_segment *attached;
  osla_hessian *hessian;
  void *vertices;
} job;
static double mine[N * N], others[N];

static void must(osla_err err)
{
  if (err == OSLA_OK) return;
  fprintf(stderr, "left_alive: %s\n", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void destroy_objects(void)
{
  osla_hessian_destroy(&job.hessian);
  must(osla_vertices_free(job.t, &job.vertices));
  osla_segment_destroy(&job.attached);
  osla_matrix_destroy(&job.wrapped);
  osla_matrix_destroy(&job.made);
  osla_grid_destroy(&job.grid);
}

static int destroy_all(MPI_Comm self, int keyval, void *value, void *extra)
{
  (void)self, (void)keyval, (void)value, (void)extra;
  destroy_objects();
  osla_transport_destroy(&job.t);
  return MPI_SUCCESS;
}

static void last_act(void *arg)
{
  fprintf(stderr, "last act\n");
  (void)arg;
}

static void make(const char *word)
{
  int key;
  if (strcmp(word, "wrap") == 0)
    must(osla_matrix_wrap(job.grid, OSLA_DOUBLE, N, N, 10, 10, mine, N, &job.wrapped));
  if (strcmp(word, "matrix") == 0)
    must(osla_matrix_create(job.grid, OSLA_DOUBLE, N, N, 10, 10, &job.made));
  if (strcmp(word, "attach") == 0)
    must(osla_segment_attach(job.t, others, sizeof others, &job.attached));
  if (strcmp(word, "hessian") == 0) must(osla_hessian_create(job.grid, N, NULL, &job.hessian));
  if (strcmp(word, "vertices") == 0) must(osla_vertices_create(job.t, N, &job.vertices));
  if (strcmp(word, "objects") == 0) destroy_objects();
  if (strcmp(word, "all") == 0) (void)destroy_all(MPI_COMM_SELF, 0, NULL, NULL);
  if (strcmp(word, "self") == 0 &&
      (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy_all, &key, NULL) != MPI_SUCCESS ||
       MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) != MPI_SUCCESS))
    MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv)
{
  int level;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  (void)osla_shmem_offer(); /* fails in builds without OpenSHMEM, whose runs do not ask for it */
  must(osla_transport_create(MPI_COMM_WORLD, NULL, &job.t));
  osla_transport_at_end(job.t, last_act, NULL);
  must(osla_grid_create(job.t, 1, osla_transport_size(job.t), &job.grid));
  for (int i = 1; i < argc; i++)
    make(argv[i]);
  MPI_Finalize();
  return 0;
}
