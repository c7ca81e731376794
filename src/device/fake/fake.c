/* Memory and settings of the fake device. fake_lanes.c has its queues. */
#include "src/device/fake/fake_lanes.h"
#include "src/device/fake/fake_work.h"

#include "src/base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  FAKE_DEVICES = 4,    /* number of fake devices that a process can open */
  FAKE_BYTES = 1 << 30 /* bytes of memory of a device, unless OSLA_FAKE_DEVICE_BYTES is set */
};

/* One piece of memory of a fake device. */
typedef struct fake_memory {
  unsigned char *address, /* device address of the first byte, which the host cannot access */
    *data;                /* address at which the backend has mapped the data */
  size_t bytes;
  int file;    /* descriptor of the file with the data; -1 for memory of another process */
  int ordinal; /* number of the device */
} fake_memory;

struct device_state {
  int ordinal;
  uint64_t bytes; /* size of the device's memory */
  fake_lanes lanes;
};

/* The memory of all fake devices of this process. `table_mutex` guards these variables. A thread
 * that holds it locks nothing else. */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static fake_memory *memories; /* [n_memories] pieces, in no order */
static size_t n_memories;
static uint64_t used_bytes[FAKE_DEVICES]; /* number of allocated bytes of each device */

/* ---- running work ---- */

/* Returns the piece of memory that contains an address, or whose last byte the address follows; if
 * there is none, `address` of the result is NULL. */
static fake_memory memory_of(const void *address)
{
  const unsigned char *at = address;
  fake_memory found = {.file = -1, .ordinal = -1};
  (void)pthread_mutex_lock(&table_mutex);
  for (size_t i = 0; i < n_memories && at; i++)
    if (at >= memories[i].address && at <= memories[i].address + memories[i].bytes)
      found = memories[i];
  (void)pthread_mutex_unlock(&table_mutex);
  return found;
}

/* Returns the address at which the backend has mapped the data of a device address. Returns host
 * addresses and NULL unchanged. */
static void *data_of(const void *address)
{
  const fake_memory m = memory_of(address);
  return m.address ? m.data + ((const unsigned char *)address - m.address)
                   : (void *)(uintptr_t)address;
}

/* Runs a piece of work. The caller holds the mutex of the lanes. */
static osla_err run_work(device_state *d, device_work w)
{
  (void)d;
  w.a = data_of(w.a);
  w.b = data_of(w.b);
  w.c = data_of(w.c);
  vertices_loop l;
  if (w.vertices) {
    l = *w.vertices;
    l.to.at = data_of(l.to.at);
    l.from.at = data_of(l.from.at);
    l.before.at = data_of(l.before.at);
    l.earlier = data_of(l.earlier);
    l.later = data_of(l.later);
    w.vertices = &l;
  }
  device_csr csr;
  if (w.csr) {
    csr = *w.csr;
    csr.first = data_of(csr.first);
    csr.column = data_of(csr.column);
    csr.value = data_of(csr.value);
    w.csr = &csr;
  }
  return osli_fake_work(&w);
}

/* ---- devices ---- */

static osla_err count_devices(int *out)
{
  *out = FAKE_DEVICES;
  return OSLA_OK;
}

/* Bytes of memory of a device; read from OSLA_FAKE_DEVICE_BYTES. */
static osla_err read_bytes(uint64_t *out)
{
  const char *text = getenv("OSLA_FAKE_DEVICE_BYTES");
  char *end = NULL;
  *out = FAKE_BYTES;
  if (!text || !text[0]) return OSLA_OK;
  *out = strtoull(text, &end, 10);
  OSLA_CHECK(text[0] >= '0' && text[0] <= '9' && !*end, OSLA_ERR_ARG,
             "OSLA_FAKE_DEVICE_BYTES=%.60s: must be a number", text);
  return OSLA_OK;
}

static osla_err describe_device(int ordinal, char *text, size_t size)
{
  uint64_t bytes;
  (void)ordinal;
  OSLA_CALL(read_bytes(&bytes));
  (void)snprintf(text, size, "fake device, %" PRIu64 " MiB for each rank", bytes >> 20);
  return OSLA_OK;
}

