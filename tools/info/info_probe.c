/* Properties of this MPI's RMA, and OSLA's workarounds. */
#include "tools/info/info.h"

static const double busy_seconds = 0.05;

/* Returns " (on the node)" or " (across nodes)" if a hazard was found for only one of these two
 * kinds of pairs, otherwise "". */
static const char *where(const int value[OSLA_PROBE_KINDS])
{
  if (value[OSLA_PROBE_ON_NODE] > 0 && value[OSLA_PROBE_ACROSS] == 0) return " (on the node)";
  if (value[OSLA_PROBE_ON_NODE] == 0 && value[OSLA_PROBE_ACROSS] > 0) return " (across nodes)";
  return "";
}

static void test_alignment(osla_transport *t, info_findings *f)
{
  static const char name[] = "alignment";
  int early[OSLA_PROBE_KINDS];
  if (osli_probe_alignment(t, early) != OSLA_OK) {
    info_add(f, name, INFO_FAILED, "%s", osla_error_text());
    return;
  }
  int worst = early[0] > early[1] ? early[0] : early[1];
  f->seen[INFO_MISALIGNED] = worst > 0 ? INFO_SEEN : INFO_NOT_SEEN;
  if (worst == 0)
    info_add(f, name, INFO_OK, "MPI puts right to a window base that is not 16-byte aligned");
  else if (worst < OSLA_PROBE_LOST)
    info_add(f, name, INFO_NO,
             "an MPI put to a window base that is not 16-byte aligned lands up to %d bytes "
             "early%s: OSLA's segments are page-aligned, so it is safe",
             worst, where(early));
  else
    info_add(f, name, INFO_NO,
             "an MPI put to a window base that is not 16-byte aligned gets lost%s: OSLA's "
             "segments are page-aligned, so it is safe",
             where(early));
}

/* A property that a probe measures for pairs of ranks. If its value is 0 or less, MPI works as it
 * should. */
typedef struct pair_test {
  const char *name;
  osla_err (*probe)(osla_transport *t, int value[OSLA_PROBE_KINDS]);
  int hazard;
  const char *right, *wrong, *remedy;
} pair_test;

static const pair_test pair_tests[] = {
  {"nested window", osli_probe_window_within, INFO_WITHIN,
   "a window on memory of another window leads to that memory",
   "a window on memory of another window leads to the start of the other one",
   "OSLA looks, and attaches the caller's memory otherwise"},
  {"strided get", osli_probe_strided_get, INFO_STRIDED_GET,
   "MPI_Rget of a strided datatype has its data when it is complete",
   "MPI_Rget of a strided datatype completes without its data",
   "OSLA gets contiguous pieces only"}};
enum { N_PAIR_TESTS = sizeof pair_tests / sizeof *pair_tests };

static void test_pair(osla_transport *t, const pair_test *test, info_findings *f)
{
  int value[OSLA_PROBE_KINDS];
  if (test->probe(t, value) != OSLA_OK) {
    info_add(f, test->name, INFO_FAILED, "%s", osla_error_text());
    return;
  }
  bool right = value[0] <= 0 && value[1] <= 0;
  f->seen[test->hazard] = right ? INFO_NOT_SEEN : INFO_SEEN;
  if (right)
    info_add(f, test->name, INFO_OK, "%s", test->right);
  else
    info_add(f, test->name, INFO_NO, "%s%s: %s", test->wrong, where(value), test->remedy);
}

static void test_shared_query(osla_transport *t, info_findings *f)
{
  static const char name[] = "shared query";
  bool served = false;
  if (osli_probe_shared_query(t, &served) != OSLA_OK) {
    info_add(f, name, INFO_FAILED, "%s", osla_error_text());
    return;
  }
  f->seen[INFO_SHARED_QUERY] = served ? INFO_NOT_SEEN : INFO_SEEN;
  if (served)
    info_add(f, name, INFO_OK, "MPI_Win_shared_query serves a window of MPI_Win_allocate");
  else
    info_add(f, name, INFO_NO,
             "MPI_Win_shared_query refuses a window of MPI_Win_allocate: OSLA shares the memory "
             "by a window of its own on each node");
}

static bool was_delayed(double seconds)
{
  return seconds > 0.3 * busy_seconds;
}

static void test_raw_on_node(osla_transport *t, const info_system *system, info_findings *f)
{
  static const char name[] = "passive on node";
  double get = 0, put = 0;
  if (system->origin[INFO_ON_NODE] < 0) {
    info_add(f, name, INFO_SKIPPED, "needs 2 ranks on one node");
    return;
  }
  osla_probe_pair pair = {system->origin[INFO_ON_NODE], system->partner[INFO_ON_NODE],
                          busy_seconds};
  if (osli_probe_passive(t, &pair, &get, &put) != OSLA_OK) {
    info_add(f, name, INFO_FAILED, "%s", osla_error_text());
    return;
  }
  bool late = was_delayed(get) || was_delayed(put);
  f->seen[INFO_NOT_PASSIVE] = late ? INFO_SEEN : INFO_NOT_SEEN;
  if (late)
    info_add(f, name, INFO_NO,
             "not passive: an MPI get waited %s (put %s) for a target that computes %s: OSLA "
             "loads and stores directly on the node",
             format_seconds(get).s, format_seconds(put).s, format_seconds(busy_seconds).s);
  else
    info_add(f, name, INFO_OK, "an MPI get takes %s, a put %s, while the target computes",
             format_seconds(get).s, format_seconds(put).s);
}

