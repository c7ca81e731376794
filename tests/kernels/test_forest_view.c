/* Tests of the text that osla_forest_view writes. */
#include "osla_forest.h"
#include "tests/osla_test_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4000 };

static const char *where(const osla_transport *t, int rank)
{
  return rank == osla_test_rank()            ? "this rank"
         : osla_transport_same_node(t, rank) ? "this node"
                                             : "another node";
}

static void expect(const char *text, const char *expected)
{
  OSLA_ASSERT_MSG(strcmp(text, expected) == 0, "found:\n%sexpected:\n%s", text, expected);
}

/* A forest of three leaves on each rank, joined to roots of the next rank. These roots are
 * consecutive if `in_a_row` is true, and otherwise not. */
static osla_forest *make(osla_transport *t, bool in_a_row)
{
  const int next = (osla_test_rank() + 1) % osla_test_size();
  const osla_root row[3] = {{next, 1}, {next, 2}, {next, 3}};
  const osla_root any[3] = {{next, 4}, {next, 0}, {next, 4}};
  const int64_t leaf[3] = {7, 2, 5};
  osla_forest *f = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, 5, 3, in_a_row ? NULL : leaf, in_a_row ? row : any, &f));
  return f;
}

static void test_text(void)
{
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), size = osla_test_size(), next = (me + 1) % size;
  const int before = (me + size - 1) % size;
  osla_forest *row = make(t, true), *any = make(t, false);
  char text[ROOM], expected[ROOM];
  const size_t length = osla_forest_view(row, false, text, sizeof text);
  CU_ASSERT_EQUAL(length, strlen(text));
  (void)snprintf(expected, sizeof expected,
                 "forest 1, rank %d of %d: 5 roots, 3 edges, leaves below 3\n"
                 "  3 to roots of rank %d (%s): leaves 0 to 2, roots 1 to 3\n"
                 "  3 to leaves of rank %d (%s): roots 1 to 3\n",
                 me, size, next, where(t, next), before, where(t, before));
  expect(text, expected);
  (void)osla_forest_view(any, true, text, sizeof text);
  (void)snprintf(expected, sizeof expected,
                 "forest 2, rank %d of %d: 5 roots, 3 edges, leaves below 8\n"
                 "  3 to roots of rank %d (%s): leaves by a list, roots by a list\n"
                 "    leaf 7, root 4\n    leaf 2, root 0\n    leaf 5, root 4\n"
                 "  3 to leaves of rank %d (%s): roots by a list\n",
                 me, size, next, where(t, next), before, where(t, before));
  expect(text, expected);
  OSLA_ASSERT_OK(osla_forest_destroy(&row));
  OSLA_ASSERT_OK(osla_forest_destroy(&any));
  osla_transport_destroy(&t);
}

/* Roots of the last rank that form a block, 9 x 3 of them in rows of 12, are joined to every second
 * leaf of the first rank. */
static void test_block(void)
{
  enum { EDGES = 27 };
  osla_transport *t = osla_test_transport();
  const int last = osla_test_size() - 1, edges = osla_test_rank() == 0 ? EDGES : 0;
  const bool far = !osla_transport_same_node(t, last) || !osla_transport_same_node(t, 0);
  const char *roots = far ? "in a block of 9 x 3 x 1 from 2" : "by a list";
  const char *leaves = far ? "in a block of 27 x 1 x 1 from 0" : "by a list";
  osla_root root[EDGES];
  int64_t leaf[EDGES], found_leaf[EDGES];
  osla_root found[EDGES];
  osla_forest *f = NULL;
  char text[ROOM], part[ROOM];
  for (int i = 0; i < EDGES; i++) {
    root[i] = (osla_root){last, 2 + i % 9 + 12 * (i / 9)};
    leaf[i] = 2 * i;
  }
  OSLA_ASSERT_OK(osla_forest_create(t, osla_test_rank() == last ? 40 : 0, edges, leaf, root, &f));
  (void)osla_forest_view(f, false, text, sizeof text);
  (void)snprintf(part, sizeof part, ": leaves %s, roots %s\n", leaves, roots);
  if (osla_test_rank() == 0) CU_ASSERT(strstr(text, part) != NULL);
  (void)snprintf(part, sizeof part, "  27 to leaves of rank 0 (%s): roots %s\n", where(t, 0),
                 roots);
  if (osla_test_rank() == last) CU_ASSERT(strstr(text, part) != NULL);
  osla_forest_edges(f, found_leaf, found);
  for (int i = 0; i < edges; i++)
    CU_ASSERT(found_leaf[i] == leaf[i] && found[i].index == root[i].index);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* The text written does not exceed the buffer, and the returned length is that of the whole text.
 */
static void test_room(void)
{
  osla_transport *t = osla_test_transport();
  osla_forest *f = make(t, false);
  char whole[ROOM], part[ROOM];
  const size_t length = osla_forest_view(f, true, whole, sizeof whole);
  int bad = 0;
  CU_ASSERT_EQUAL(osla_forest_view(f, true, NULL, 0), length);
  for (size_t room = 1; room <= length + 1; room++) {
    memset(part, '#', sizeof part);
    bad += osla_forest_view(f, true, part, room) != length;
    bad += strlen(part) != room - 1 || strncmp(part, whole, room - 1) != 0 || part[room] != '#';
  }
  OSLA_ASSERT_MSG(bad == 0, "%d texts are wrong", bad);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Tests views of forests in which some ranks have no edges, and of two-level forests. */
static void test_other_forests(void)
{
  enum { EACH = 200 };
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), size = osla_test_size();
  osla_root *root = osla_test_allocate(EACH, sizeof *root);
  osla_forest *none = NULL, *all = NULL;
  char text[ROOM], expected[ROOM];
  OSLA_ASSERT_OK(osla_forest_create(t, 0, 0, NULL, NULL, &none));
  (void)osla_forest_view(none, true, text, sizeof text);
  (void)snprintf(expected, sizeof expected,
                 "forest 1, rank %d of %d: 0 roots, 0 edges, leaves below 0\n", me, size);
  expect(text, expected);
  for (int i = 0; i < EACH; i++)
    root[i] = (osla_root){0, i};
  OSLA_ASSERT_OK(osla_forest_create(t, me == 0 ? EACH : 0, EACH, NULL, root, &all));
  (void)osla_forest_view(all, false, text, sizeof text);
  int most = 0; /* number of ranks of a node that does not own the roots */
  for (int p = 0; p < size; p++) {
    int with = 0;
    for (int q = 0; q < size; q++)
      with += osla_transport_node_of(t, q) == osla_transport_node_of(t, p);
    if (osla_transport_node_of(t, p) != osla_transport_node_of(t, 0) && with > most) most = with;
  }
  const bool once = strstr(text, "broadcasts cross between nodes once") != NULL;
  CU_ASSERT(most == 1 || once == (most > 1));
  OSLA_ASSERT_OK(osla_forest_destroy(&none));
  OSLA_ASSERT_OK(osla_forest_destroy(&all));
  free(root);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"text", test_text},
                                       {"block", test_block},
                                       {"room", test_room},
                                       {"other_forests", test_other_forests},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_view, cases);
