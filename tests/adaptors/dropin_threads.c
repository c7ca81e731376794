/* Threads that add up integers, each in a context of its own over all processes. Two threads
 * compute products, which the drop-in offloads. One thread computes sums of matrices, which the
 * drop-in passes on. With the argument "turns" the threads run one after the other. With "once"
 * they run at the same time, for which ScaLAPACK alone gives wrong sums. Process 0 prints the bits
 * of each thread's result. */
#include "tests/adaptors/dropin_program.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, PASSED_ON = 2, ROUNDS = 12, MORE_ROUNDS = 100, ORDER = 48 };

typedef struct worker {
  context c;
  array a, b, sums, squares;
} worker;

static void *pass_on(void *arg)
{
  worker *w = arg;
  const int n = ORDER;
  const double one = 1;
  for (int round = 0; round < MORE_ROUNDS; round++)
    pdgeadd_("N", &n, &n, &one, w->a.at, &w->a.i, &w->a.j, w->a.desc, &one, w->sums.at, &w->sums.i,
             &w->sums.j, w->sums.desc);
  return NULL;
}

static void *work(void *arg)
{
  worker *w = arg;
  const int n = ORDER;
  const double one = 1;
  for (int round = 0; round < ROUNDS; round++) {
    pdgemm_("N", "T", &n, &n, &n, &one, w->a.at, &w->a.i, &w->a.j, w->a.desc, w->b.at, &w->b.i,
            &w->b.j, w->b.desc, &one, w->sums.at, &w->sums.i, &w->sums.j, w->sums.desc);
    pdsyrk_("L", "N", &n, &n, &one, w->a.at, &w->a.i, &w->a.j, w->a.desc, &one, w->squares.at,
            &w->squares.i, &w->squares.j, w->squares.desc);
  }
  return NULL;
}

int main(int argc, char **argv)
{
  int rank, size, provided, at_once = argc > 1 && strcmp(argv[1], "once") == 0;
  worker workers[THREADS];
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 5);
  for (int i = 0; i < THREADS; i++) {
    worker *w = &workers[i];
    w->c = context_make("R", i == 1 ? size : 1, i == 1 ? 1 : size);
    w->a = array_make(&w->c, 'd', ORDER, ORDER, NULL);
    w->b = array_make(&w->c, 'd', ORDER, ORDER, NULL);
    w->sums = array_make(&w->c, 'd', ORDER, ORDER, NULL);
    w->squares = array_make(&w->c, 'd', ORDER, ORDER, NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, i == PASSED_ON ? pass_on : work, &workers[i]) != 0)
      MPI_Abort(MPI_COMM_WORLD, 6);
    if (!at_once) (void)pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    worker *w = &workers[i];
    if (at_once) (void)pthread_join(threads[i], NULL);
    uint64_t sums = array_hash(&w->c, &w->sums), squares = array_hash(&w->c, &w->squares);
    if (rank == 0)
      printf("thread %d: %016llx %016llx\n", i, (unsigned long long)sums,
             (unsigned long long)squares);
    array_free(&w->a);
    array_free(&w->b);
    array_free(&w->sums);
    array_free(&w->squares);
    context_free(&w->c);
  }
  MPI_Finalize();
  return 0;
}
