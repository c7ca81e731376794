/* The cases spmm and ptap of `osla-bench forest` by PETSc:
 *    petsc_products spmm|ptap N [options of PETSc]
 * Prints the case, N, and the median seconds of a call with MAT_INITIAL_MATRIX and of one with
 * MAT_REUSE_MATRIX, over REPS calls. The matrices are those of osla-bench (bench_spmm.c). Each
 * result is checked: its product with a vector of integers must be exact. */
#include <petscmat.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 9, SIDE_OF_AGGREGATE = 3, OF_POINT = 13, MOST_IN_ROW = 27 };

typedef struct problem {
  bool ptap;
  PetscInt side, low, high; /* points along a side of the cube; rows low to high - 1 of this rank */
  Mat a, p, c;
} problem;

static PetscInt aggregate_of(PetscInt side, PetscInt row)
{
  const PetscInt boxes = (side + SIDE_OF_AGGREGATE - 1) / SIDE_OF_AGGREGATE;
  const PetscInt x = row % side, y = row / side % side, z = row / side / side;
  return x / SIDE_OF_AGGREGATE + boxes * (y / SIDE_OF_AGGREGATE + boxes * (z / SIDE_OF_AGGREGATE));
}

/* Lists the columns of the entries in a row of A, which are a point of the cube and its neighbours,
 * and returns their number. */
static PetscInt list_row(PetscInt side, PetscInt row, PetscInt *column)
{
  const PetscInt x = row % side, y = row / side % side, z = row / side / side;
  PetscInt n = 0;
  for (PetscInt c = z - 1; c <= z + 1; c++)
    for (PetscInt b = y - 1; b <= y + 1; b++)
      for (PetscInt a = x - 1; a <= x + 1; a++)
        if (a >= 0 && a < side && b >= 0 && b < side && c >= 0 && c < side)
          column[n++] = a + side * (b + side * c);
  return n;
}

static PetscErrorCode create_matrix(PetscInt rows, PetscInt columns, Mat *out)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, out));
  PetscCall(MatSetSizes(*out, PETSC_DECIDE, PETSC_DECIDE, rows, columns));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*out, MOST_IN_ROW, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*out, MOST_IN_ROW, NULL, MOST_IN_ROW, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_matrices(problem *b)
{
  PetscInt column[MOST_IN_ROW];
  PetscFunctionBeginUser;
  for (PetscInt row = b->low; row < b->high; row++) {
    const PetscInt n = list_row(b->side, row, column);
    for (PetscInt e = 0; e < n; e++) {
      const bool diagonal = column[e] == row;
      PetscCall(MatSetValue(b->a, row, column[e], diagonal ? (double)n : -1.0, INSERT_VALUES));
      PetscCall(MatSetValue(b->p, row, aggregate_of(b->side, column[e]), diagonal ? OF_POINT : 1.0,
                            ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(b->a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(b->a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(b->p, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(b->p, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply(problem *b, MatReuse reuse, double *seconds)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  *seconds = MPI_Wtime();
  if (b->ptap)
    PetscCall(MatPtAP(b->a, b->p, reuse, PETSC_DEFAULT, &b->c));
  else
    PetscCall(MatMatMult(b->a, b->p, reuse, PETSC_DEFAULT, &b->c));
  *seconds = MPI_Wtime() - *seconds;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Checks the computed matrix C = A P or C = P^T A P: C x must be exactly equal to the vector that
 * results if x is multiplied by P, by A and, in the case ptap, by P^T. */
static PetscErrorCode check(const problem *b)
{
  Vec x, px, apx, due, y;
  PetscInt low, high;
  PetscReal difference;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(b->p, &x, &px));
  PetscCall(VecDuplicate(px, &apx));
  PetscCall(VecGetOwnershipRange(x, &low, &high));
  for (PetscInt j = low; j < high; j++)
    PetscCall(VecSetValue(x, j, (double)(j * 7 % 17 - 8), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(b->p, x, px));
  PetscCall(MatMult(b->a, px, apx));
  PetscCall(VecDuplicate(b->ptap ? x : apx, &due));
  PetscCall(VecDuplicate(due, &y));
  if (b->ptap)
    PetscCall(MatMultTranspose(b->p, apx, due));
  else
    PetscCall(VecCopy(apx, due));
  PetscCall(MatMult(b->c, x, y));
  PetscCall(VecAXPY(y, -1.0, due));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  PetscCheck(difference == 0.0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "C x differs by %g",
             (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&px));
  PetscCall(VecDestroy(&apx));
  PetscCall(VecDestroy(&due));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static int compare_seconds(const void *left, const void *right)
{
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Measures calls with MAT_INITIAL_MATRIX (*initial) and with MAT_REUSE_MATRIX (*numeric), each as
 * median seconds. Repetition -1 is a warm-up. */
static PetscErrorCode measure(problem *b, double *initial, double *numeric)
{
  double took[2][REPS], seconds;
  PetscFunctionBeginUser;
  for (int rep = -1; rep < REPS; rep++) {
    PetscCall(MatDestroy(&b->c));
    PetscCall(multiply(b, MAT_INITIAL_MATRIX, &seconds));
    PetscCall(check(b));
    if (rep >= 0) took[0][rep] = seconds;
  }
  for (int rep = -1; rep < REPS; rep++) {
    PetscCall(MatScale(b->a, -1.0)); /* so that values of an earlier call fail the check */
    PetscCall(multiply(b, MAT_REUSE_MATRIX, &seconds));
    PetscCall(check(b));
    if (rep >= 0) took[1][rep] = seconds;
  }
  for (int phase = 0; phase < 2; phase++)
    qsort(took[phase], REPS, sizeof took[phase][0], compare_seconds);
  *initial = took[0][REPS / 2];
  *numeric = took[1][REPS / 2];
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  problem b = {0};
  double initial, numeric;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCheck(argc > 2, PETSC_COMM_WORLD, PETSC_ERR_USER, "petsc_products spmm|ptap N");
  b.ptap = strcmp(argv[1], "ptap") == 0;
  const PetscInt n = (PetscInt)strtol(argv[2], NULL, 10);
  while (b.side * b.side * b.side < n)
    b.side++;
  const PetscInt rows = b.side * b.side * b.side;
  PetscCall(create_matrix(rows, rows, &b.a));
  PetscCall(create_matrix(rows, aggregate_of(b.side, rows - 1) + 1, &b.p));
  PetscCall(MatGetOwnershipRange(b.a, &b.low, &b.high));
  PetscCall(fill_matrices(&b));
  PetscCall(measure(&b, &initial, &numeric));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s %.9g %.9g\n", argv[1], argv[2], initial, numeric));
  PetscCall(MatDestroy(&b.a));
  PetscCall(MatDestroy(&b.p));
  PetscCall(MatDestroy(&b.c));
  return (int)PetscFinalize();
}
