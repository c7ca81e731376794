/* Opens and closes devices for the ranks of a transport, registers memory of the program, and
 * creates segments on devices. */
#include "config.h"

#include "src/base/reserved.h"
#include "src/device/fake/fake.h"
#include "src/memory/segment_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- devices ---- */

/* Loads the plug-in for CUDA and returns its table of functions. The plug-in is searched in the
 * folder of libosla, and then where the dynamic loader searches libraries. */
static osla_err find_cuda(const device_ops **out)
{
  static const char plug_in[] = "libosla_cuda.so";
  static const device_host host = {osla_error_set};
  char beside[4096];
  Dl_info self;
  const char *slash =
    dladdr(plug_in, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
  if (slash) {
    (void)snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname,
                   plug_in);
    slash = access(beside, F_OK) == 0 ? slash : NULL;
  }
  void *library = dlopen(slash ? beside : plug_in, RTLD_NOW | RTLD_LOCAL);
  OSLA_CHECK(
    library, OSLA_ERR_UNSUPPORTED,
    "device \"cuda\": %s cannot be loaded (%s); build OSLA by configure --with-cuda, or set "
    "LD_LIBRARY_PATH",
    plug_in, dlerror());
  void *symbol = dlsym(library, "osla_cuda_device_ops");
  const device_ops *(*get)(const device_host *) = NULL;
  memcpy(&get, &symbol, sizeof get);
  const device_ops *ops = get ? get(&host) : NULL;
  OSLA_CHECK(
    ops && ops->version == DEVICE_INTERFACE, OSLA_ERR_UNSUPPORTED,
    "device \"cuda\": %s has version %d of the interface, and this libosla has version %d; "
    "install both from one build",
    plug_in, ops ? ops->version : 0, DEVICE_INTERFACE);
  *out = ops;
  return OSLA_OK;
}

osla_err osli_device_backend(const char *kind, const device_ops **out)
{
  OSLA_CHECK(kind && kind[0], OSLA_ERR_ARG,
             "no kind of device was named: set `kind` of the options, or OSLA_DEVICE, to fake or "
             "cuda");
  if (strcmp(kind, "cuda") == 0) return find_cuda(out);
  OSLA_CHECK(strcmp(kind, "fake") == 0, OSLA_ERR_ARG,
             "device \"%.60s\": the kind must be fake or cuda", kind);
  *out = &osli_fake_device;
  return OSLA_OK;
}

/* Sets *on_host to true if the environment variable OSLA_DEVICE_PANELS is "host", so that the host
 * factors panels, and to false if the variable is "device" or not set. */
static osla_err read_panels(bool *on_host)
{
  const char *text = getenv("OSLA_DEVICE_PANELS");
  *on_host = text && strcmp(text, "host") == 0;
  OSLA_CHECK(!text || !text[0] || *on_host || strcmp(text, "device") == 0, OSLA_ERR_ARG,
             "OSLA_DEVICE_PANELS is \"%.60s\": it must be device or host", text);
  return OSLA_OK;
}

static osla_err open_queue(const osla_transport *t, const osla_device_options *o,
                           const device_ops *ops, device_queue **out)
{
  int count = 0;
  OSLA_CALL(ops->count(&count));
  OSLA_CHECK(count > 0, OSLA_ERR_ARG, "device \"%s\": this rank sees no device", ops->name);
  const int ordinal = o->chosen ? o->ordinal : t->node_rank % count;
  OSLA_CHECK(ordinal >= 0 && ordinal < count, OSLA_ERR_ARG,
             "device \"%s\": ordinal = %d, but this rank sees devices 0 to %d", ops->name, ordinal,
             count - 1);
  return osli_device_queue_open(ops, ordinal, o->stream, out);
}

/* Each rank copies a number into its part of a segment on the device, and checks that it reads the
 * right number from the part of the next rank. Collective. */
static osla_err exchange_numbers(osla_segment *s)
{
  const osla_transport *t = s->t;
  const int next = (t->rank + 1) % t->size;
  const int64_t mine = 1 + t->rank, expected = 1 + next;
  int64_t got = -1;
  osli_device_copy_bytes(sizeof mine, &mine, osla_segment_local(s));
  OSLA_CALL(osla_barrier(s->t));
  OSLA_CALL(osla_segment_read(s, next, 0, &got, sizeof got));
  OSLA_CHECK(got == expected, OSLA_ERR_UNSUPPORTED,
             "rank %d reads other data than rank %d has written", t->rank, next);
  return OSLA_OK;
}

/* Tests whether the ranks of a node can map each other's device memory; if not, returns
 * UNSUPPORTED. Collective. */
static osla_err probe_mappings(osla_device *d)
{
  osla_segment *s = NULL;
  char reason[300];
  if (d->t->n_nodes == d->t->size) return OSLA_OK;
  osla_err err = osla_segment_create_on(d, sizeof(int64_t), 0, &s);
  if (err == OSLA_OK) err = osla_agree(d->t, exchange_numbers(s));
  (void)snprintf(reason, sizeof reason, "%s", osla_error_text());
  osla_segment_destroy(&s);
  OSLA_CHECK(err == OSLA_OK || err == OSLA_ERR_MEM, OSLA_ERR_UNSUPPORTED,
             "device \"%s\": ranks cannot map each other's device memory (%s); give them one PID "
             "name space and GPUs with access to each other, or run one rank",
             d->queue->ops->name, reason);
  return err;
}

