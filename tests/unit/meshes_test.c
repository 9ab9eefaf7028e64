/* Tests of the generators that keep data beside a spec (meshes, orders, published shapes), and of matrices by name. */
#include "families.h"
#include "gen_graph.h"
#include "gen_published.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_faces(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int32_t)); }

static void sort_three(int32_t v[3])
{
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < 2; k++)
      if (v[k] > v[k + 1]) {
        const int32_t kept = v[k];
        v[k]               = v[k + 1];
        v[k + 1]           = kept;
      }
}

/* The number of distinct faces of the tetrahedra */
static int64_t count_faces(const GenElements *tets)
{
  int32_t(*face)[3] = malloc((size_t)tets->count * 4 * sizeof *face);
  int64_t faces     = 0;

  for (int64_t t = 0; t < tets->count; t++)
    for (int skip = 0; skip < 4; skip++) {
      for (int k = 0, at = 0; k < 4; k++)
        if (k != skip) face[4 * t + skip][at++] = tets->node[4 * t + k];
      sort_three(face[4 * t + skip]);
    }
  qsort(face, (size_t)tets->count * 4, sizeof *face, compare_faces);
  for (int64_t f = 0; f < 4 * tets->count; f++) faces += f == 0 || compare_faces(face[f], face[f - 1]);
  free(face);
  return faces;
}

/* Euler's formula for a ball: vertices - edges + faces - tetrahedra = 1 */
UNIT_TEST(tetrahedra_fill_a_cube)
{
  const int64_t n = 9, side = n - 1;
  GenElements   tets  = gen_elements_tetrahedra(n);
  GenGraph      g     = gen_graph_of(&tets);
  const int64_t edges = (g.ptr[g.nodes] - g.nodes) / 2, faces = count_faces(&tets);
  GenElements   alone = gen_elements_edges(&tets, &g, 0), both = gen_elements_edges(&tets, &g, 1);
  int32_t       least = INT32_MAX, most = 0;

  UNIT_EQUAL(6 * side * side * side, tets.count);
  UNIT_EQUAL(1, g.nodes - edges + faces - tets.count);
  /* each inner face has two tetrahedra, each face of the surface (12 (n-1)^2 triangles) has one */
  UNIT_EQUAL(4 * tets.count, 2 * faces - 12 * side * side);
  UNIT_EQUAL(edges, alone.nodes);
  UNIT_EQUAL(g.nodes + edges, both.nodes);
  for (int64_t i = 0; i < g.nodes; i++) {
    const int32_t degree = g.ptr[i + 1] - g.ptr[i];
    least                = degree < least ? degree : least;
    most                 = degree > most ? degree : most;
  }
  UNIT_CHECK(most - least >= 15);
  gen_elements_free(&alone);
  gen_elements_free(&both);
  gen_elements_free(&tets);
  gen_graph_free(&g);
}

/* Euler's formula for a disk: vertices - edges + triangles = 1 */
UNIT_TEST(triangles_fill_a_square)
{
  const int64_t n = 30, side = n - 1;
  GenElements   triangles = gen_elements_triangles(n);
  GenGraph      g         = gen_graph_of(&triangles);
  int32_t       least = INT32_MAX, most = 0;

  UNIT_EQUAL(2 * side * side, triangles.count);
  UNIT_EQUAL(1, g.nodes - (g.ptr[g.nodes] - g.nodes) / 2 + triangles.count);
  for (int64_t i = 0; i < g.nodes; i++) {
    const int32_t degree = g.ptr[i + 1] - g.ptr[i] - 1;
    if (i % n == 0 || i % n == side || i / n == 0 || i / n == side) continue; /* on the boundary */
    least = degree < least ? degree : least;
    most  = degree > most ? degree : most;
  }
  UNIT_EQUAL(4, least);
  UNIT_EQUAL(8, most);
  gen_elements_free(&triangles);
  gen_graph_free(&g);
}

