/* Limits of control groups. See groups.h.
 *
 * /proc/self/cgroup tells the process's group in each hierarchy, /proc/self/mountinfo where a
 * hierarchy is mounted and which of its groups lies there (proc(5), cgroups(7)); the kernel's
 * documentation (cgroup-v1/memory, scheduler/sched-bwc, cgroup-v2) has the files of a group.
 */
#include "groups.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folder of a group, below that of the mount, which is its first `top` bytes. */
typedef struct folder {
  char path[PATH_MAX];
  size_t top;
} folder;

/* --- where the groups are --- */

static bool is_in_list(const char *list, const char *word)
{
  size_t length = strlen(word);
  for (const char *at = list;; at++) {
    size_t piece = strcspn(at, ",\n");
    if (piece == length && strncmp(at, word, length) == 0) return true;
    at += piece;
    if (*at != ',') return false;
  }
}

static FILE *open_below(const char *root, const char *name)
{
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s%s", root, name);
  return length < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* The group of this process where `controller` is managed ("": version 2), "ID:LIST:GROUP". */
static bool find_group(const char *root, const char *controller, char group[PATH_MAX])
{
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  FILE *file = open_below(root, "/proc/self/cgroup");
  while (file && !found && getline(&line, &room, file) > 0) {
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path) continue;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    found = is_in_list(list + 1, controller) && strlen(path) < PATH_MAX;
    if (found) (void)strcpy(group, path);
  }
  free(line);
  if (file) (void)fclose(file);
  return found;
}

/* mountinfo writes blanks as \040. */
static void decode(char *text)
{
  char *to = text;
  for (const char *from = text; *from; to++) {
    unsigned code;
    if (*from == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
      *to = (char)code;
      from += 4;
    } else {
      *to = *from++;
    }
  }
  *to = '\0';
}

/* What leads from group `top` down to `group`; NULL: `top` is not above it. */
static const char *below(const char *top, const char *group)
{
  size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
  bool above = strncmp(top, group, length) == 0 && (group[length] == '/' || !group[length]);
  return above ? group + length : NULL;
}

/* One line of mountinfo: "ID PARENT DEVICE TOP POINT OPTIONS [FIELD...] - TYPE SOURCE OPTIONS". */
static bool parse_mount(char *line, const char *controller, char **top, char **point)
{
  char *field[5], *end = strstr(line, " - "), *save = NULL;
  if (!end) return false;
  *end = '\0';
  for (int i = 0; i < 5; i++)
    if (!(field[i] = strtok_r(i == 0 ? line : NULL, " ", &save))) return false;
  const char *type = strtok_r(end + 3, " ", &save);
  (void)strtok_r(NULL, " ", &save);
  const char *options = strtok_r(NULL, " ", &save);
  bool unified = controller[0] == '\0';
  if (!type || !options || strcmp(type, unified ? "cgroup2" : "cgroup") != 0) return false;
  if (!unified && !is_in_list(options, controller)) return false;
  *top = field[3];
  *point = field[4];
  decode(*top);
  decode(*point);
  return true;
}

static bool set_folder(folder *f, const char *root, const char *point, const char *rest)
{
  struct stat status;
  int top = snprintf(f->path, sizeof f->path, "%s%s", root, strcmp(point, "/") == 0 ? "" : point);
  if (top < 0 || (size_t)top + strlen(rest) >= sizeof f->path) return false;
  f->top = (size_t)top;
  (void)strcpy(f->path + top, strcmp(rest, "/") == 0 ? "" : rest);
  return stat(f->path, &status) == 0;
}

/* The process's own group. Where no mount shows it (a container that is told its name outside) the
 * top of one stands for it: there a container's own group lies. */
static bool find_folder(const char *root, const char *controller, folder *f)
{
  char group[PATH_MAX], *line = NULL, *top, *point;
  size_t room = 0;
  bool found = false, any = false;
  if (!find_group(root, controller, group)) return false;
  FILE *file = open_below(root, "/proc/self/mountinfo");
  folder at;
  while (file && !found && getline(&line, &room, file) > 0) {
    if (!parse_mount(line, controller, &top, &point)) continue;
    const char *rest = below(top, group);
    found = rest && set_folder(&at, root, point, rest);
    if (!found && (any || !set_folder(&at, root, point, ""))) continue;
    *f = at;
    any = true;
  }
  free(line);
  if (file) (void)fclose(file);
  return any;
}

