/* See invert_json_data.h. */
#include "apps/tomography/invert/invert_json_data.h"
#include "tools/common/command.h"

#include <math.h>

/* The number, or JSON null unless `there`. */
static json_t *number_if(bool there, double value)
{
  return there ? command_number(value) : json_null();
}

/* Adds the head lines of the reference table. */
static void add_reference(const tomo_reference *r, json_t *settings)
{
  const struct {
    const char *key, *value;
  } heads[] = {{"reference_title", tomo_reference_title(r)},
               {"reference_source", tomo_reference_source(r)},
               {"reference_made", tomo_reference_made(r)},
               {"reference_mapping", tomo_reference_mapping(r)}};
  for (size_t i = 0; settings && i < sizeof heads / sizeof *heads; i++)
    (void)json_object_set_new(settings, heads[i].key,
                              *heads[i].value ? command_string(heads[i].value) : json_null());
}

json_t *invert_data_settings(const invert_job *job)
{
  const invert_options *o = job->options;
  const tomo_kernel_options *k = &o->kernel;
  const tomo_model_options *m = &o->model;
  const bool made_up = !o->data;
  json_t *settings =
    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "data",
              command_string(o->data), "reference", command_string(job->earth), "test",
              command_string(o->test ? tomo_model_name(m->kind) : NULL), "periods",
              number_if(made_up, k->n_periods), "branches", number_if(made_up, k->n_branches),
              "period_min_s", number_if(made_up, k->period_min_s), "period_max_s",
              number_if(made_up, k->period_max_s), "noise", number_if(o->test, o->noise),
              "amplitude_percent", number_if(o->test, m->amplitude_percent), "cell_degrees",
              number_if(o->test && m->kind != TOMO_MODEL_SPIKE, m->cell_degrees), "cell_depth_km",
              number_if(o->test && m->kind != TOMO_MODEL_SPIKE, m->cell_depth_km), "robust",
              o->robust, "outlier", number_if(o->robust, o->outlier));
  if (job->reference) add_reference(job->reference, settings);
  return settings;
}

/* Numbers and first messages of the rejected rows of the table. */
static json_t *notes_json(const invert_job *job)
{
  const tomo_data_notes *n = &job->notes;
  json_t *listed = json_array();
  for (int64_t i = 0; i < n->listed; i++)
    (void)json_array_append_new(listed, json_pack("{s:I, s:o}", "place", (json_int_t)n->place[i],
                                                  "what", command_string(n->note[i])));
  return json_pack("{s:I, s:I, s:I, s:I, s:o}", "rows", (json_int_t)n->rows, "unmatched",
                   (json_int_t)n->unmatched, "beyond_distances", (json_int_t)n->distant,
                   "without_sigma", (json_int_t)n->sigma_missing, "unmatched_first", listed);
}

json_t *invert_data_json(const invert_job *job)
{
  json_t *root = json_pack("{s:I}", "measures", (json_int_t)job->data.n_measures);
  if (job->options->data) (void)json_object_set_new(root, "table", notes_json(job));
  json_t *fit = invert_fit_json(job);
  if (!fit || json_object_set_new(root, "fit", fit) != 0) {
    json_decref(root);
    return NULL;
  }
  if (job->options->robust) (void)json_object_set_new(root, "robust", invert_robust_json(job));
  return root;
}
