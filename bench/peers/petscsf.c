/* The cases pingpong, halo and gather of `osla-bench forest` by PetscSF:
 *    petscsf CASE N [SF-TYPE and other options of PETSc]
 * Prints CASE, N and the median seconds of a transfer over REPS runs of 20 ms each; in pingpong a
 * transfer is half a round trip. The received values are checked first. */
#include <petscsf.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 9 };

typedef struct problem {
  const char *name;
  PetscMPIInt rank, size;
  /* n: number of roots on ranks that have roots, and of leaves on ranks that have leaves */
  PetscInt n, n_roots, n_leaves;
  PetscSF sf;
  PetscScalar *roots, *leaves;
} problem;

static bool is(const problem *p, const char *name)
{
  return strcmp(p->name, name) == 0;
}

/* Random root for the case gather. The edges differ from those of osla-bench, but their number is
 * the same. */
static uint64_t draw(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static PetscSFNode root_of(const problem *p, PetscInt i, uint64_t *state)
{
  const PetscInt half = p->n / 2;
  if (is(p, "pingpong")) return (PetscSFNode){0, i};
  if (is(p, "gather")) {
    const uint64_t bits = draw(state) >> 16;
    return (PetscSFNode){(PetscInt)(bits % (uint64_t)p->size),
                         (PetscInt)(bits / (uint64_t)p->size % (uint64_t)p->n)};
  }
  if (i < half) return (PetscSFNode){(p->rank + p->size - 1) % p->size, p->n - half + i};
  return (PetscSFNode){(p->rank + 1) % p->size, i - half};
}

static PetscErrorCode make(problem *p, PetscSFNode **remote)
{
  const bool pingpong = is(p, "pingpong");
  uint64_t state = 88172645463325252ULL + (uint64_t)p->rank;
  PetscFunctionBeginUser;
  p->n_roots = pingpong && p->rank != 0 ? 0 : p->n;
  p->n_leaves = pingpong && p->rank != 1 ? 0 : p->n;
  PetscCall(PetscMalloc1(p->n_leaves, remote));
  for (PetscInt i = 0; i < p->n_leaves; i++)
    (*remote)[i] = root_of(p, i, &state);
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &p->sf));
  PetscCall(PetscSFSetFromOptions(p->sf));
  PetscCall(PetscSFSetGraph(p->sf, p->n_roots, p->n_leaves, NULL, PETSC_COPY_VALUES, *remote,
                            PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(p->sf));
  PetscCall(PetscMalloc1(p->n_roots, &p->roots));
  PetscCall(PetscMalloc1(p->n_leaves, &p->leaves));
  for (PetscInt i = 0; i < p->n_roots; i++)
    p->roots[i] = 1e6 * p->rank + (double)i;
  PetscFunctionReturn(0);
}

static PetscErrorCode transfer(problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSFBcastBegin(p->sf, MPIU_SCALAR, p->roots, p->leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(p->sf, MPIU_SCALAR, p->roots, p->leaves, MPI_REPLACE));
  if (is(p, "pingpong")) {
    PetscCall(PetscSFReduceBegin(p->sf, MPIU_SCALAR, p->leaves, p->roots, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(p->sf, MPIU_SCALAR, p->leaves, p->roots, MPI_REPLACE));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode check(problem *p, const PetscSFNode *remote)
{
  PetscFunctionBeginUser;
  PetscCall(transfer(p));
  for (PetscInt i = 0; i < p->n_leaves; i++)
    PetscCheck(p->leaves[i] == 1e6 * (double)remote[i].rank + (double)remote[i].index,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "leaf %" PetscInt_FMT " is wrong", i);
  PetscFunctionReturn(0);
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static PetscErrorCode measure(problem *p, double *seconds)
{
  double took[REPS] = {0};
  int times = 1;
  PetscFunctionBeginUser;
  /* repetition -1 determines the number of transfers in a run */
  for (int rep = -1; rep < REPS; rep++) {
    do {
      double start, last = rep < 0 ? 0.0 : 1.0;
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      start = MPI_Wtime();
      for (int i = 0; i < times; i++)
        PetscCall(transfer(p));
      start = MPI_Wtime() - start;
      if (rep >= 0) took[rep] = start / times;
      if (rep < 0) last = start;
      PetscCallMPI(MPI_Bcast(&last, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
      if (last >= 0.02) break;
      times *= 2;
    } while (rep < 0);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, took, REPS, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  qsort(took, REPS, sizeof *took, ascending);
  *seconds = took[REPS / 2] / (is(p, "pingpong") ? 2 : 1);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  problem p = {0};
  PetscSFNode *remote;
  double seconds;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &p.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &p.size));
  PetscCheck(argc > 2, PETSC_COMM_WORLD, PETSC_ERR_USER, "petscsf pingpong|halo|gather N");
  p.name = argv[1];
  p.n = (PetscInt)strtol(argv[2], NULL, 10);
  if (is(&p, "pingpong")) p.n /= (PetscInt)sizeof(PetscScalar);
  PetscCall(make(&p, &remote));
  PetscCall(check(&p, remote));
  PetscCall(measure(&p, &seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s %.9g\n", argv[1], argv[2], seconds));
  PetscCall(PetscFree(remote));
  PetscCall(PetscFree(p.roots));
  PetscCall(PetscFree(p.leaves));
  PetscCall(PetscSFDestroy(&p.sf));
  return (int)PetscFinalize();
}
