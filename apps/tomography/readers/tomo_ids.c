/* Maps ids to sites by open hash tables (contract: tomo_io.h). */
#include "apps/tomography/readers/tomo_io.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slot {
  const char *key; /* key of the slot; NULL if the slot is free */
  int64_t site;    /* index of the site, or TOMO_IDS_SEVERAL */
} slot;

struct tomo_ids {
  const tomo_site *sites;
  uint64_t mask; /* number of slots of each table minus 1 */
  slot *whole;   /* hash table by full id */
  slot *code;    /* hash table by the station's code without network; NULL for events */
};

static uint64_t hash_text(const char *text)
{
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash ^ (hash >> 29);
}

/* Returns the slot that holds the key, or the free slot in which to insert it. */
static slot *find_slot(const tomo_ids *ids, slot *table, const char *key)
{
  uint64_t at = hash_text(key) & ids->mask;
  while (table[at].key && strcmp(table[at].key, key) != 0)
    at = (at + 1) & ids->mask;
  return &table[at];
}

static bool have_equal_coordinates(const tomo_site *a, const tomo_site *b)
{
  return memcmp(&a->latitude, &b->latitude, sizeof a->latitude) == 0 &&
         memcmp(&a->longitude, &b->longitude, sizeof a->longitude) == 0;
}

static void insert(tomo_ids *ids, slot *table, const char *key, int64_t site)
{
  slot *s = find_slot(ids, table, key);
  if (!s->key)
    *s = (slot){key, site};
  else if (s->site >= 0 && !have_equal_coordinates(&ids->sites[s->site], &ids->sites[site]))
    s->site = TOMO_IDS_SEVERAL;
}

/* Returns the part STATION of an id "NETWORK.STATION", or the whole id if it has no '.'. */
static const char *code_of(const char *id)
{
  const char *point = strchr(id, '.');
  return point ? point + 1 : id;
}

static osla_err allocate(tomo_ids *ids, int64_t count, int are_stations)
{
  uint64_t slots = 16;
  while (slots < 2 * (uint64_t)count)
    slots *= 2;
  ids->mask = slots - 1;
  ids->whole = calloc(slots, sizeof *ids->whole);
  if (are_stations) ids->code = calloc(slots, sizeof *ids->code);
  OSLA_CHECK(ids->whole && (ids->code || !are_stations), OSLA_ERR_MEM,
             "no memory for the ids of %" PRId64 " sites", count);
  return OSLA_OK;
}

osla_err tomo_ids_create(const tomo_site *sites, int64_t count, int are_stations, tomo_ids **out)
{
  tomo_ids *ids = calloc(1, sizeof *ids);
  *out = ids;
  OSLA_CHECK(ids, OSLA_ERR_MEM, "no memory for ids");
  ids->sites = sites;
  osla_err err = allocate(ids, count, are_stations);
  if (err != OSLA_OK) {
    tomo_ids_destroy(out);
    return err;
  }
  for (int64_t i = 0; i < count; i++) {
    const char *id = sites[i].id;
    if (*id) insert(ids, ids->whole, id, i);
    if (*id && are_stations) insert(ids, ids->code, code_of(id), i);
  }
  return OSLA_OK;
}

void tomo_ids_destroy(tomo_ids **ids)
{
  if (!*ids) return;
  free((*ids)->whole);
  free((*ids)->code);
  free(*ids);
  *ids = NULL;
}

static int64_t find_site(const tomo_ids *ids, slot *table, const char *key)
{
  const slot *s = find_slot(ids, table, key);
  return s->key ? s->site : TOMO_IDS_NONE;
}

int64_t tomo_ids_event(const tomo_ids *ids, const char *id)
{
  return find_site(ids, ids->whole, id);
}

int64_t tomo_ids_station(const tomo_ids *ids, const char *network, const char *station)
{
  char id[2 * TOMO_ID_MAX + 2];
  if (strlen(network) >= TOMO_ID_MAX || strlen(station) >= TOMO_ID_MAX) return TOMO_IDS_NONE;
  (void)snprintf(id, sizeof id, "%s%s%s", network, *network ? "." : "", station);
  int64_t site = find_site(ids, ids->whole, id);
  if (site != TOMO_IDS_NONE) return site;
  if (!*network) return find_site(ids, ids->code, station);
  return strchr(station, '.') ? TOMO_IDS_NONE : find_site(ids, ids->whole, station);
}
