/* A stand-in for the CUDA runtime, whose devices are the fake device (stand_in.h). */
#include "tests/device/stand_in/stand_in.h"

/* The fake device is included, because it holds the memory and does the work. */
#include "src/device/fake/fake.c"

#include "src/base/futex.h"

enum { DEVICES = 2, PINNED = 16 };
enum {
  PAUSE_US = 20,   /* time for which a stream that waits for a word lets other threads run */
  SIGNAL_US = 1000 /* time between two steps of the thread that runs streams with signals */
};

struct CUstream_st {
  int device;
  stand_in_entry *entries; /* [most]; the queued entries are [first, first + n_entries) */
  size_t first, n_entries, most;
  uint64_t done;
  bool is_running; /* true while a thread runs an entry of the stream */
  uint64_t signal; /* value of `done` when the latest signal has run; 0 before the first signal */
  uint64_t due;    /* value of `signal` at the latest step of run_signals */
  struct CUstream_st *next;
};

struct CUevent_st {
  int device;
  cudaStream_t stream; /* NULL if the event is not recorded */
  uint64_t end;
};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static device_state *fakes[DEVICES]; /* fake device of each device; NULL: not open */
static cudaStream_t streams;         /* list of all streams */
static cudaError_t sticky;           /* error of work, which all later calls return */
static _Thread_local cudaError_t latest;
static _Thread_local int current;
static struct pinned {
  unsigned char *from;
  size_t bytes;
} pinned[PINNED];

bool stand_in_planted(const char *fault)
{
  const char *value = getenv("OSLA_STAND_IN");
  return value && strcmp(value, fault) == 0;
}

/* Returns the fake device of the current device, and opens it if necessary. */
static device_state *current_fake(void)
{
  device_state **fake = &fakes[current];
  if (!*fake && open_device(current, NULL, fake) != OSLA_OK) abort();
  return *fake;
}

/* begin_call locks the state of the stand-in. end_call unlocks it, and records an error of the call
 * for cudaGetLastError. */
static void begin_call(void)
{
  (void)pthread_mutex_lock(&lock);
}

static cudaError_t end_call(cudaError_t code)
{
  if (code == cudaSuccess) code = sticky;
  if (code != cudaSuccess) latest = code;
  (void)pthread_mutex_unlock(&lock);
  return code;
}

#define END_IF(condition, code)                                                                    \
  do {                                                                                             \
    if (condition) return end_call(code);                                                          \
  } while (0)

/* ---- devices and errors ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
  begin_call();
  END_IF(stand_in_planted("no-driver") || stand_in_planted("old-driver"),
         cudaErrorInsufficientDriver);
  END_IF(stand_in_planted("no-device"), cudaErrorNoDevice);
  *count = DEVICES;
  return end_call(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
  memset(properties, 0, sizeof *properties);
  if (device < 0 || device >= DEVICES) return latest = cudaErrorInvalidDevice;
  (void)snprintf(properties->name, sizeof properties->name, "stand-in");
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
  if (device < 0 || device >= DEVICES) return latest = cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *all)
{
  begin_call();
  *available = available_bytes(current_fake());
  *all = FAKE_BYTES;
  return end_call(cudaSuccess);
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t code = latest;
  latest = sticky;
  return code;
}

/* ---- memory ---- */

bool stand_in_on_device(const void *address, size_t bytes)
{
  const fake_memory m = memory_of(address);
  return m.address && (size_t)(m.address + m.bytes - (const unsigned char *)address) >= bytes;
}

int stand_in_device(const void *address)
{
  return ordinal_of_address(NULL, address);
}

bool stand_in_matrix(const void *a, int64_t m, int64_t n, int64_t ld, size_t e)
{
  return m >= 0 && n >= 0 && ld >= 1 && ld >= m &&
         (m == 0 || n == 0 || stand_in_on_device(a, (size_t)((n - 1) * ld + m) * e));
}

bool stand_in_pinned(const void *address)
{
  const unsigned char *at = address;
  for (int i = 0; i < PINNED; i++)
    if (pinned[i].from && at >= pinned[i].from && at < pinned[i].from + pinned[i].bytes)
      return true;
  return false;
}

static void run_stream(cudaStream_t s, uint64_t end);

/* Returns the number of entries that were submitted to a stream so far. */
static uint64_t submitted_to(cudaStream_t s)
{
  return s->done + s->is_running + s->n_entries;
}

static void run_all(void)
{
  for (cudaStream_t s = streams; s; s = s->next)
    run_stream(s, UINT64_MAX);
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
  begin_call();
  device_state *fake = current_fake();
  END_IF(bytes > available_bytes(fake) || alloc_memory(fake, bytes, false, out) != OSLA_OK,
         cudaErrorMemoryAllocation);
  return end_call(cudaSuccess);
}

