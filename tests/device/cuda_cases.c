/* Tests of the plug-in for CUDA, which check_cuda.sh runs with OSLA_TEST_DEVICE=cuda. Work must be
 * ordered with the caller's stream, machines that cannot use the plug-in must be refused with the
 * reason, and failed work must be reported on all ranks. The stand-ins of stand_in/ plant the
 * failures. */
#include "osla_transport.h"
#include "src/device/device.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_cuda(void)
{
  const char *kind = getenv("OSLA_TEST_DEVICE");
  return kind && strcmp(kind, "cuda") == 0;
}

/* Functions of the CUDA runtime that the plug-in has loaded. */
static struct runtime {
  int (*set_device)(int device), (*get_device)(int *device);
  int (*create_stream)(void **stream, unsigned flags), (*destroy_stream)(void *stream);
  int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream);
  int (*count)(int *out);
} cuda;

static bool find_runtime(void)
{
  static const char *const names[] = {
    "cudaSetDevice",     "cudaGetDevice",   "cudaStreamCreateWithFlags",
    "cudaStreamDestroy", "cudaMemcpyAsync", "cudaGetDeviceCount"};
  void *plug_in = dlopen("libosla_cuda.so", RTLD_NOW), *found[6] = {0};
  for (int i = 0; i < 6 && plug_in; i++)
    found[i] = dlsym(plug_in, names[i]);
  memcpy(&cuda, found, sizeof cuda);
  return plug_in && cuda.count;
}

/* ---- machines that cannot use the plug-in ---- */

static void expect_refused(osla_transport *t, const char *fault, const char *text)
{
  osla_device *device = NULL;
  (void)setenv("OSLA_STAND_IN", fault, 1);
  OSLA_ASSERT_ERR(osla_device_open(t, &(osla_device_options){.kind = "cuda"}, &device),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(device == NULL);
  (void)unsetenv("OSLA_STAND_IN");
}

static void test_machines(void)
{
  const device_ops *ops = NULL;
  char text[200] = "";
  if (!is_cuda()) return;
  osla_transport *t = osla_test_transport();
  OSLA_ASSERT_OK(osli_device_backend("cuda", &ops));
  OSLA_ASSERT_OK(ops->describe(0, text, sizeof text));
  if (strstr(text, "stand-in")) {
    expect_refused(t, "no-driver", "no NVIDIA driver");
    expect_refused(t, "old-driver", "the driver serves CUDA 11.4");
    expect_refused(t, "no-device", "sees no GPU");
    if (osla_transport_size(t) > 1) {
      expect_refused(t, "no-ipc", "cudaIpcGetMemHandle");
      expect_refused(t, "other-memory", "reads other data");
    }
    osla_device *device = NULL;
    (void)setenv("OSLA_STAND_IN", "no-signals", 1);
    OSLA_ASSERT_OK(osla_device_open(t, &(osla_device_options){.kind = "cuda"}, &device));
    (void)unsetenv("OSLA_STAND_IN");
    CU_ASSERT(!osli_device_has_signals(device));
    osla_device_close(&device);
  }
  osla_transport_destroy(&t);
}

/* ---- streams of the caller ---- */

static void test_foreign_stream(void)
{
  void *stream = NULL;
  int n_devices = 0;
  if (!is_cuda()) return;
  osla_transport *t = osla_test_transport();
  CU_ASSERT_FATAL(find_runtime());
  CU_ASSERT(cuda.count(&n_devices) == 0);
  if (n_devices > 1) {
    osla_device *device = NULL;
    CU_ASSERT(cuda.set_device(1) == 0 && cuda.create_stream(&stream, 0) == 0);
    OSLA_ASSERT_ERR(
      osla_device_open(
        t, &(osla_device_options){.kind = "cuda", .chosen = true, .ordinal = 0, .stream = stream},
        &device),
      OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("another device");
    CU_ASSERT(device == NULL);
    CU_ASSERT(cuda.destroy_stream(stream) == 0 && cuda.set_device(0) == 0);
  }
  osla_transport_destroy(&t);
}

/* Checks that work in each lane runs after the copies that the caller has queued on its own stream,
 * and that the caller's device stays current. */
static void test_own_stream(void)
{
  enum { TO_DEVICE = 1 };
  static double given[2] = {2, 3}, later[2] = {5, 7};
  double got[2] = {0};
  void *stream = NULL;
  osla_device *device = NULL;
  osla_segment *s = NULL;
  int n_devices = 0, now = -1;
  if (!is_cuda()) return;
  osla_transport *t = osla_test_transport();
  CU_ASSERT_FATAL(find_runtime());
  CU_ASSERT(cuda.count(&n_devices) == 0);
  CU_ASSERT(cuda.set_device(0) == 0 && cuda.create_stream(&stream, 0) == 0);
  OSLA_ASSERT_OK(osla_device_open(
    t, &(osla_device_options){.kind = "cuda", .chosen = true, .stream = stream}, &device));
  OSLA_ASSERT_OK(osla_segment_create_on(device, sizeof given, 0, &s));
  double *on = osla_segment_local(s);
  const device_queue *q = osli_device_of(on);
  OSLA_ASSERT_OK(q->ops->pin(q->state, given, sizeof given));
  OSLA_ASSERT_OK(q->ops->pin(q->state, later, sizeof later));
  CU_ASSERT(cuda.copy(on, given, sizeof given, TO_DEVICE, stream) == 0);
  if (n_devices > 1) CU_ASSERT(cuda.set_device(1) == 0);
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 10, on, 1, 1, on + 1, 1));
  CU_ASSERT(cuda.get_device(&now) == 0 && now == (n_devices > 1 ? 1 : 0));
  osli_device_copy_bytes(2 * sizeof *got, on, got);
  CU_ASSERT(got[0] == 2 && got[1] == 23);

  CU_ASSERT(cuda.set_device(0) == 0);
  CU_ASSERT(cuda.copy(on, later, sizeof later, TO_DEVICE, stream) == 0);
  OSLA_ASSERT_OK(osli_device_after(q, LANE_PANEL));
  (void)osli_device_lane(LANE_PANEL);
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 10, on, 1, 1, on + 1, 1));
  osli_device_copy_bytes(2 * sizeof *got, on, got);
  (void)osli_device_lane(LANE_MAIN);
  CU_ASSERT(got[0] == 5 && got[1] == 57);

  q->ops->unpin(q->state, given);
  q->ops->unpin(q->state, later);
  osla_segment_destroy(&s);
  osla_device_close(&device);
  CU_ASSERT(cuda.destroy_stream(stream) == 0);
  osla_transport_destroy(&t);
}