static osla_err open_device(int ordinal, void *stream, device_state **out)
{
  const char *when = getenv("OSLA_FAKE_DEVICE");
  const bool early = when && strcmp(when, "early") == 0;
  OSLA_CHECK(early || !when || !when[0] || strcmp(when, "late") == 0, OSLA_ERR_ARG,
             "OSLA_FAKE_DEVICE=%.60s: must be late or early", when);
  uint64_t bytes;
  OSLA_CALL(read_bytes(&bytes));
  OSLA_CHECK(!stream, OSLA_ERR_ARG, "the fake device has no streams: stream must be NULL");
  device_state *d = calloc(1, sizeof *d);
  OSLA_CHECK(d, OSLA_ERR_MEM, "state of a fake device");
  osli_fake_lanes_open(&d->lanes, d, run_work, early);
  d->ordinal = ordinal;
  d->bytes = bytes;
  *out = d;
  return OSLA_OK;
}

static void close_device(device_state *d)
{
  osli_fake_lanes_close(&d->lanes);
  free(d);
}

/* ---- memory ---- */

static uint64_t available_bytes(device_state *d)
{
  (void)pthread_mutex_lock(&table_mutex);
  const uint64_t available = d->bytes - used_bytes[d->ordinal];
  (void)pthread_mutex_unlock(&table_mutex);
  return available;
}

/* Bytes of the pages that hold `bytes` bytes and one more. */
static size_t whole_pages(size_t bytes)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page) / page * page;
}

/* Maps the data of a file, reserves device addresses for them, and enters the memory in the
 * table. The device addresses are never used again, so that a use of freed memory crashes. One
 * more page is reserved, so that the addresses just after the last byte belong to no other
 * memory. The caller has set `bytes`, `file` and `ordinal`; the call sets the addresses. */
static osla_err add_memory(int file, fake_memory *m)
{
  const size_t whole = whole_pages(m->bytes), reserved = whole_pages(whole);
  void *data = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void *address =
    mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool is_mapped = data != MAP_FAILED && address != MAP_FAILED;
  m->data = data;
  m->address = address;
  (void)pthread_mutex_lock(&table_mutex);
  fake_memory *more = is_mapped ? realloc(memories, (n_memories + 1) * sizeof *more) : NULL;
  if (more) {
    memories = more;
    memories[n_memories++] = *m;
    if (m->file >= 0) used_bytes[m->ordinal] += m->bytes;
  }
  (void)pthread_mutex_unlock(&table_mutex);
  if (more) return OSLA_OK;
  const int code = errno;
  if (data != MAP_FAILED) (void)munmap(data, whole);
  if (address != MAP_FAILED) (void)munmap(address, reserved);
  return osla_error_set(OSLA_ERR_MEM, "mapping %zu bytes of a fake device: %s", m->bytes,
                        strerror(code));
}

static osla_err alloc_memory(device_state *d, size_t bytes, bool zeroed, void **out)
{
  int file = osli_memory_file_create("osla-fake-device");
  OSLA_CHECK(file >= 0, OSLA_ERR_MEM, "memfd_create: %s", strerror(errno));
  int code = posix_fallocate(file, 0, (off_t)whole_pages(bytes));
  osla_err err = code == 0 ? OSLA_OK
                           : osla_error_set(OSLA_ERR_MEM, "%zu bytes of a fake device: %s", bytes,
                                            strerror(code));
  fake_memory m = {.bytes = bytes, .file = file, .ordinal = d->ordinal};
  if (err == OSLA_OK) err = add_memory(file, &m);
  if (err != OSLA_OK) {
    (void)close(file);
    return err;
  }
  if (!zeroed) memset(m.data, 0xff, bytes);
  *out = m.address;
  return OSLA_OK;
}

/* Removes the piece of memory that begins at an address from the table, and unmaps its data. */
static void remove_memory(const void *address)
{
  fake_memory m = {0};
  (void)pthread_mutex_lock(&table_mutex);
  for (size_t i = 0; i < n_memories && !m.address; i++)
    if (memories[i].address == address) {
      m = memories[i];
      memories[i] = memories[--n_memories];
    }
  if (m.address && m.file >= 0) used_bytes[m.ordinal] -= m.bytes;
  (void)pthread_mutex_unlock(&table_mutex);
  if (!m.address) return;
  (void)munmap(m.data, whole_pages(m.bytes));
  if (m.file >= 0) (void)close(m.file);
}

static void release_memory(device_state *d, void *memory, size_t bytes)
{
  (void)d;
  memset(data_of(memory), 0xff, bytes);
  remove_memory(memory);
}

