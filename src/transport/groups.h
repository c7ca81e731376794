/* Limits of the control groups of this process (Linux cgroups version 1 and 2, such as a container
 * or a batch job; layer 0, internal).
 *
 * A process is in one group of each hierarchy. The limits of that group, and of all groups above
 * that group, apply to the process. Inside a container the groups above the container's own are
 * invisible, so their limits are unknown. */
#ifndef OSLA_GROUPS_H
#define OSLA_GROUPS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { OSLA_MOST_GROUPS = 8, OSLA_GROUP_TREES = 3 };

/* Folders of this process's groups: for version 2, and for memory and CPU time of version 1. */
typedef struct osla_group_folders {
  struct osla_group_folder {
    /* path of the group's folder; "" if the process has no group in this tree */
    char path[PATH_MAX];
    size_t top; /* length of the path of the highest visible group */
  } tree[OSLA_GROUP_TREES];
} osla_group_folders;

typedef struct osla_group_memory {
  uint64_t id; /* id of the group, equal for all its processes on a host */
  /* bytes that the group's limit leaves; reclaimable file caches count as available */
  uint64_t available;
} osla_group_memory;

typedef struct osla_groups {
  /* number of entries of `memory`: groups with a memory limit, from the process's own group upward;
   * if there are too many, the last entry is the group with the tightest of the remaining limits */
  int n_memory;
  osla_group_memory memory[OSLA_MOST_GROUPS];
  double cores;    /* cores that the tightest CPU quota allows; 0 if there is no quota */
  uint64_t cpu_id; /* id of the group with the tightest CPU quota */
} osla_groups;

/* Finds the folders from /proc/self/cgroup and /proc/self/mountinfo below the folder `root` ("" for
 * the real ones; tests pass another). Slow. Local. */
void osli_groups_locate(const char *root, osla_group_folders *out);

/* Reads the limits. An unreadable limit counts as none. Local. */
void osli_groups_read(const osla_group_folders *places, osla_groups *out);

#endif
