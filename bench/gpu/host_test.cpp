/*
  host_test.cpp - tests of the parts of the benchmark that need no GPU: matrices by name, readers, checks, JSON, command
  line. The generators have their tests in tests/unit.
*/
#include "catalog.hpp"
#include "check.hpp"
#include "jagged.hpp"
#include "readers.hpp"
#include "results.hpp"
#include "spgemm_case.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace
{

int failures = 0;

void expect(bool condition, const char *what, int line)
{
  if (condition) return;
  std::printf("host_test.cpp:%d: failed: %s\n", line, what);
  failures++;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

template <class Work>
bool throws(const Work &work)
{
  try {
    work();
  } catch (const std::runtime_error &) {
    return true;
  }
  return false;
}

bool symmetric_pattern(const bench::Csr &a)
{
  for (std::int64_t i = 0; i < a.rows; i++)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) {
      const std::int32_t *begin = a.col.data() + a.row_ptr[a.col[k]], *end = a.col.data() + a.row_ptr[a.col[k] + 1];
      if (!std::binary_search(begin, end, static_cast<std::int32_t>(i))) return false;
    }
  return true;
}

bool same(const bench::Csr &a, const bench::Csr &b)
{
  return a.rows == b.rows && a.cols == b.cols && a.nnz == b.nnz &&
         std::equal(a.row_ptr.begin(), a.row_ptr.end(), b.row_ptr.begin()) &&
         std::equal(a.col.begin(), a.col.end(), b.col.begin()) &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin());
}

void test_families()
{
  for (const auto &name : bench::matrix_set("small")) {
    const bench::Csr a = bench::make_matrix(name);
    bench::check_csr(a);
    EXPECT(a.nnz > 0);
    EXPECT(same(a, bench::make_matrix(name)));
    if (a.group != "power-law" && a.group != "circuit" && a.group != "long-rows") EXPECT(symmetric_pattern(a));
  }
  EXPECT(throws([] { bench::make_matrix("no_such_family"); }));
  EXPECT(throws([] { bench::make_matrix("hex3:"); }));
  EXPECT(throws([] { bench::make_matrix("hex3:8x"); }));
  EXPECT(throws([] { bench::matrix_set("huge"); }));
}

/* Numbers of nonzeros that follow from the geometry */
void test_counts()
{
  EXPECT(bench::make_matrix("stencil5:10").nnz == 10 * 10 * 5 - 4 * 10);
  EXPECT(bench::make_matrix("stencil7:10").nnz == 1000 * 7 - 6 * 100);
  EXPECT(bench::make_matrix("stencil9:10").nnz == 28 * 28);
  EXPECT(bench::make_matrix("stencil27:10").nnz == 28 * 28 * 28);
  EXPECT(bench::make_matrix("hex3:10").nnz == 9 * 28 * 28 * 28);
  const bench::Csr skewed = bench::make_matrix("longrows:100000"), even = bench::make_matrix("longrows_even:100000");
  EXPECT(bench::row_statistics(skewed.rows, skewed.row_ptr.data()).longest == 100000);
  EXPECT(bench::row_statistics(even.rows, even.row_ptr.data()).longest <= 10);
  EXPECT(skewed.nnz == even.nnz);
}

void test_files(const std::string &folder)
{
  const std::string petsc = folder + "/bench_host_test.petsc", mtx = folder + "/bench_host_test.mtx";
  const std::string graph = folder + "/bench_host_test.graph";
  const bench::Csr  a     = bench::make_matrix("circuit:2000");

  bench::write_petsc(a, petsc);
  EXPECT(same(a, bench::read_matrix(petsc)));
  EXPECT(bench::read_matrix(petsc).name == "bench_host_test");
  std::ofstream(mtx)
      << "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n3 3 4\n1 1 2\n3 1 -1\n2 2 4\n3 1 -2\n";
  const bench::Csr m = bench::read_matrix(mtx);
  EXPECT(m.nnz == 4 && m.rows == 3 && m.values[0] == 2 && m.values[1] == -3 && m.values[3] == -3 && m.col[1] == 2);
  const std::int32_t words[] = {3, 3, 0, 2, 2, 3, 2, 0, 1};
  std::ofstream(graph, std::ios::binary).write(reinterpret_cast<const char *>(words), sizeof words);
  const bench::Graph g = bench::read_graph(graph);
  EXPECT(g->nodes == 3 && g->ptr[3] == 5 && g->adj[0] == 0 && g->adj[1] == 2 && g->adj[2] == 1 && g->adj[3] == 1 &&
         g->adj[4] == 2);
  EXPECT(bench::make_matrix(gen_on_graph(g.get(), 3)).nnz == 45);
  EXPECT(throws([&] { bench::read_matrix(graph); }));
  EXPECT(throws([&] { bench::read_matrix(folder + "/no_such_file.mtx"); }));
  std::ofstream(mtx) << "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";
  EXPECT(throws([&] { bench::read_matrix(mtx); }));
  for (const auto &path : {petsc, mtx, graph}) std::remove(path.c_str());
}