static void drop_memory(device_state *d, void *memory, size_t bytes)
{
  (void)d, (void)bytes;
  remove_memory(memory);
}

static int ordinal_of_address(device_state *d, const void *address)
{
  const fake_memory m = memory_of(address);
  (void)d;
  return m.address && (const unsigned char *)address < m.address + m.bytes ? m.ordinal : -1;
}

typedef struct fake_handle {
  int64_t pid, file;
} fake_handle;
_Static_assert(sizeof(fake_handle) <= sizeof(device_handle), "a handle holds it");

static osla_err expose_memory(device_state *d, const void *memory, device_handle *out)
{
  const fake_handle h = {getpid(), memory_of(memory).file};
  (void)d;
  memcpy(out->bytes, &h, sizeof h);
  return OSLA_OK;
}

static osla_err import_memory(device_state *d, const device_handle *handle, size_t bytes,
                              void **out)
{
  fake_handle h;
  char path[64];
  struct stat status;
  memcpy(&h, handle->bytes, sizeof h);
  (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, h.pid, h.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  OSLA_CHECK(file >= 0, OSLA_ERR_UNSUPPORTED, "%s of a rank on this node: %s", path,
             strerror(errno));
  osla_err err = OSLA_OK;
  if (fstat(file, &status) != 0 || (size_t)status.st_size < bytes)
    err = osla_error_set(OSLA_ERR_UNSUPPORTED, "%s is not the memory of a rank on this node", path);
  fake_memory m = {.bytes = bytes, .file = -1, .ordinal = d->ordinal};
  if (err == OSLA_OK) err = add_memory(file, &m);
  if (err == OSLA_OK) *out = m.address;
  (void)close(file);
  return err;
}

/* ---- work ---- */

static osla_err copy_now(device_state *d, const void *from, void *to, size_t bytes)
{
  (void)pthread_mutex_lock(&d->lanes.mutex);
  memcpy(data_of(to), data_of(from), bytes);
  (void)pthread_mutex_unlock(&d->lanes.mutex);
  return OSLA_OK;
}

/* Returns whether a fault that a test has planted (osli_device_faults) makes the work run before
 * work that was queued earlier. */
static bool overtakes(const device_work *w)
{
  return (osli_device_faults & DEVICE_FAULT_COPY) && w->kind == DEVICE_COPY &&
         (!memory_of(w->a).address || !memory_of(w->c).address);
}

static osla_err submit_work(device_state *d, const device_work *w)
{
  (void)pthread_mutex_lock(&d->lanes.mutex);
  const bool ahead = overtakes(w);
  osla_err err = ahead ? run_work(d, *w) : OSLA_OK;
  (void)pthread_mutex_unlock(&d->lanes.mutex);
  return ahead ? err : osli_fake_lanes_submit(&d->lanes, w);
}

static uint64_t mark_work(device_state *d, device_lane lane)
{
  return osli_fake_lanes_mark(&d->lanes, lane);
}

static osla_err wait_work(device_state *d, uint64_t mark)
{
  return osli_fake_lanes_wait(&d->lanes, mark);
}

static osla_err order_after(device_state *d, device_lane lane, uint64_t mark)
{
  return osli_fake_lanes_after(&d->lanes, lane, mark);
}

uint64_t osli_fake_queued(device_state *d, device_lane lane)
{
  return osli_fake_lanes_queued(&d->lanes, lane);
}

static osla_err plan_csr(device_state *d, device_csr *csr)
{
  (void)d, (void)csr;
  return OSLA_OK;
}

static void drop_csr(device_state *d, device_csr *csr)
{
  (void)d, (void)csr;
}

const device_ops osli_fake_device = {.version = DEVICE_INTERFACE,
                                     .name = "fake",
                                     .has_kernels = true,
                                     .count = count_devices,
                                     .describe = describe_device,
                                     .open = open_device,
                                     .close = close_device,
                                     .available = available_bytes,
                                     .alloc = alloc_memory,
                                     .release = release_memory,
                                     .expose = expose_memory,
                                     .import = import_memory,
                                     .drop = drop_memory,
                                     .ordinal_of = ordinal_of_address,
                                     .copy_now = copy_now,
                                     .csr_plan = plan_csr,
                                     .csr_drop = drop_csr,
                                     .submit = submit_work,
                                     .mark = mark_work,
                                     .wait = wait_work,
                                     .after = order_after};
