/* The info keys promise the following use of windows, and no other use:
 *
 *   MPI_Rget, MPI_Rput   contiguous bytes, and words of notifies unless cores are oversubscribed
 *   MPI_Rget_accumulate  one MPI_INT64_T at a multiple of 8, with
 *     MPI_REPLACE        for words of notifies (put_word in transport_mpi.c, post_mpi.c)
 *     MPI_SUM            for counters (mpi_fetch_add)
 *     MPI_NO_OP          for the backend's own word (OSLA_REGION_WORD)
 *   MPI_Win_flush        after these
 *
 * Each word has one purpose, so all accumulates on it use one operation. Only the words of posts
 * need an order, which is that of writes after writes: sums are single fetches, and the values
 * fetched by NO_OP and REPLACE are not used.
 *
 * With these keys MPI may execute a one-element MPI_Rget_accumulate in the network, like
 * MPI_Fetch_and_op (MPICH: ofi_rma.h, MPIDI_OFI_do_get_accumulate; Open MPI 5: osc_ucx_comm.c,
 * use_atomic_op, for sum, replace and no_op of 8 bytes). It has a request, so the wait for it can
 * sleep. */
#include "src/transport/mpi/region_mpi.h"

#include <stdio.h>
#include <string.h>

/* Info keys; an MPI ignores unknown keys (MPI-3.1, chapter 9). */
static const struct {
  const char *key, *value;
} keys[] = {
  /* Keys of MPI-3.1, section 11.2.1. same_size is not promised, because counters have memory on
   * rank 0 only. */
  {"accumulate_ops", "same_op"},
  {"accumulate_ordering", "waw"},
  {"same_disp_unit", "true"},
  /* Keys of MPICH's ch4, from which the MPIs of Cray, Intel and MVAPICH derive. They are documented
   * only in its sources (src/mpid/ch4/include/mpidpre.h, MPIDIG_win_info_args_t). Without the list
   * MPICH uses the network's atomics only if the network has all MPI operations (ofi_win.c,
   * load_acc_hint). */
  {"which_accumulate_ops", "sum,replace,no_op"},
  {"accumulate_noncontig_dtype", "false"},
  {"accumulate_max_bytes", "8"},
  /* A key of MPICH's ch4. MPICH then executes accumulates between ranks of a node in the network,
   * too, which is its condition for using the network between nodes (ofi_rma.h, comment in
   * MPIDI_NM_mpi_compare_and_swap). On the node the library uses it for counters only. */
  {"disable_shm_accumulate", "true"},
  /* A key of Open MPI's osc/rdma (in 4.1.4) and osc/ucx (in 5.0; ompi_info --all: "codes that will
   * not use anything more than a single predefined datatype"). Without it an accumulate takes a
   * lock, a get, a flush and a put (osc_ucx_comm.c, get_accumulate_req). */
  {"acc_single_intrinsic", "true"},
};

osla_err osli_window_info(const osla_transport *t, MPI_Info *out)
{
  OSLA_MPI(MPI_Info_create(out));
  if (t->settings.no_window_info) return OSLA_OK;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    int code = MPI_Info_set(*out, keys[i].key, keys[i].value);
    if (code == MPI_SUCCESS) continue;
    (void)MPI_Info_free(out);
    return osla_error_set_mpi(code, "MPI_Info_set");
  }
  return OSLA_OK;
}

/* Settings that may help with this MPI. In Open MPI 4.1 btl/tcp has neither gets nor atomics, so
 * osc/rdma cannot use TCP; osc/ucx uses only devices of Mellanox by default (ompi_info --param opal
 * common_ucx); osc/pt2pt refuses MPI_THREAD_MULTIPLE. Other MPIs register the window's memory with
 * the network, which locks it. */
static const char *network_advice(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length;
  (void)MPI_Get_library_version(version, &length);
  if (strstr(version, "Open MPI"))
    return "try mpiexec --mca osc pt2pt,sm (not with MPI_THREAD_MULTIPLE), or --mca osc "
           "ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any";
  return "try 'ulimit -l unlimited' on all nodes, another network of this MPI, or all ranks on one "
         "node";
}

static osla_err window_error(int code, const char *call)
{
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (MPI_Error_string(code, reason, &length) != MPI_SUCCESS)
    (void)snprintf(reason, sizeof reason, "error code %d", code);
  reason[strcspn(reason, "\n")] = '\0';
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "this MPI gives no window (%s: %.150s): %s", call,
                        reason, network_advice());
}

static osla_err begin_epoch(MPI_Win win)
{
  int *model, found;
  OSLA_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  OSLA_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  OSLA_MPI(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found));
  OSLA_CHECK(found && *model == MPI_WIN_UNIFIED, OSLA_ERR_UNSUPPORTED,
             "this MPI keeps a window's public and private copies apart (not MPI_WIN_UNIFIED), so "
             "that loads would not see puts: %s",
             network_advice());
  return OSLA_OK;
}

osla_err osli_window_create(osla_transport *t, bool is_dynamic, void *base, size_t bytes,
                            MPI_Win *win)
{
  MPI_Info info;
  *win = MPI_WIN_NULL;
  OSLA_CALL(osli_window_info(t, &info));
  int code = is_dynamic ? MPI_Win_create_dynamic(info, t->comm, win)
                        : MPI_Win_create(base, (MPI_Aint)bytes, 1, info, t->comm, win);
  (void)MPI_Info_free(&info);
  if (code != MPI_SUCCESS) {
    *win = MPI_WIN_NULL;
    return window_error(code, is_dynamic ? "MPI_Win_create_dynamic" : "MPI_Win_create");
  }
  osli_window_opened(t->rank == 0);
  OSLA_CALL(begin_epoch(*win));
  if (is_dynamic && bytes > 0) OSLA_MPI(MPI_Win_attach(*win, base, (MPI_Aint)bytes));
  return OSLA_OK;
}

void osli_window_free(MPI_Win *win)
{
  if (*win == MPI_WIN_NULL) return;
  (void)MPI_Win_unlock_all(*win);
  (void)MPI_Win_free(win);
  osli_window_closed();
}