static int64_t bandwidth(const GenGraph *g)
{
  int64_t widest = 0;

  for (int64_t i = 0; i < g->nodes; i++)
    for (int32_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
      if (llabs(g->adj[k] - i) > widest) widest = llabs(g->adj[k] - i);
  return widest;
}

UNIT_TEST(orders_are_permutations_and_rcm_narrows_the_band)
{
  GenElements tets     = gen_elements_tetrahedra(12);
  GenGraph    natural  = gen_graph_of(&tets);
  GenGraph    shuffled = gen_graph_ordered(&natural, GEN_SHUFFLED), ordered = gen_graph_ordered(&shuffled, GEN_RCM);
  GenGraph    copy  = gen_graph_ordered(&natural, GEN_NATURAL);
  int32_t    *order = gen_reverse_cuthill_mckee(&shuffled);
  char       *seen  = calloc((size_t)natural.nodes, 1);

  for (int64_t i = 0; i < natural.nodes; i++) seen[order[i]]++;
  for (int64_t i = 0; i < natural.nodes; i++) UNIT_EQUAL(1, seen[i]);
  UNIT_EQUAL(natural.ptr[natural.nodes], ordered.ptr[ordered.nodes]);
  UNIT_CHECK(bandwidth(&shuffled) > natural.nodes / 2);
  UNIT_CHECK(bandwidth(&ordered) < natural.nodes / 4);
  UNIT_CHECK(!memcmp(copy.adj, natural.adj, (size_t)natural.ptr[natural.nodes] * sizeof *copy.adj));
  free(seen);
  free(order);
  gen_graph_free(&natural);
  gen_graph_free(&shuffled);
  gen_graph_free(&ordered);
  gen_graph_free(&copy);
  gen_elements_free(&tets);
}

/* The number of rows and the longest row must be the published ones, and the number of nonzeros close. Matrices are
   made of the small shapes only: those of large shapes take seconds. */
UNIT_TEST(published_shapes_have_their_rows)
{
  for (int shape = 0; shape < PUBLISHED_SHAPES; shape++) {
    const PublishedShape *s       = &published_shapes[shape];
    int64_t              *row_ptr = malloc((size_t)(s->rows + 1) * sizeof *row_ptr), longest = 0;
    SpmvPattern           p;

    gen_published_lengths(shape, row_ptr);
    for (int64_t i = 0; i < s->rows; i++)
      if (row_ptr[i + 1] - row_ptr[i] > longest) longest = row_ptr[i + 1] - row_ptr[i];
    UNIT_EQUAL(s->longest, longest);
    UNIT_CHECK(llabs(row_ptr[s->rows] - s->nnz) < 3 * s->nnz / 100);
    if (s->nnz < 2000000) {
      const GenSpec spec = gen_published(shape);
      UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I64, &p));
      UNIT_CHECK(!memcmp(p.row_ptr, row_ptr, (size_t)(s->rows + 1) * sizeof *row_ptr));
      for (int64_t i = 0; i < s->rows; i++) {
        const int64_t *col = p.col, length = row_ptr[i + 1] - row_ptr[i];
        if (length > 0) UNIT_CHECK(col[row_ptr[i + 1] - 1] - col[row_ptr[i]] < 8 * length);
      }
      gen_pattern_free(&p);
    }
    free(row_ptr);
  }
  gen_free_kept();
}

static void find(const char *name, NamedMatrix *matrix)
{
  char message[FAMILY_TEXT] = "";

  UNIT_CHECK(family_find(name, matrix, message));
  UNIT_TEXT("", message);
}

UNIT_TEST(every_family_is_valid_and_found_by_its_name)
{
  for (int f = 0; f < family_count(); f++) {
    char        name[FAMILY_TEXT];
    NamedMatrix matrix;
    SpmvPattern p;
    SpmvExec    exec;

    snprintf(name, sizeof name, "%s:7", family_get(f)->name);
    find(name, &matrix);
    UNIT_TEXT(name, matrix.name);
    UNIT_TEXT(family_get(f)->group, matrix.group);
    UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&matrix.spec, SPMV_I32, &p));
    spmv_exec_init(&exec, SPMV_HOST);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_pattern_check(&p, &exec));
    UNIT_TEXT("", exec.message);
    UNIT_CHECK(p.rows >= 7 && p.nnz >= p.rows);
    gen_pattern_free(&p);
    for (int other = 0; other < f; other++) UNIT_CHECK(strcmp(family_get(f)->name, family_get(other)->name));
  }
  gen_free_kept();
}

