#define OSLA_OWN_GLOBALS_C
#include "bench/peers/own_globals.h"

#include "bench/peers/peer.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- bulk memory: all ranks share its pages, few of which are ever touched --- */

void *bulk_memory(void)
{
  static void *at;
  if (!at) {
    at = mmap(NULL, BULK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
    if (at == MAP_FAILED) {
      perror("bulk memory");
      exit(1);
    }
  }
  return at;
}

/* Buffers of PBLAS and of ScaLAPACK's Fortran. */
char *PB_Cgetbuf(char *message, int length)
{
  (void)message, (void)length;
  return bulk_memory();
}
void *getpbbuf(char *message, int length)
{
  (void)message, (void)length;
  return bulk_memory();
}

/* --- variables of BLACS: integers, pointers, and one struct of less than 16 words --- */

typedef struct {
  int MaxNCtxt, MaxNSysCtxt, Iam, Np;
  void *ReadyB, *ActiveQ, *MyContxts, *SysContxts, *COMM_WORLD, *Stats;
  void *AuxBuff[16];
  double looked, /* time of the latest probe that found no message */
    look;        /* duration of the latest probe that found no message */
  /* Topologies that PBLAS uses for broadcasts and combines, for rows, columns and all processes. */
  char top[2][3];
} globals;

static globals *own(void)
{
  static globals **tables;
  static int room;
  int pid = sg_actor_self_get_pid();
  if (pid >= room) {
    int more = 2 * pid + 64;
    tables = realloc(tables, (size_t)more * sizeof(globals *));
    if (!tables) abort();
    memset(tables + room, 0, (size_t)(more - room) * sizeof(globals *));
    room = more;
  }
  if (!tables[pid]) {
    tables[pid] = calloc(1, sizeof(globals));
    if (!tables[pid]) abort();
    tables[pid]->Np = -1;
    memset(tables[pid]->top, ' ', sizeof tables[pid]->top);
  }
  return tables[pid];
}

#define OWN(type, name)                                                                            \
  type *own_BI_##name(void);                                                                       \
  type *own_BI_##name(void)                                                                        \
  {                                                                                                \
    return &own()->name;                                                                           \
  }
OWN(int, MaxNCtxt)
OWN(int, MaxNSysCtxt)
OWN(int, Iam)
OWN(int, Np)
OWN(void *, ReadyB)
OWN(void *, ActiveQ)
OWN(void *, MyContxts)
OWN(void *, SysContxts)
OWN(void *, COMM_WORLD)
OWN(void *, Stats)
void *own_BI_AuxBuff(void);
void *own_BI_AuxBuff(void)
{
  return own()->AuxBuff;
}

/* Sets the topology of an operation to `top`, unless `top` is '!'. Returns the topology. */
char *PB_Ctop(const int *context, const char *operation, const char *scope, const char *top)
{
  (void)context;
  char *topology = &own()->top[*operation != 'B'][*scope == 'R' ? 0 : *scope == 'C' ? 1 : 2];
  if (*top != '!') *topology = *top;
  return topology;
}

/* --- messages --- */

enum { MESSAGE_REAL = 4096 };

/* Memory that SMPI treats as shared, so that it is not copied. */
static void *shared_memory(size_t bytes)
{
  enum { MOST = 1 << 30 };
  static void *at;
  if (!at) at = SMPI_SHARED_MALLOC(MOST);
  if (bytes > MOST) {
    (void)fprintf(stderr, "a message of %zu bytes: at most %d are modelled\n", bytes, MOST);
    exit(1);
  }
  return at;
}

typedef struct {
  void *at;
  int count;
  MPI_Datatype type;
} content;

static content content_of(const void *at, int count, MPI_Datatype type)
{
  int size;
  MPI_Type_size(type, &size);
  size_t bytes = (size_t)size * (size_t)count;
  if (bytes <= MESSAGE_REAL) return (content){(void *)at, count, type};
  return (content){shared_memory(bytes), (int)bytes, MPI_BYTE};
}

int own_send(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  content c = content_of(at, count, type);
  return MPI_Send(c.at, c.count, c.type, to, tag, comm);
}
int own_ssend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  content c = content_of(at, count, type);
  return MPI_Ssend(c.at, c.count, c.type, to, tag, comm);
}
int own_isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *out)
{
  content c = content_of(at, count, type);
  return MPI_Isend(c.at, c.count, c.type, to, tag, comm, out);
}
int own_issend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *out)
{
  content c = content_of(at, count, type);
  return MPI_Issend(c.at, c.count, c.type, to, tag, comm, out);
}
int own_recv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
  content c = content_of(at, count, type);
  return MPI_Recv(c.at, c.count, c.type, from, tag, comm, status);
}
int own_irecv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *out)
{
  content c = content_of(at, count, type);
  return MPI_Irecv(c.at, c.count, c.type, from, tag, comm, out);
}

/* A probe for messages takes 1 us, and up to 32 us if it is repeated at once. SMPI's own probe
 * takes 100 us, which would dominate HPL's look-ahead. */
int own_iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
  const double first = 1e-6, most = 32e-6;
  globals *me = own();
  double now = simgrid_get_clock();
  me->look = now > me->looked ? first : me->look < most ? 2 * me->look : most;
  sg_actor_sleep_for(me->look);
  int err = MPI_Iprobe(from, tag, comm, found, status);
  me->looked = simgrid_get_clock();
  return err;
}

/* Broadcast of a long message as in MPICH: scattered by a binomial tree, then gathered around a
 * ring (Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH,
 * 2005). SMPI's version first exchanges the locations of all ranks. */
static int bcast_long(size_t bytes, int root, int rank, int size, MPI_Comm comm)
{
  enum { TAG = 32000 };
  int place = (rank - root + size) % size, reach = 1, each = (int)(bytes / (size_t)size) + 1;
  void *at = shared_memory(bytes + (size_t)size);
  while (reach < size && !(place & reach))
    reach *= 2;
  int blocks = size - place < reach ? size - place : reach;
  if (place > 0)
    MPI_Recv(at, blocks * each, MPI_BYTE, (rank - reach + size) % size, TAG, comm,
             MPI_STATUS_IGNORE);
  for (int half = reach / 2; half > 0; half /= 2) {
    int past = place + half, theirs = size - past < half ? size - past : half;
    if (past < size) MPI_Send(at, theirs * each, MPI_BYTE, (rank + half) % size, TAG, comm);
  }
  for (int step = 1; step < size; step++)
    MPI_Sendrecv(at, each, MPI_BYTE, (rank + 1) % size, TAG, at, each, MPI_BYTE,
                 (rank - 1 + size) % size, TAG, comm, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}
int own_bcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  enum { LONG = 12288, RANKS = 8 };
  content c = content_of(at, count, type);
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (c.type == MPI_BYTE && c.count > LONG && size >= RANKS)
    return bcast_long((size_t)c.count, root, rank, size, comm);
  return MPI_Bcast(c.at, c.count, c.type, root, comm);
}