/* A product with another order of summation passes; a wrong entry, a NaN and a stale row fail */
void test_check()
{
  const bench::Csr       a = bench::make_matrix("powerlaw:3000");
  const bench::Reference r = bench::make_reference(a);
  bench::Array<double>   y(a.rows);

  for (std::int64_t i = 0; i < a.rows; i++) {
    y[i] = 0;
    for (std::int32_t k = a.row_ptr[i + 1]; k-- > a.row_ptr[i];) y[i] += a.values[k] * r.x[a.col[k]];
  }
  const auto good = bench::check_product(a, r, 1, 0, 1, y.data());
  EXPECT(good.passed && good.worst <= 1 && good.worst > 0 && good.relative_two < 1e-14);
  EXPECT(!bench::check_product(a, r, 1, 0, 2, y.data()).passed);
  EXPECT(!bench::check_product(a, r, 1, 0.5, 1, y.data()).passed);
  const double kept = y[17];
  y[17]             = kept + 1e-9;
  const auto bad    = bench::check_product(a, r, 1, 0, 1, y.data());
  EXPECT(!bad.passed && bad.bad_rows == 1 && bad.first_bad == 17);
  std::memset(&y[17], 0xff, sizeof y[17]);
  EXPECT(!bench::check_product(a, r, 1, 0, 1, y.data()).passed);
  y[17] = kept;
  for (std::int64_t i = 0; i < a.rows; i++) y[i] = -1.7 * y[i] + 0.6 * r.y0[i];
  EXPECT(bench::check_product(a, r, -1.7, 0.6, 1, y.data()).passed);
}

/* In single precision: a product of floats passes, and a product that ignores the last bits of x fails */
void test_check_single()
{
  const bench::Csr       a = bench::make_matrix("powerlaw:3000");
  const bench::Reference r = bench::make_reference<float>(a);
  bench::Array<float>    y(a.rows);

  EXPECT(std::all_of(r.x.begin(), r.x.end(), [](double v) { return v == static_cast<float>(v); }));
  for (std::int64_t i = 0; i < a.rows; i++) {
    y[i] = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++)
      y[i] += static_cast<float>(a.values[k]) * static_cast<float>(r.x[a.col[k]]);
  }
  const auto good = bench::check_product(a, r, 1, 0, 1, y.data());
  EXPECT(good.passed && good.worst > 0.01 && good.relative_two > 1e-9);
  y[17] += 1e-3f;
  const auto bad = bench::check_product(a, r, 1, 0, 1, y.data());
  EXPECT(!bad.passed && bad.bad_rows == 1 && bad.first_bad == 17);
}