UNIT_TEST(sets_name_families)
{
  char message[FAMILY_TEXT];

  for (const char *const *set = family_sets(); *set; set++)
    for (const char *const *name = family_set(*set); *name; name++) {
      int found = 0;
      for (int f = 0; f < family_count(); f++) {
        const size_t length = strlen(family_get(f)->name);
        found += !strncmp(*name, family_get(f)->name, length) && ((*name)[length] == ':' || !(*name)[length]);
      }
      UNIT_EQUAL(1, found);
    }
  UNIT_CHECK(family_set("huge") == NULL);
  NamedMatrix matrix;
  UNIT_CHECK(!family_find("hex3:", &matrix, message));
  UNIT_CHECK(!family_find("hex3:8x", &matrix, message));
  UNIT_TEXT("the size in 'hex3:8x' must be a whole number of at least 2", message);
  UNIT_CHECK(!family_find("shape:none", &matrix, message));
  UNIT_TEXT("unknown matrix 'shape:none': --list shows all", message);
  find("mixed_dofs", &matrix);
  UNIT_TEXT("tests", matrix.group);
}

static int64_t longest_row(const SpmvPattern *p)
{
  const int32_t *row_ptr = p->row_ptr;
  int64_t        longest = 0;

  for (int64_t i = 0; i < p->rows; i++)
    if (row_ptr[i + 1] - row_ptr[i] > longest) longest = row_ptr[i + 1] - row_ptr[i];
  return longest;
}

UNIT_TEST(long_rows_and_none_have_the_same_nonzeros)
{
  const GenSpec skewed = gen_four_long_rows(100000, 1000000), even = gen_no_long_rows(100000, 1000000);
  SpmvPattern   a, b;

  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&skewed, SPMV_I32, &a));
  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&even, SPMV_I32, &b));
  UNIT_EQUAL(a.nnz, b.nnz);
  UNIT_EQUAL(100000, longest_row(&a));
  UNIT_CHECK(longest_row(&b) <= 10);
  gen_pattern_free(&a);
  gen_pattern_free(&b);
}

static uint64_t digest(uint64_t h, const void *array, int64_t words)
{
  const int32_t *word = array;

  for (int64_t k = 0; k < words; k++) h = gen_hash(h, (uint64_t)(uint32_t)word[k]);
  return h;
}

/* Benchmark results are compared across runs, so the matrix of a family must never change */
UNIT_TEST(families_give_what_they_always_gave)
{
  static const struct {
    const char *name;
    uint64_t    digest;
  } known[] = {{"stencil5:30", 0x8bfe5412624f91e4u},   {"stencil9:30", 0x816b7f6c4eb846cfu},
               {"stencil7:12", 0x3c5577f788e73b4cu},   {"stencil27:12", 0x0ddfdbd53bf4726du},
               {"hex3:8", 0x550709ff646eb609u},        {"tet3_natural:9", 0xc3b306195c70b790u},
               {"tet3_rcm:9", 0x97369dd10cd0caf5u},    {"tet3_random:9", 0x53788c6305594b7fu},
               {"p1_rcm:12", 0x525277f9364541f7u},     {"p2tet3_rcm:5", 0x6f10df0c7b33ff02u},
               {"p2_rcm:6", 0x156812d03d3c39cdu},      {"edge_rcm:9", 0xe7841edfcdabf530u},
               {"powerlaw:3000", 0xc8a4a012af466a05u}, {"circuit:5000", 0x685024cd19c44040u},
               {"longrows:5000", 0xc5e913d1ee7d0900u}, {"longrows_even:5000", 0x9bd8027c52d8b19du},
               {"shape:Na5", 0x264cc5cde0cf1395u},     {"tri_rcm:30", 0x83222909cdc49910u}};

  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    NamedMatrix matrix;
    SpmvPattern p;

    find(known[k].name, &matrix);
    UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&matrix.spec, SPMV_I32, &p));
    UNIT_EQUAL((int64_t)known[k].digest, (int64_t)digest(digest(0, p.row_ptr, p.rows + 1), p.col, p.nnz));
    gen_pattern_free(&p);
  }
  gen_free_kept();
}