cudaError_t cudaFree(void *address)
{
  begin_call();
  if (!address) return end_call(cudaSuccess);
  const fake_memory m = memory_of(address);
  END_IF(!m.address || m.address != address || m.file < 0, cudaErrorInvalidValue);
  run_all();
  release_memory(NULL, address, m.bytes);
  return end_call(cudaSuccess);
}

/* Offset of the memory's size in a handle, behind the handle of the fake device. */
enum { BYTES_AT = 32 };

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *address)
{
  device_handle h = {{0}};
  begin_call();
  const fake_memory m = memory_of(address);
  END_IF(!m.address || m.file < 0 || stand_in_planted("no-ipc"), cudaErrorInvalidValue);
  /* refuses pieces that CUDA may cut out of a block, because a handle describes the whole block */
  END_IF(m.bytes % (2 << 20) != 0, cudaErrorInvalidValue);
  (void)expose_memory(NULL, address, &h);
  memcpy(h.bytes + BYTES_AT, &m.bytes, sizeof m.bytes);
  memcpy(handle, &h, sizeof *handle);
  return end_call(cudaSuccess);
}

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned flags)
{
  device_handle h;
  fake_handle of_fake;
  size_t bytes;
  begin_call();
  memcpy(&h, &handle, sizeof h);
  memcpy(&of_fake, h.bytes, sizeof of_fake);
  memcpy(&bytes, h.bytes + BYTES_AT, sizeof bytes);
  END_IF(flags != cudaIpcMemLazyEnablePeerAccess, cudaErrorInvalidValue);
  END_IF(of_fake.pid == getpid(), cudaErrorDeviceUninitialized);
  if (stand_in_planted("other-memory"))
    END_IF(alloc_memory(current_fake(), bytes, false, out) != OSLA_OK, cudaErrorMemoryAllocation);
  else
    END_IF(import_memory(current_fake(), &h, bytes, out) != OSLA_OK,
           cudaErrorMapBufferObjectFailed);
  return end_call(cudaSuccess);
}

cudaError_t cudaIpcCloseMemHandle(void *address)
{
  begin_call();
  const fake_memory m = memory_of(address);
  END_IF(!m.address || m.address != address || (m.file >= 0 && !stand_in_planted("other-memory")),
         cudaErrorInvalidValue);
  run_all();
  drop_memory(NULL, address, m.bytes);
  return end_call(cudaSuccess);
}

cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
  begin_call();
  int i = 0;
  while (i < PINNED && pinned[i].from)
    i++;
  END_IF(i == PINNED || flags != cudaHostRegisterPortable || bytes == 0, cudaErrorInvalidValue);
  END_IF(stand_in_pinned(address), cudaErrorHostMemoryAlreadyRegistered);
  pinned[i] = (struct pinned){address, bytes};
  return end_call(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *address)
{
  begin_call();
  int i = 0;
  while (i < PINNED && pinned[i].from != address)
    i++;
  END_IF(i == PINNED, cudaErrorHostMemoryNotRegistered);
  pinned[i].from = NULL;
  return end_call(cudaSuccess);
}

/* ---- work ---- */

/* Releases the lock for PAUSE_US microseconds, so that other threads can run. The caller has called
 * begin_call once, and not yet end_call. */
static void pause_call(void)
{
  (void)pthread_mutex_unlock(&lock);
  osli_nap(PAUSE_US);
  (void)pthread_mutex_lock(&lock);
}

static void run_entry(const stand_in_entry *e)
{
  osla_err err = OSLA_OK;
  if (e->kind != STAND_IN_AFTER && stand_in_planted("fail")) sticky = cudaErrorIllegalAddress;
  if (sticky) return;
  switch (e->kind) {
    case STAND_IN_WORK: err = run_work(NULL, e->work); break;
    case STAND_IN_FILL: memset(data_of(e->work.c), e->value, e->bytes); break;
    case STAND_IN_FACTOR: err = stand_in_run_factor(e, data_of); break;
    case STAND_IN_SWAP: err = stand_in_run_swap(e, data_of); break;
    case STAND_IN_COMBINE: stand_in_run_combine(e, data_of); break;
    case STAND_IN_VERTICES: stand_in_run_vertices(e, data_of); break;
    case STAND_IN_SIGNAL: atomic_store(e->word, e->end); break;
    case STAND_IN_AWAIT:
      while (atomic_load(e->word) < e->end)
        pause_call();
      break;
    case STAND_IN_AFTER: run_stream(e->other, e->end); break;
  }
  free(e->staged);
  if (err != OSLA_OK) sticky = cudaErrorLaunchFailure;
}

