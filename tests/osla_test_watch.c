#include "tests/osla_test_watch.h"

#include <mpi.h>
#include <string.h>

enum { MAX_TARGETS = 64, MAX_KNOWN = 1024 };

static osla_test_watch watch;
static MPI_Request known[MAX_KNOWN]; /* requests of MPI_Rput and MPI_Rget that are not finished */
static int n_known;
static bool held;
static struct {
  bool any;   /* true if a put of any size is not flushed yet */
  bool large; /* true if a large put is not flushed yet */
} puts_to[MAX_TARGETS];

void osla_test_watch_start(void)
{
  memset(&watch, 0, sizeof watch);
  memset(puts_to, 0, sizeof puts_to);
  n_known = 0;
}

void osla_test_watch_hold(bool hold)
{
  held = hold;
}

osla_test_watch osla_test_watch_read(void)
{
  osla_test_watch now = watch;
  for (int target = 0; target < MAX_TARGETS; target++)
    if (puts_to[target].any) now.unflushed++;
  return now;
}

static void note_outstanding(MPI_Request request)
{
  if (n_known < MAX_KNOWN) known[n_known++] = request;
  if (n_known > watch.most_outstanding) watch.most_outstanding = n_known;
}

static void note_start(MPI_Request request)
{
  watch.started++;
  note_outstanding(request);
}

int MPI_Rget(void *dest, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
             MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
  int code = PMPI_Rget(dest, count, type, target, disp, target_count, target_type, win, request);
  if (code == MPI_SUCCESS) note_start(*request);
  return code;
}

int MPI_Rput(const void *source, int count, MPI_Datatype type, int target, MPI_Aint disp,
             int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
  if (target < MAX_TARGETS) {
    if (count == 8 && puts_to[target].large) watch.overtaking++;
    puts_to[target].any = true;
    if (count > 8) puts_to[target].large = true;
  }
  int code = PMPI_Rput(source, count, type, target, disp, target_count, target_type, win, request);
  if (code == MPI_SUCCESS) note_start(*request);
  return code;
}

/* The transport notifies by MPI_REPLACE of one word, so all earlier puts must have been flushed. */
int MPI_Rget_accumulate(const void *source, int count, MPI_Datatype type, void *result,
                        int result_count, MPI_Datatype result_type, int target, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                        MPI_Request *request)
{
  if (target < MAX_TARGETS && op == MPI_REPLACE && puts_to[target].any) watch.overtaking++;
  if (op == MPI_NO_OP && disp == 0) watch.on_bells++;
  int code = PMPI_Rget_accumulate(source, count, type, result, result_count, result_type, target,
                                  disp, target_count, target_type, op, win, request);
  if (code == MPI_SUCCESS) note_outstanding(*request);
  return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
  MPI_Request before = *request;
  *flag = 0;
  if (held) return MPI_SUCCESS;
  int code = PMPI_Test(request, flag, status);
  for (int i = 0; *flag && i < n_known; i++)
    if (known[i] == before) {
      known[i] = known[--n_known];
      break;
    }
  return code;
}

int MPI_Win_flush(int target, MPI_Win win)
{
  int code = PMPI_Win_flush(target, win);
  if (target < MAX_TARGETS) puts_to[target].any = puts_to[target].large = false;
  return code;
}