/* The example in jagged.hpp; and for a larger matrix, the product by diagonals equals the product by rows */
void test_jagged()
{
  const std::int32_t row_ptr[] = {0, 2, 3, 6}, col[] = {0, 2, 1, 0, 1, 2};
  bench::Csr         small;

  small.rows = small.cols = 3;
  small.nnz               = 6;
  small.row_ptr           = bench::Array<std::int32_t>(4);
  small.col               = bench::Array<std::int32_t>(6);
  std::copy(row_ptr, row_ptr + 4, small.row_ptr.begin());
  std::copy(col, col + 6, small.col.begin());
  const bench::Jagged j    = bench::make_jagged(small);
  const auto          have = [](const bench::Array<std::int32_t> &array) {
    return std::vector<std::int32_t>(array.begin(), array.end());
  };
  EXPECT(j.rows == 3 && j.diagonals == 3 && have(j.row_of) == (std::vector<std::int32_t>{2, 0, 1}));
  EXPECT(have(j.start) == (std::vector<std::int32_t>{0, 3, 5, 6}));
  EXPECT(have(j.col) == (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT(have(j.position) == (std::vector<std::int32_t>{3, 0, 2, 4, 1, 5}));

  const bench::Csr       a = bench::make_matrix("shape:Na5");
  const bench::Jagged    b = bench::make_jagged(a);
  const bench::Reference r = bench::make_reference(a);
  bench::Array<double>   y(a.rows);
  for (std::int64_t row = 0; row < a.rows; row++) {
    double sum = 0;
    for (std::int64_t d = 0; d < b.diagonals && row < b.start[d + 1] - b.start[d]; d++)
      sum += a.values[b.position[b.start[d] + row]] * r.x[b.col[b.start[d] + row]];
    y[b.row_of[row]] = sum;
  }
  EXPECT(bench::check_product(a, r, 1, 0, 1, y.data()).passed);
}

/* A matrix that cannot be made or measured is left out and counts as a fault; after the budget, matrices are left
   out */
void test_results(const std::string &folder)
{
  const std::string                      path = folder + "/bench_host_test.json";
  const std::vector<bench::MatrixSource> sources{{"a", [] { return bench::make_matrix("stencil5:10"); }},
                                                 {"b", [] { return bench::make_matrix("no_such_family"); }}};
  const auto                             measure = [](const bench::Csr &a) {
    bench::MatrixResult m;
    m.matrix = a.name;
    m.records.push_back(1);
    m.faults = 2;
    return m;
  };
  bench::Results results(path, "header");
  EXPECT(bench::measure_all(sources, 0, results, measure) == 3);
  std::ifstream     file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT(text == results.text() && text.find("stencil5:10") != std::string::npos);
  EXPECT(text.find("unknown matrix 'no_such_family'") != std::string::npos);
  bench::Results late("", "header");
  EXPECT(bench::measure_all(sources, 1e-12, late, measure) == 0);
  EXPECT(late.text().find("budget") != std::string::npos);
  std::remove(path.c_str());
}

void test_json()
{
  bench::Json all = bench::Json::object(), list = bench::Json::array(), lines = bench::Json::array(true);

  list.push(1);
  list.push("a \"b\"\\\n");
  all["x"] = 0.5;
  all["n"] = 0.0 / 0.0;
  all["l"] = list;
  all["t"] = true;
  lines.push(all);
  lines.push(bench::Json::object());
  EXPECT(all.text() == "{\"x\": 0.5, \"n\": null, \"l\": [1, \"a \\\"b\\\"\\\\\\u000a\"], \"t\": true}");
  EXPECT(lines.text() == "[\n " + all.text() + ",\n {}\n]");
}

/* P has full blocks of 3 x 6; transposing twice gives the same matrix */
void test_prolongator()
{
  const bench::Csr a = bench::make_matrix("hex3:6"), p = bench::make_prolongator(a);
  const bench::Csr q = bench::make_prolongator(bench::make_matrix("stencil7:6"));

  bench::check_csr(p);
  bench::check_csr(q);
  EXPECT(p.rows == a.rows && p.cols % 6 == 0 && p.cols > 0 && p.cols < p.rows && p.nnz % 18 == 0);
  EXPECT(q.cols < q.rows && q.nnz >= q.rows);
  EXPECT(same(p, bench::transposed(bench::transposed(p))));
}

void test_command_line()
{
  const auto parse = [](std::vector<const char *> words) {
    words.insert(words.begin(), "spmv_bench");
    return bench::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const auto c = parse({"--matrix", "hex3:4", "--formats", "rbp:layout=csr,crsv", "--budget", "10", "--dof", "1,3",
                        "--no-peers", "--convert-once"});
  EXPECT(c.matrices == std::vector<std::string>{"hex3:4"} && c.formats.size() == 2 && c.formats[0] == "rbp:layout=csr");
  EXPECT(c.budget == 10 && c.dofs == (std::vector<int>{1, 3}) && !c.peers && c.convert_once);
  EXPECT(parse({}).matrices == bench::matrix_set("default"));
  EXPECT(bench::matrix_sources(parse({"--graph", "g", "--order", "keep,random", "--dof", "1,3"})).size() == 4);
  EXPECT(throws([&] { parse({"--no-such-option", "1"}); }));
  EXPECT(throws([&] { parse({"--out"}); }));
  EXPECT(throws([&] { parse({"--budget", "soon"}); }));
  EXPECT(throws([&] { parse({"--order", "best"}); }));
  EXPECT(throws([&] { parse({"--set", "small", "--write", "f"}); }));
}

} // namespace

int main(int argc, char **argv)
{
  test_families();
  test_counts();
  test_files(argc > 1 ? argv[1] : ".");
  test_check();
  test_check_single();
  test_jagged();
  test_results(argc > 1 ? argv[1] : ".");
  test_json();
  test_prolongator();
  test_command_line();
  std::printf("%s\n", failures ? "FAILED" : "all host parts of the benchmark behave");
  return failures ? 1 : 0;
}
