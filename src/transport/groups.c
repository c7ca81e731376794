/* Limits of control groups.
 *
 * /proc/self/cgroup has the process's group in each hierarchy. /proc/self/mountinfo has the mount
 * point of each hierarchy, and the group that is mounted there (proc(5), cgroups(7)). The kernel's
 * documentation describes the files of a group (cgroup-v1/memory, scheduler/sched-bwc, cgroup-v2).
 */
#include "src/transport/groups.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct osla_group_folder group_folder;

/* Controllers in the order of osla_group_folders.tree; version 2 has one tree for all controllers.
 */
static const char *const controllers[OSLA_GROUP_TREES] = {"", "memory", "cpu"};

/* --- folders of the control groups --- */

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

/* Reads the process's group in each tree from lines "ID:LIST:GROUP"; "" for a tree without such a
 * line. */
static void find_names(const char *root, char name[OSLA_GROUP_TREES][PATH_MAX])
{
  char *line = NULL;
  size_t room = 0;
  FILE *file = open_below(root, "/proc/self/cgroup");
  while (file && getline(&line, &room, file) > 0) {
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path) continue;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (strlen(path) >= PATH_MAX) continue;
    for (int i = 0; i < OSLA_GROUP_TREES; i++)
      if (is_in_list(list + 1, controllers[i])) (void)strcpy(name[i], path);
  }
  free(line);
  if (file) (void)fclose(file);
}

/* Decodes octal escapes such as \040, which mountinfo writes for blanks. */
static void decode_octal(char *text)
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

/* The part of the path `group` below the control group `top`; NULL if `top` is not above `group`.
 */
static const char *path_below(const char *top, const char *group)
{
  size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
  bool above = strncmp(top, group, length) == 0 && (group[length] == '/' || !group[length]);
  return above ? group + length : NULL;
}

typedef struct mount {
  char *top, *point;
  const char *type, *options;
} mount;

/* Parses one line of mountinfo: "ID PARENT DEVICE TOP POINT OPTIONS [FIELD...] - TYPE SOURCE
 * OPTIONS". */
static bool parse_mount(char *line, mount *m)
{
  char *field[5], *end = strstr(line, " - cgroup"), *save = NULL;
  if (!end) return false;
  *end = '\0';
  for (int i = 0; i < 5; i++)
    if (!(field[i] = strtok_r(i == 0 ? line : NULL, " ", &save))) return false;
  m->type = strtok_r(end + 3, " ", &save);
  (void)strtok_r(NULL, " ", &save);
  m->options = strtok_r(NULL, " ", &save);
  if (!m->type || !m->options) return false;
  m->top = field[3];
  m->point = field[4];
  decode_octal(m->top);
  decode_octal(m->point);
  return true;
}

static bool shows_tree(const mount *m, const char *controller)
{
  if (!controller[0]) return strcmp(m->type, "cgroup2") == 0;
  return strcmp(m->type, "cgroup") == 0 && is_in_list(m->options, controller);
}

static bool set_folder(group_folder *f, const char *root, const char *point, const char *rest)
{
  struct stat status;
  int top = snprintf(f->path, sizeof f->path, "%s%s", root, strcmp(point, "/") == 0 ? "" : point);
  if (top < 0 || (size_t)top + strlen(rest) >= sizeof f->path) return false;
  f->top = (size_t)top;
  (void)strcpy(f->path + top, strcmp(rest, "/") == 0 ? "" : rest);
  return stat(f->path, &status) == 0;
}

/* Sets the folder of group `name`, and returns true, if this mount contains the group. Until a
 * mount contains the group, the folder is the top of the first mount: in a container that sees the
 * host's name of its group, that group lies at the top. */
static bool use_mount(const char *root, const mount *m, const char *name, group_folder *f)
{
  group_folder at;
  const char *rest = path_below(m->top, name);
  bool found = rest && set_folder(&at, root, m->point, rest);
  if (found || (!f->path[0] && set_folder(&at, root, m->point, ""))) *f = at;
  return found;
}

void osli_groups_locate(const char *root, osla_group_folders *out)
{
  char name[OSLA_GROUP_TREES][PATH_MAX] = {""}, *line = NULL;
  bool found[OSLA_GROUP_TREES] = {false};
  size_t room = 0;
  mount m;
  for (int i = 0; i < OSLA_GROUP_TREES; i++)
    out->tree[i].path[0] = '\0';
  find_names(root, name);
  FILE *file = open_below(root, "/proc/self/mountinfo");
  while (file && getline(&line, &room, file) > 0) {
    if (!parse_mount(line, &m)) continue;
    for (int i = 0; i < OSLA_GROUP_TREES; i++)
      if (!found[i] && name[i][0] && shows_tree(&m, controllers[i]))
        found[i] = use_mount(root, &m, name[i], &out->tree[i]);
  }
  free(line);
  if (file) (void)fclose(file);
}