/* To the group above; false: there is none that is seen. */
static bool go_up(folder *f)
{
  if (strlen(f->path) <= f->top) return false;
  char *slash = strrchr(f->path + f->top, '/');
  if (!slash) return false;
  *slash = '\0';
  return true;
}

/* --- what they say --- */

static FILE *open_file(const folder *f, const char *name)
{
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", f->path, name);
  return length < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* The numbers a file begins with; how many were read ("max" is none). */
static int read_numbers(const folder *f, const char *name, int64_t *first, int64_t *second)
{
  FILE *file = open_file(f, name);
  if (!file) return 0;
  int count = fscanf(file, "%" SCNd64 " %" SCNd64, first, second);
  (void)fclose(file);
  return count > 0 ? count : 0;
}

static int64_t read_number(const folder *f, const char *name, int64_t missing)
{
  int64_t value = missing, rest;
  return read_numbers(f, name, &value, &rest) > 0 ? value : missing;
}

/* The value of a line "KEY VALUE"; 0 where there is none. */
static int64_t read_key(const folder *f, const char *name, const char *key)
{
  char word[64];
  int64_t value = 0, found = 0;
  FILE *file = open_file(f, name);
  if (!file) return 0;
  while (fscanf(file, "%63s %" SCNd64, word, &value) == 2)
    if (strcmp(word, key) == 0) found = value;
  (void)fclose(file);
  return found;
}

static uint64_t group_id(const folder *f)
{
  struct stat status;
  return stat(f->path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* How a version of cgroups names things. */
typedef struct version {
  const char *memory, *cpu; /* controllers; version 2 has one hierarchy for all */
  const char *limit, *brake, *used, *cache;
} version;

static const version versions[] = {
  {"", "", "memory.max", "memory.high", "memory.current", "inactive_file"},
  {"memory", "cpu", "memory.limit_in_bytes", NULL, "memory.usage_in_bytes", "total_inactive_file"}};

/* Groups of version 1 say "no limit" by the largest multiple of a page. */
static const int64_t no_limit = INT64_C(1) << 62;

static void add_memory(osla_groups *out, const folder *f, const version *v)
{
  int64_t limit = read_number(f, v->limit, INT64_MAX);
  if (v->brake) { /* beyond it the kernel does not kill, but stops a process nearly altogether */
    int64_t brake = read_number(f, v->brake, INT64_MAX);
    if (brake < limit) limit = brake;
  }
  if (limit < 0 || limit >= no_limit) return;
  int64_t used = read_number(f, v->used, 0) - read_key(f, "memory.stat", v->cache);
  if (used < 0) used = 0;
  osla_group_memory m = {group_id(f), limit > used ? (uint64_t)(limit - used) : 0};
  if (out->n_memory < OSLA_MOST_GROUPS)
    out->memory[out->n_memory++] = m;
  else if (m.available < out->memory[OSLA_MOST_GROUPS - 1].available)
    out->memory[OSLA_MOST_GROUPS - 1] = m;
}

static void look_at_memory(const char *root, const version *v, osla_groups *out)
{
  folder f;
  if (!find_folder(root, v->memory, &f)) return;
  do
    add_memory(out, &f, v);
  while (go_up(&f) && read_number(&f, "memory.use_hierarchy", 1) != 0);
}

static void look_at_cpu(const char *root, const version *v, osla_groups *out)
{
  folder f;
  if (!find_folder(root, v->cpu, &f)) return;
  do {
    int64_t quota = 0, period = 0;
    if (read_numbers(&f, "cpu.max", &quota, &period) < 2) {
      quota = read_number(&f, "cpu.cfs_quota_us", 0);
      period = read_number(&f, "cpu.cfs_period_us", 0);
    }
    if (quota <= 0 || period <= 0) continue;
    double cores = (double)quota / (double)period;
    if (out->cores > 0 && cores >= out->cores) continue;
    out->cores = cores;
    out->cpu_id = group_id(&f);
  } while (go_up(&f));
}

void osla_groups_look(const char *root, osla_groups *out)
{
  *out = (osla_groups){0};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    look_at_memory(root, &versions[i], out);
    look_at_cpu(root, &versions[i], out);
  }
}
