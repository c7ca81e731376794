/* Limits of the control groups of this process (cgroups of Linux, version 1 and 2: a container, a
 * batch job): floor 0, internal.
 *
 * A process lives in one group of each hierarchy, and obeys the limits of that group and of all
 * above it. From inside a container those above its own are not seen, and then are not known.
 */
#ifndef OSLA_GROUPS_H
#define OSLA_GROUPS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { OSLA_MOST_GROUPS = 8, OSLA_GROUP_TREES = 3 };

/* Where this process's own groups are: one each for version 2, and for memory and processor time of
 * version 1. */
typedef struct osla_group_folders {
  struct osla_group_folder {
    char path[PATH_MAX]; /* "": none */
    size_t top;          /* so many first bytes of it are the highest group that is seen */
  } tree[OSLA_GROUP_TREES];
} osla_group_folders;

typedef struct osla_group_memory {
  uint64_t id;        /* of the group: the same for all processes in it, on one host */
  uint64_t available; /* bytes that its limit leaves; what caches of files hold is available */
} osla_group_memory;

typedef struct osla_groups {
  int n_memory; /* groups with a limit, from the process's own upwards; beyond the last place only
                   the tightest one is kept there */
  osla_group_memory memory[OSLA_MOST_GROUPS];
  double cores;    /* processor time in a second that the tightest quota allows; 0: there is none */
  uint64_t cpu_id; /* the group with that quota */
} osla_groups;

/* Looks for them in /proc/self/cgroup and /proc/self/mountinfo, below the folder `root` ("" for the
 * system's own), which takes a while. Local. */
void osli_groups_locate(const char *root, osla_group_folders *out);

/* Reads their limits. What cannot be read is no limit. Local. */
void osli_groups_read(const osla_group_folders *places, osla_groups *out);

#endif