/* Replaces a group by its parent group. Returns false if no parent is visible. */
static bool move_to_parent(group_folder *f)
{
  if (strlen(f->path) <= f->top) return false;
  char *slash = strrchr(f->path + f->top, '/');
  if (!slash) return false;
  *slash = '\0';
  return true;
}

/* --- limits of the control groups --- */

/* Reads up to two numbers at the beginning of a file and returns their count; "max" is no number.
 * System calls are used instead of stdio, whose buffer would be allocated for every new region. */
static int read_numbers(const group_folder *f, const char *name, int64_t *first, int64_t *second)
{
  char path[PATH_MAX], text[64];
  int length = snprintf(path, sizeof path, "%s/%s", f->path, name);
  int file = length < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  ssize_t bytes = read(file, text, sizeof text - 1);
  (void)close(file);
  text[bytes > 0 ? bytes : 0] = '\0';
  int count = sscanf(text, "%" SCNd64 " %" SCNd64, first, second);
  return count > 0 ? count : 0;
}

static int64_t read_number(const group_folder *f, const char *name, int64_t missing)
{
  int64_t value = missing, rest;
  return read_numbers(f, name, &value, &rest) > 0 ? value : missing;
}

/* The value of the line "KEY VALUE" in a file; 0 if there is none. */
static int64_t read_key(const group_folder *f, const char *name, const char *key)
{
  char word[64];
  int64_t value = 0, found = 0;
  FILE *file = open_below(f->path, name);
  if (!file) return 0;
  while (fscanf(file, "%63s %" SCNd64, word, &value) == 2)
    if (strcmp(word, key) == 0) found = value;
  (void)fclose(file);
  return found;
}

static uint64_t group_id(const group_folder *f)
{
  struct stat status;
  return stat(f->path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Names of the memory files in a group's folder, by version of cgroups. soft_limit is NULL if the
 * version has none. */
typedef struct version {
  const char *limit, *soft_limit, *used, *cache;
} version;

static const version version_2 = {"memory.max", "memory.high", "memory.current", "inactive_file"};
static const version version_1 = {"memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
                                  "total_inactive_file"};

/* Limits of at least this many bytes mean no limit: version 1 reports the largest multiple of a
 * page. */
static const int64_t no_limit = INT64_C(1) << 62;

static void add_memory(osla_groups *out, const group_folder *f, const version *v)
{
  int64_t limit = read_number(f, v->limit, INT64_MAX);
  if (v->soft_limit) { /* above memory.high the kernel stalls a process instead of killing it */
    int64_t soft_limit = read_number(f, v->soft_limit, INT64_MAX);
    if (soft_limit < limit) limit = soft_limit;
  }
  if (limit < 0 || limit >= no_limit) return;
  int64_t used = read_number(f, v->used, 0) - read_key(f, "/memory.stat", v->cache);
  if (used < 0) used = 0;
  osla_group_memory m = {group_id(f), limit > used ? (uint64_t)(limit - used) : 0};
  if (out->n_memory < OSLA_MOST_GROUPS)
    out->memory[out->n_memory++] = m;
  else if (m.available < out->memory[OSLA_MOST_GROUPS - 1].available)
    out->memory[OSLA_MOST_GROUPS - 1] = m;
}

static void read_memory(const group_folder *own, const version *v, osla_groups *out)
{
  group_folder f = *own;
  if (!f.path[0]) return;
  do
    add_memory(out, &f, v);
  while (move_to_parent(&f) && read_number(&f, "memory.use_hierarchy", 1) != 0);
}

static void read_cpu(const group_folder *own, osla_groups *out)
{
  group_folder f = *own;
  if (!f.path[0]) return;
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
  } while (move_to_parent(&f));
}

void osli_groups_read(const osla_group_folders *places, osla_groups *out)
{
  *out = (osla_groups){0};
  read_memory(&places->tree[0], &version_2, out);
  read_memory(&places->tree[1], &version_1, out);
  read_cpu(&places->tree[0], out);
  read_cpu(&places->tree[2], out);
}
