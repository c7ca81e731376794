/* The JSON report. See info.h; osla-info(1) documents the keys. */
#include "config.h"

#include "tools/info/info.h"

static json_t *nodes_json(const info_system *s)
{
  json_t *nodes = json_array();
  for (int node = 0; node < s->n_nodes; node++) {
    json_t *ranks = json_array();
    int first = -1;
    for (int rank = 0; rank < s->size; rank++) {
      if (s->ranks[rank].node != node) continue;
      if (first < 0) first = rank;
      (void)json_array_append_new(ranks, json_integer(rank));
    }
    const info_rank *r = &s->ranks[first];
    (void)json_array_append_new(
      nodes, json_pack("{s:s, s:i, s:I, s:I, s:o}", "host", r->host, "cores", r->cores,
                       "shared_bytes_free", (json_int_t)r->shared_bytes, "memory_bytes_available",
                       (json_int_t)r->available_bytes, "ranks", ranks));
  }
  return nodes;
}

static json_t *mpi_json(const info_mpi *m)
{
  return json_pack("{s:s, s:s, s:s, s:s, s:[i,i], s:s}", "library", m->library, "family", m->family,
                   "version", m->version, "device", m->device, "standard", m->standard[0],
                   m->standard[1], "thread_level", m->thread_level);
}

static json_t *tests_json(const info_findings *findings)
{
  json_t *tests = json_array();
  for (int i = 0; i < findings->n_tests; i++) {
    const info_test *test = &findings->test[i];
    const char *verdict =
      test->verdict == INFO_SKIPPED ? "skipped" : info_verdict_name(test->verdict);
    (void)json_array_append_new(tests, json_pack("{s:s, s:s, s:s}", "name", test->name, "verdict",
                                                 verdict, "text", test->text));
  }
  return tests;
}

static json_t *speed_json(const info_speed *speed)
{
  if (!speed->measured) return json_null();
  return json_pack("{s:f, s:f, s:f}", "notify_seconds", speed->notify, "put_bytes_per_second",
                   speed->put, "get_bytes_per_second", speed->get);
}

static json_t *busy_json(const info_busy *busy)
{
  if (!(busy->seconds > 0)) return json_null();
  return json_pack("{s:f, s:f, s:f, s:f, s:b}", "target_computes_seconds", busy->seconds,
                   "get_seconds", busy->times.get, "notify_seconds", busy->times.notify,
                   "fetch_add_seconds", busy->times.fetch_add, "notify_needs_target",
                   busy->notify_needs_target);
}

static json_t *devices_json(const info_devices *devices)
{
  if (!devices->kind[0]) return json_null();
  json_t *texts = json_array();
  for (int i = 0; i < devices->count && i < INFO_MAX_DEVICES; i++)
    (void)json_array_append_new(texts, json_string(devices->text[i]));
  return json_pack("{s:s, s:i, s:o, s:s}", "kind", devices->kind, "count", devices->count,
                   "devices", texts, "failure", devices->failure);
}

static json_t *rules_json(const info_system *system, const info_findings *findings)
{
  json_t *rules = json_array();
  for (int i = 0; info_rule_get(i); i++)
    (void)json_array_append_new(rules,
                                json_pack("{s:s, s:s, s:s}", "does", info_rule_get(i)->does,
                                          "cause", info_rule_get(i)->cause, "concerns_this_mpi",
                                          info_rule_concern(i, &system->mpi, findings)));
  return rules;
}

static json_t *limits_json(const info_system *s)
{
  json_t *limits = json_array();
  for (int i = 0; info_limit_get(s->transport, i); i++)
    (void)json_array_append_new(limits, json_string(info_limit_get(s->transport, i)));
  return limits;
}

json_t *info_json(const info_system *s, const info_findings *findings)
{
  return json_pack(
    "{s:s, s:b, s:i, s:i, s:b, s:o, s:o, s:{s:s, s:i, s:b}, s:s, s:s, s:b, s:s, s:o, s:{s:o, s:o}, "
    "s:o, s:o, s:o, s:o}",
    "osla", PACKAGE_VERSION, "works", info_first_failure(findings) == NULL, "ranks", s->size,
    "hosts", s->n_hosts, "oversubscribed", s->oversubscribed, "nodes", nodes_json(s), "mpi",
    mpi_json(&s->mpi), "blas", "library", s->blas, "threads_per_rank", s->cpu.threads,
    "threads_chosen_by_user", s->cpu.chosen_by_user, "transport", s->transport, "hdf5", info_hdf5(),
    "scalapack", info_has_scalapack(), "gnuplot", s->gnuplot, "tests", tests_json(findings),
    "speed", "on_node", speed_json(&findings->speed[INFO_ON_NODE]), "across_nodes",
    speed_json(&findings->speed[INFO_ACROSS]), "busy_target", busy_json(&findings->busy), "limits",
    limits_json(s), "workarounds", rules_json(s, findings), "devices",
    devices_json(&findings->devices));
}
