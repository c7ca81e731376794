/* Measures a network connection between two hosts: both ranks send and receive at once, by plain
 * sockets, MPI messages, or MPI_Rget. Prints seconds, the rate in each direction, and how long each
 * core was busy for a byte out and a byte in. The CPU time is that of the whole machine,
 * which must be otherwise idle.
 *
 *    mpicc bench/peers/line.c -o line
 *    tests/hosts 2 sh -c '$MPIEXEC -n 2 ./line msg'    (or sock, or get) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 4 << 20, PIECES = 128, DEPTH = 2, TIMES = 5 };

static char *out, *in; /* send and receive buffers of DEPTH pieces */
static MPI_Win window;

/* Seconds that all cores were busy since the start of the system. */
static double busy_seconds(void)
{
  long v[7] = {0};
  FILE *file = fopen("/proc/stat", "r");
  if (!file || fscanf(file, "cpu %ld %ld %ld %ld %ld %ld %ld", v, v + 1, v + 2, v + 3, v + 4, v + 5,
                      v + 6) != 7)
    MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  return (double)(v[0] + v[1] + v[2] + v[5] + v[6]) / (double)sysconf(_SC_CLK_TCK);
}

static int connect_socket(int rank)
{
  struct sockaddr_in a = {.sin_family = AF_INET};
  socklen_t length = sizeof a;
  int line = socket(AF_INET, SOCK_STREAM, 0), failed = line < 0;
  if (rank == 0) {
    struct ifaddrs *all = NULL;
    int listener = line;
    failed |= bind(listener, (void *)&a, length) || listen(listener, 1) ||
              getsockname(listener, (void *)&a, &length) || getifaddrs(&all);
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
      if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && strcmp(i->ifa_name, "lo") != 0)
        a.sin_addr = ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr;
    MPI_Send(&a, sizeof a, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    line = accept(listener, NULL, NULL);
  } else {
    MPI_Recv(&a, sizeof a, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failed |= connect(line, (void *)&a, length) != 0;
  }
  if (failed || line < 0 || fcntl(line, F_SETFL, O_NONBLOCK) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  return line;
}

static void by_socket(int line)
{
  const long all = (long)PIECE * PIECES;
  for (long sent = 0, got = 0; sent < all || got < all;) {
    long s = sent < all ? send(line, out + sent % PIECE, (size_t)(PIECE - sent % PIECE), 0) : 0;
    long r = got < all ? recv(line, in + got % PIECE, (size_t)(PIECE - got % PIECE), 0) : 0;
    if (s > 0) sent += s;
    if (r > 0) got += r;
    if (s > 0 || r > 0) continue;
    struct pollfd p = {line, (short)((got < all ? POLLIN : 0) | (sent < all ? POLLOUT : 0)), 0};
    (void)poll(&p, 1, 1);
  }
}

/* Transfers all pieces, of which at most DEPTH are in flight at a time. */
static void by_mpi(int peer, int gets)
{
  MPI_Request under_way[2 * DEPTH];
  for (int i = 0; i < 2 * DEPTH; i++)
    under_way[i] = MPI_REQUEST_NULL;
  for (int piece = 0; piece < PIECES; piece++) {
    int set = piece % DEPTH;
    MPI_Request *r = under_way + 2 * set;
    char *to = in + (size_t)set * PIECE, *from = out + (size_t)set * PIECE;
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (gets) {
      MPI_Rget(to, PIECE, MPI_BYTE, peer, (MPI_Aint)set * PIECE, PIECE, MPI_BYTE, window, r);
    } else {
      MPI_Irecv(to, PIECE, MPI_BYTE, peer, set, MPI_COMM_WORLD, r);
      MPI_Isend(from, PIECE, MPI_BYTE, peer, set, MPI_COMM_WORLD, r + 1);
    }
  }
  MPI_Waitall(2 * DEPTH, under_way, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *way = argc == 2 ? argv[1] : "";
  int sockets = strcmp(way, "sock") == 0, gets = strcmp(way, "get") == 0;
  if (size != 2 || (!sockets && !gets && strcmp(way, "msg") != 0)) {
    if (rank == 0) fprintf(stderr, "usage: mpiexec -n 2 line sock|msg|get\n");
    MPI_Finalize();
    return 2;
  }
  out = calloc(DEPTH, PIECE), in = calloc(DEPTH, PIECE);
  if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(out, 1, (size_t)DEPTH * PIECE), memset(in, 2, (size_t)DEPTH * PIECE);
  MPI_Win_create(out, (MPI_Aint)DEPTH * PIECE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  int line = sockets ? connect_socket(rank) : -1;
  for (int time = 0; time <= TIMES; time++) { /* the first repetition is a warm-up */
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), before = busy_seconds(), bytes = (double)PIECE * PIECES;
    if (sockets)
      by_socket(line);
    else
      by_mpi(1 - rank, gets);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - start, cores = busy_seconds() - before;
    if (rank == 0 && time > 0)
      printf("%s: %.3f s, %.0f MB/s each way, %.2f ns of each core for a byte out and in\n", way,
             took, bytes / took / 1e6, cores / 2 / bytes * 1e9);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