/* Repeats the measurement of osli_probe_busy_target on a transport with a progress thread. */
static osla_err probe_with_thread(osla_transport *t, const osla_probe_pair *pair,
                                  osla_probe_times *times)
{
  osla_transport *served = NULL;
  osla_transport_options options = {.progress_thread = true};
  OSLA_CALL(osla_transport_create(osla_transport_comm(t), &options, &served));
  osla_err err = osli_probe_busy_target(served, pair, times);
  osla_transport_destroy(&served);
  return err;
}

static void add_get(info_findings *f, const char *name, const osla_probe_times *times)
{
  bool late = was_delayed(times->get);
  if (late || f->seen[INFO_NOT_PASSIVE] == INFO_NOT_TESTED)
    f->seen[INFO_NOT_PASSIVE] = late ? INFO_SEEN : INFO_NOT_SEEN;
  if (late)
    info_add(f, name, INFO_NO,
             "not passive: a get waited %s for a target that computes %s; a progress thread "
             "(osla invert --progress-thread; osla_transport.h) helps when ranks compute for long",
             format_seconds(times->get).s, format_seconds(busy_seconds).s);
  else
    info_add(f, name, INFO_OK, "a get takes %s while the target computes",
             format_seconds(times->get).s);
}

/* Reports whether notify and fetch-and-add need the processor of the target rank. */
static void add_notify(info_findings *f, const char *name, const osla_probe_times *times)
{
  bool notify_late = was_delayed(times->notify), fetch_late = was_delayed(times->fetch_add);
  command_text notify = format_seconds(times->notify);
  command_text fetch = format_seconds(times->fetch_add);
  if (!notify_late && !fetch_late)
    info_add(f, name, INFO_OK,
             "while the target computes a notify takes %s, a fetch-and-add %s: they do not need "
             "its processor",
             notify.s, fetch.s);
  else
    info_add(f, name, INFO_NO,
             "a notify took %s, a fetch-and-add %s, to a target that computes %s: %s its processor",
             notify.s, fetch.s, format_seconds(busy_seconds).s,
             !fetch_late    ? "the notify needs"
             : !notify_late ? "the fetch-and-add needs"
                            : "both need");
}

static void test_across(osla_transport *t, const info_system *system, info_findings *f)
{
  static const char get[] = "passive across nodes", notify[] = "notify across nodes",
                    thread[] = "progress thread";
  osla_probe_pair pair = {system->origin[INFO_ACROSS], system->partner[INFO_ACROSS], busy_seconds};
  osla_probe_times served;
  if (pair.origin < 0) {
    info_add(f, get, INFO_SKIPPED, "needs 2 nodes");
    info_add(f, notify, INFO_SKIPPED, "needs 2 nodes");
    return;
  }
  if (osli_probe_busy_target(t, &pair, &f->busy.times) != OSLA_OK) {
    info_add(f, get, INFO_FAILED, "%s", osla_error_text());
    return;
  }
  f->busy.seconds = busy_seconds;
  f->busy.notify_needs_target = was_delayed(f->busy.times.notify);
  add_get(f, get, &f->busy.times);
  add_notify(f, notify, &f->busy.times);
  if (probe_with_thread(t, &pair, &served) != OSLA_OK)
    info_add(f, thread, INFO_NO, "%s; jobs run without it", osla_error_text());
  else if (was_delayed(served.get))
    info_add(f, thread, INFO_NO, "does not help here: the get still waited %s",
             format_seconds(served.get).s);
  else
    info_add(f, thread, INFO_OK, "with it the get takes %s, a notify %s",
             format_seconds(served.get).s, format_seconds(served.notify).s);
}

void info_test_mpi(osla_transport *t, const info_system *system, info_watchdog *dog,
                   info_findings *f)
{
  if (system->size > 1) {
    info_watchdog_begin(dog, "alignment");
    test_alignment(t, f);
    for (int i = 0; i < N_PAIR_TESTS; i++) {
      info_watchdog_begin(dog, pair_tests[i].name);
      test_pair(t, &pair_tests[i], f);
    }
  } else {
    info_add(f, "alignment", INFO_SKIPPED, "needs 2 ranks");
    for (int i = 0; i < N_PAIR_TESTS; i++)
      info_add(f, pair_tests[i].name, INFO_SKIPPED, "needs 2 ranks");
  }
  info_watchdog_begin(dog, "shared query");
  test_shared_query(t, f);
  info_watchdog_begin(dog, "passive progress");
  test_raw_on_node(t, system, f);
  test_across(t, system, f);
}
