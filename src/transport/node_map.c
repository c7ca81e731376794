/* Finds and stores the node of each rank.
 * If each node holds the same number of consecutive ranks (the last node may hold fewer), as is
 * usual, the map consists of that number. Otherwise it consists of two tables with an entry for
 * each rank. */
#include "src/transport/transport_ops.h"

#include <stdlib.h>
#include <string.h>

/* Makes the communicator of the ranks of this node. */
static osla_err split_nodes(osla_transport *t)
{
  if (t->ops->every_rank_a_node) {
    OSLA_MPI(MPI_Comm_split(t->comm, t->rank, 0, &t->node_comm));
    return OSLA_OK;
  }
  if (t->ops->split_hosts)
    OSLA_CALL(t->ops->split_hosts(t->comm, &t->node_comm));
  else
    OSLA_MPI(MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &t->node_comm));
  if (t->settings.fake_nodes == 0) return OSLA_OK;
  int rank, size;
  MPI_Comm whole = t->node_comm;
  OSLA_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OSLA_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  const int64_t part = (int64_t)rank * t->settings.fake_nodes / size;
  int code = MPI_Comm_split(whole, (int)part, 0, &t->node_comm);
  (void)MPI_Comm_free(&whole);
  OSLA_MPI(code);
  return OSLA_OK;
}

/* Finds whether rank r is on node r / n, for all ranks r and one number n. If so, sets node_each to
 * n. */
static osla_err find_regular(osla_transport *t, int leader)
{
  int each = t->node_size;
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &each, 1, MPI_INT, MPI_MAX, t->comm));
  t->largest_node = each;
  int full = t->node_size == each || leader + t->node_size == t->size;
  int regular = leader % each == 0 && t->rank == leader + t->node_rank && full;
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &regular, 1, MPI_INT, MPI_MIN, t->comm));
  if (!regular) return OSLA_OK;
  t->node_each = each;
  t->node = leader / each;
  t->n_nodes = (t->size + each - 1) / each;
  return OSLA_OK;
}

static osla_err fill_tables(osla_transport *t, int leader)
{
  t->node_of = malloc((size_t)t->size * sizeof *t->node_of);
  t->node_rank_of = malloc((size_t)t->size * sizeof *t->node_rank_of);
  /* [size] index of the node whose lowest rank is the index of the entry */
  int *number = calloc((size_t)t->size, sizeof *number);
  osla_err err = osli_agree_allocated(t->comm, t->node_of && t->node_rank_of && number, "node map");
  int code = MPI_SUCCESS;
  if (err == OSLA_OK) code = MPI_Allgather(&leader, 1, MPI_INT, t->node_of, 1, MPI_INT, t->comm);
  if (err == OSLA_OK && code == MPI_SUCCESS) {
    for (int rank = 0; rank < t->size; rank++)
      if (t->node_of[rank] == rank) number[rank] = t->n_nodes++;
    for (int rank = 0; rank < t->size; rank++)
      t->node_of[rank] = number[t->node_of[rank]];
    t->node = t->node_of[t->rank];
    for (int rank = 0, near = 0; rank < t->size; rank++)
      t->node_rank_of[rank] = t->node_of[rank] == t->node ? near++ : -1;
  }
  free(number);
  return code == MPI_SUCCESS ? err : osla_error_set_mpi(code, "MPI_Allgather");
}

osla_err osli_nodes_map(osla_transport *t, int *leader)
{
  OSLA_CALL(split_nodes(t));
  OSLA_MPI(MPI_Comm_set_errhandler(t->node_comm, MPI_ERRORS_RETURN));
  OSLA_MPI(MPI_Comm_rank(t->node_comm, &t->node_rank));
  OSLA_MPI(MPI_Comm_size(t->node_comm, &t->node_size));
  *leader = t->rank;
  OSLA_MPI(MPI_Bcast(leader, 1, MPI_INT, 0, t->node_comm));
  OSLA_CALL(find_regular(t, *leader));
  return t->node_each ? OSLA_OK : fill_tables(t, *leader);
}

int osla_transport_node_of(const osla_transport *t, int rank)
{
  return t->node_each ? rank / t->node_each : t->node_of[rank];
}

int osla_transport_node_rank_of(const osla_transport *t, int rank)
{
  if (!t->node_each) return t->node_rank_of[rank];
  return osla_transport_same_node(t, rank) ? rank - t->node * t->node_each : -1;
}

bool osla_transport_same_node(const osla_transport *t, int rank)
{
  return osla_transport_node_of(t, rank) == t->node;
}