static void run_stream(cudaStream_t s, uint64_t end)
{
  const uint64_t submitted = submitted_to(s);
  while (s->done < end && s->done < submitted) {
    if (s->is_running) {
      pause_call();
      continue;
    }
    const stand_in_entry e = s->entries[s->first++];
    s->n_entries--;
    s->is_running = true;
    run_entry(&e);
    s->is_running = false;
    s->done++;
  }
}

/* Runs in a thread of its own, in steps of SIGNAL_US microseconds. Each step runs every stream up
 * to the latest signal that was submitted before the previous step. */
static void *run_signals(void *arg)
{
  for (;;) {
    osli_nap(SIGNAL_US);
    (void)pthread_mutex_lock(&lock);
    for (cudaStream_t s = streams; s; s = s->next) {
      run_stream(s, s->due);
      s->due = s->signal;
    }
    (void)pthread_mutex_unlock(&lock);
  }
  return arg;
}

/* Records that the latest entry of a stream is a signal. The first call starts the thread that runs
 * run_signals. */
static void note_signal(cudaStream_t s)
{
  static pthread_t thread;
  static bool has_thread;
  s->signal = submitted_to(s);
  if (!has_thread && pthread_create(&thread, NULL, run_signals, NULL) != 0) abort();
  has_thread = true;
}

/* Returns the stream of a handle. The handles 1 and 2, which are no pointers, name the legacy
 * default stream and the default stream of a thread. Here each device has one stream for each of
 * both handles, and no other stream waits for the legacy one. */
static cudaStream_t stream_of(cudaStream_t handle)
{
  static cudaStream_t defaults[DEVICES][2];
  if (handle != cudaStreamLegacy && handle != cudaStreamPerThread) return handle;
  cudaStream_t *s = &defaults[current][handle == cudaStreamPerThread];
  if (!*s) (void)cudaStreamCreateWithFlags(s, cudaStreamDefault);
  return *s;
}

/* Makes place for one more entry behind the queued entries. If they reach the end of the array,
 * they move to its start, and the array grows if they fill at least half of it. */
static void reserve_entry(cudaStream_t s)
{
  if (s->first + s->n_entries < s->most) return;
  if (s->first > 0) memmove(s->entries, s->entries + s->first, s->n_entries * sizeof *s->entries);
  s->first = 0;
  if (2 * s->n_entries < s->most) return;
  s->most = 2 * s->most + 64;
  s->entries = realloc(s->entries, s->most * sizeof *s->entries);
  if (!s->entries) abort();
}

cudaError_t stand_in_push(cudaStream_t handle, stand_in_entry entry)
{
  begin_call();
  const cudaStream_t s = stream_of(handle);
  END_IF(!s || s->device != current, cudaErrorInvalidResourceHandle);
  END_IF(sticky, sticky);
  reserve_entry(s);
  s->entries[s->first + s->n_entries++] = entry;
  if (entry.kind == STAND_IN_SIGNAL) note_signal(s);
  if (current_fake()->lanes.early) run_stream(s, UINT64_MAX);
  return end_call(cudaSuccess);
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
  begin_call();
  END_IF(flags > cudaStreamNonBlocking || priority > 0 || priority < -5, cudaErrorInvalidValue);
  cudaStream_t s = calloc(1, sizeof *s);
  END_IF(!s, cudaErrorMemoryAllocation);
  s->device = current;
  s->next = streams;
  streams = s;
  *out = s;
  return end_call(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
  return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
  begin_call();
  const cudaStream_t s = stream_of(handle);
  END_IF(!s, cudaErrorInvalidResourceHandle);
  run_stream(s, UINT64_MAX);
  return end_call(cudaSuccess);
}

/* Does not free the stream, because events of the stream stay valid. The stream then belongs to no
 * device, so that later uses fail. */
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  const cudaError_t code = cudaStreamSynchronize(s);
  s->device = -1;
  return code;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
  begin_call();
  END_IF(!(flags & cudaEventDisableTiming), cudaErrorInvalidValue);
  *out = calloc(1, sizeof **out);
  END_IF(!*out, cudaErrorMemoryAllocation);
  (*out)->device = current;
  return end_call(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
  begin_call();
  const cudaStream_t s = stream_of(handle);
  END_IF(!s || event->device != s->device, cudaErrorInvalidResourceHandle);
  event->stream = s;
  event->end = submitted_to(s);
  return end_call(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  begin_call();
  if (event->stream) run_stream(event->stream, event->end);
  return end_call(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned flags)
{
  if (flags) return latest = cudaErrorInvalidValue;
  if (!event->stream) return cudaSuccess;
  return stand_in_push(
    s, (stand_in_entry){.kind = STAND_IN_AFTER, .other = event->stream, .end = event->end});
}