osla_err osla_device_open(osla_transport *t, const osla_device_options *options, osla_device **out)
{
  const osla_device_options o = options ? *options : (osla_device_options){0};
  const char *kind = o.kind ? o.kind : getenv("OSLA_DEVICE");
  const device_ops *ops = NULL;
  *out = NULL;
  bool on_host, signals;
  /* If one setting is wrong, the other is read nevertheless, because all ranks compare both. */
  osla_err err = read_panels(&on_host),
           of_signals = osli_settings_switch("OSLA_DEVICE_SIGNALS", true, &signals);
  if (err == OSLA_OK) err = of_signals;
  osla_device *d = calloc(1, sizeof *d);
  if (err == OSLA_OK && !d) err = osla_error_set(OSLA_ERR_MEM, "device object");
  if (err == OSLA_OK) err = OSLA_RESERVED(osla_device_options, options);
  if (err == OSLA_OK) err = osli_device_backend(kind, &ops);
  const osla_argument same[] = {{"kind of device", kind ? kind[0] : 0},
                                {"OSLA_DEVICE_PANELS", on_host},
                                {"OSLA_DEVICE_SIGNALS", signals}};
  err = osla_agree_same(t, err, "osla_device_open", same, 3);
  if (err == OSLA_OK && osla_simulated_machine())
    err =
      osla_error_set(OSLA_ERR_UNSUPPORTED,
                     "osla_device_open: devices need a real machine, and this one is simulated");
  if (err == OSLA_OK) {
    d->t = t;
    osli_device_panels_on_host = on_host;
    err = osla_agree(t, open_queue(t, &o, ops, &d->queue));
  }
  if (err == OSLA_OK && t->n_nodes > 1) err = osli_device_service_open(t, &d->service);
  if (err == OSLA_OK && d->service) osli_device_service_pin(d->service, d->queue);
  if (err == OSLA_OK) err = probe_mappings(d);
  if (err == OSLA_OK && signals && t->n_nodes < t->size) err = osli_device_signals_open(d);
  if (err != OSLA_OK) {
    osla_device_close(&d);
    return err;
  }
  *out = d;
  return OSLA_OK;
}

void osla_device_close(osla_device **device)
{
  osla_device *d = device ? *device : NULL;
  if (!d) return;
  if (d->service) osli_device_service_unpin(d->service, d->queue);
  if (d->signals) osli_device_keep_error(osli_device_wait(d->queue));
  osli_device_signals_close(d);
  osli_device_queue_close(&d->queue);
  free(d);
  *device = NULL;
}

osla_err osla_device_wait(osla_device *d)
{
  return osli_device_wait(d->queue);
}

device_queue *osli_device_queue(const osla_device *device)
{
  return device->queue;
}

osla_transport *osli_device_transport(const osla_device *device)
{
  return device->t;
}

/* ---- memory and streams of the program ---- */

osla_err osla_device_register(osla_device *device, void *memory, size_t bytes)
{
  return osli_device_register(device->queue, memory, bytes);
}

osla_err osla_device_unregister(osla_device *device, void *memory, size_t bytes)
{
  return osli_device_unregister(device->queue, memory, bytes);
}

osla_err osla_device_follow(osla_device *device, void *stream)
{
  const device_queue *q = device->queue;
  OSLA_CHECK(stream, OSLA_ERR_ARG,
             "osla_device_follow: stream is NULL: pass cudaStreamLegacy for the default stream");
  OSLA_CHECK(q->ops->follow, OSLA_ERR_ARG,
             "osla_device_follow: a device of kind \"%s\" has no streams", q->ops->name);
  return q->ops->follow(q->state, stream);
}

/* ---- segments ---- */

osla_err osla_segment_create_on(osla_device *device, size_t bytes, int n_purposes,
                                osla_segment **out)
{
  OSLA_MAKES("osla_segment_create_on", "osla_segment_destroy");
  const osla_notifiers all = {.n_origins = device->t->size};
  return osli_segment_create_on(device->t, device, bytes, n_purposes, &all, out);
}

osla_err osli_segment_create_on(osla_transport *t, osla_device *device, size_t bytes,
                                int n_purposes, const osla_notifiers *notifiers, osla_segment **out)
{
  osla_segment *s = NULL;
  *out = NULL;
  OSLA_CALL(osla_segment_create_for(t, device ? 0 : bytes, n_purposes, notifiers, &s));
  *out = s;
  if (!device) return OSLA_OK;
  s->device = device;
  s->bytes = bytes;
  osla_err err = osli_segment_device_allocate(s);
  if (err != OSLA_OK) osla_segment_destroy(out);
  return err;
}