/* Checks that a stream which the caller has destroyed is refused. Does nothing with a real GPU,
 * because only the stand-ins always notice that a stream was destroyed. */
static void expect_destroyed(osla_transport *t, osla_device *device, void *stream)
{
  const device_queue *q = osli_device_queue(device);
  osla_device *other = NULL;
  char text[200] = "";
  OSLA_ASSERT_OK(q->ops->describe(0, text, sizeof text));
  if (!strstr(text, "stand-in")) return;
  OSLA_ASSERT_ERR(osla_device_follow(device, stream), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("was destroyed");
  OSLA_ASSERT_ERR(
    osla_device_open(t, &(osla_device_options){.kind = "cuda", .chosen = true, .stream = stream},
                     &other),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("was destroyed");
  OSLA_ASSERT_SAME_TEXT();
}

/* Queues a copy on a stream that the device does not use, and calls osla_device_follow with this
 * stream. Checks that later work of the device, in each lane, sees the result of the copy. */
static void test_followed_stream(void)
{
  enum { TO_DEVICE = 1 };
  static double given[2][2] = {{2, 3}, {5, 7}};
  double got[2] = {0};
  void *stream = NULL;
  osla_device *device = NULL;
  if (!is_cuda()) return;
  osla_transport *t = osla_test_transport();
  CU_ASSERT_FATAL(find_runtime());
  CU_ASSERT(cuda.set_device(0) == 0 && cuda.create_stream(&stream, 1) == 0);
  OSLA_ASSERT_OK(
    osla_device_open(t, &(osla_device_options){.kind = "cuda", .chosen = true}, &device));
  const device_queue *q = osli_device_queue(device);
  double *on = program_memory_allocate(device, sizeof *given);
  OSLA_ASSERT_OK(osla_device_register(device, on, sizeof *given));
  OSLA_ASSERT_OK(q->ops->pin(q->state, given, sizeof given));
  for (int lane = LANE_MAIN; lane < LANES; lane++) {
    CU_ASSERT(cuda.copy(on, given[lane], sizeof *given, TO_DEVICE, stream) == 0);
    OSLA_ASSERT_OK(osla_device_follow(device, stream));
    (void)osli_device_lane((device_lane)lane);
    OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 10, on, 1, 1, on + 1, 1));
    osli_device_copy_bytes(sizeof got, on, got);
    (void)osli_device_lane(LANE_MAIN);
    CU_ASSERT(got[0] == given[lane][0] && got[1] == 10 * given[lane][0] + given[lane][1]);
  }
  CU_ASSERT(cuda.destroy_stream(stream) == 0);
  expect_destroyed(t, device, stream);
  q->ops->unpin(q->state, given);
  OSLA_ASSERT_OK(osla_device_unregister(device, on, sizeof *given));
  program_memory_free(device, on, sizeof *given);
  osla_device_close(&device);
  osla_transport_destroy(&t);
}

/* ---- errors of kernels ---- */

/* Checks that all ranks report failed work of rank 0. This case is the last one of the suite,
 * because all later calls of CUDA in the process return the error. */
static void test_failed_work(void)
{
  device_bench b;
  if (!is_cuda() || !bench_open(&b, false)) return;
  osla_segment *s = NULL;
  char text[200] = "";
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, 2 * sizeof(double), 0, &s));
  double *on = osla_segment_local(s);
  const device_queue *q = osli_device_of(on);
  OSLA_ASSERT_OK(q->ops->describe(0, text, sizeof text));
  if (strstr(text, "stand-in")) {
    OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 1, on, 1, 1, on + 1, 1));
    if (osla_transport_rank(b.t) == 0) (void)setenv("OSLA_STAND_IN", "fail", 1);
    OSLA_ASSERT_ERR(osla_agree(b.t, OSLA_OK), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("illegal memory access");
    OSLA_ASSERT_SAME_TEXT();
    (void)unsetenv("OSLA_STAND_IN");
    const osla_err err = osli_device_add(OSLA_DOUBLE, 1, 1, 1, on, 1, 1, on + 1, 1);
    CU_ASSERT(err == (osla_transport_rank(b.t) == 0 ? OSLA_ERR_STATE : OSLA_OK));
    OSLA_ASSERT_ERR(osla_agree(b.t, OSLA_OK), OSLA_ERR_STATE);
  }
  osla_segment_destroy(&s);
  bench_close(&b);
}

static const osla_test_case cases[] = {
  {"machines", test_machines},       {"foreign stream", test_foreign_stream},
  {"own stream", test_own_stream},   {"followed stream", test_followed_stream},
  {"failed work", test_failed_work}, {NULL, NULL}};
OSLA_TEST_SUITE(cuda_cases, cases);
