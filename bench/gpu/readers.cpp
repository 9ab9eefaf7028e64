/*
  readers.cpp - see readers.hpp
*/
#include "readers.hpp"
#include "parallel.hpp"
#include "matrix_market.h"

#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace bench
{
namespace
{

constexpr std::int32_t PETSC_MATRIX = 1211216; /* MAT_FILE_CLASSID */

[[noreturn]] void fault(const std::string &path, const std::string &what)
{
  throw std::runtime_error(path + ": " + what);
}

class File
{
public:
  File(const std::string &path, const char *mode) : path_(path), file_(std::fopen(path.c_str(), mode))
  {
    if (!file_) fault(path, "cannot be opened");
  }
  ~File()
  {
    if (file_) std::fclose(file_);
  }
  File(const File &)            = delete;
  File &operator=(const File &) = delete;
  template <class T>
  void read(T *to, std::size_t count)
  {
    if (std::fread(to, sizeof(T), count, file_) != count) fault(path_, "ends too early");
  }
  template <class T>
  void write(const T *from, std::size_t count)
  {
    if (std::fwrite(from, sizeof(T), count, file_) != count) fault(path_, "cannot be written");
  }
  void close()
  {
    FILE *file = file_;
    file_      = nullptr;
    if (std::fclose(file)) fault(path_, "cannot be written");
  }

private:
  std::string path_;
  FILE       *file_;
};

/* PETSc files are big-endian; this program runs on little-endian machines only */
std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }
std::uint64_t swapped(std::uint64_t v) { return __builtin_bswap64(v); }

template <class Bits, class T>
void swap_all(T *data, std::size_t count)
{
  static_assert(sizeof(Bits) == sizeof(T), "same size");
  parallel_ranges(static_cast<std::int64_t>(count), [data](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; k++) {
      Bits bits;
      std::memcpy(&bits, data + k, sizeof bits);
      bits = swapped(bits);
      std::memcpy(data + k, &bits, sizeof bits);
    }
  });
}

/* Turns the counts in row_ptr[1 .. rows] into offsets; the total must fit 32 bits */
std::int64_t sum_counts(Array<std::int32_t> &row_ptr)
{
  std::int64_t total = 0;

  row_ptr[0] = 0;
  for (std::size_t i = 1; i < row_ptr.size(); i++) {
    total += row_ptr[i];
    if (total > INT32_MAX) throw std::runtime_error("more than 2^31-1 nonzeros");
    row_ptr[i] = static_cast<std::int32_t>(total);
  }
  return total;
}

struct Entries {
  std::vector<std::int32_t> row, col;
  std::vector<double>       value;
  void                      add(std::int64_t i, std::int64_t j, double v)
  {
    row.push_back(static_cast<std::int32_t>(i));
    col.push_back(static_cast<std::int32_t>(j));
    value.push_back(v);
  }
};

/* Makes a CSR from entries: sorts them by row and column, and adds duplicates */
Csr csr_of(const Entries &e, std::int64_t rows, std::int64_t cols)
{
  std::vector<std::int64_t> order(e.row.size());
  Csr                       a;

  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&e](std::int64_t p, std::int64_t q) {
    return e.row[p] != e.row[q] ? e.row[p] < e.row[q] : e.col[p] != e.col[q] ? e.col[p] < e.col[q] : p < q;
  });
  a.rows    = rows;
  a.cols    = cols;
  a.row_ptr = Array<std::int32_t>(rows + 1);
  a.col     = Array<std::int32_t>(order.size());
  a.values  = Array<double>(order.size());
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  std::int64_t last = -1;
  for (const auto k : order) {
    if (last >= 0 && e.row[last] == e.row[k] && e.col[last] == e.col[k]) {
      a.values[a.nnz - 1] += e.value[k];
      continue;
    }
    a.row_ptr[e.row[k] + 1]++;
    a.col[a.nnz]      = e.col[k];
    a.values[a.nnz++] = e.value[k];
    last              = k;
  }
  sum_counts(a.row_ptr);
  return a;
}

Csr read_matrix_market(const std::string &path)
{
  MtxEntries file;
  char       message[MTX_MESSAGE];
  Entries    e;

  if (mtx_read(path.c_str(), &file, message)) throw std::runtime_error(message);
  const std::int64_t rows = file.rows, cols = file.cols;
  for (std::int64_t k = 0; k < file.count && rows <= INT32_MAX && cols <= INT32_MAX; k++) {
    const std::int64_t i = file.row[k] + 1, j = file.col[k] + 1;
    const auto         of_both = static_cast<std::uint64_t>(std::max(i, j) * cols + std::min(i, j));
    e.add(i - 1, j - 1, file.pattern ? signed_uniform(of_both) : file.value[k]);
  }
  mtx_free(&file);
  if (rows > INT32_MAX || cols > INT32_MAX) fault(path, "is too large for 32-bit indices");
  return csr_of(e, rows, cols);
}

/* PETSc writes sorted rows, but other programs may not */
void sort_rows(Csr &a)
{
  parallel_ranges(a.rows, [&a](std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<std::int32_t, double>> row;
    for (std::int64_t i = begin; i < end; i++) {
      const std::int32_t first = a.row_ptr[i], last = a.row_ptr[i + 1];
      if (std::is_sorted(a.col.data() + first, a.col.data() + last)) continue;
      row.clear();
      for (std::int32_t k = first; k < last; k++) row.emplace_back(a.col[k], a.values[k]);
      std::sort(row.begin(), row.end());
      for (std::int32_t k = first; k < last; k++) std::tie(a.col[k], a.values[k]) = row[k - first];
    }
  });
}

Csr read_petsc(const std::string &path)
{
  File         file(path, "rb");
  std::int32_t head[4];
  Csr          a;

  file.read(head, 4);
  swap_all<std::uint32_t>(head, 4);
  if (head[0] != PETSC_MATRIX || head[1] < 0 || head[2] < 0 || head[3] < 0)
    fault(path, "is not a PETSc binary matrix with 32-bit indices");
  a.rows    = head[1];
  a.cols    = head[2];
  a.nnz     = head[3];
  a.row_ptr = Array<std::int32_t>(a.rows + 1);
  a.col     = Array<std::int32_t>(a.nnz);
  a.values  = Array<double>(a.nnz);
  file.read(a.row_ptr.data() + 1, a.rows);
  swap_all<std::uint32_t>(a.row_ptr.data() + 1, a.rows);
  if (sum_counts(a.row_ptr) != a.nnz) fault(path, "has row lengths that do not add up");
  file.read(a.col.data(), a.nnz);
  swap_all<std::uint32_t>(a.col.data(), a.nnz);
  file.read(a.values.data(), a.nnz);
  swap_all<std::uint64_t>(a.values.data(), a.nnz);
  sort_rows(a);
  return a;
}

} // namespace

Csr read_matrix(const std::string &path)
{
  const auto  slash = path.find_last_of('/');
  const bool  mtx   = path.size() > 4 && path.compare(path.size() - 4, 4, ".mtx") == 0;
  Csr         a     = mtx ? read_matrix_market(path) : read_petsc(path);
  std::string name  = slash == std::string::npos ? path : path.substr(slash + 1);

  a.name  = name.substr(0, name.find_last_of('.'));
  a.group = "file";
  return a;
}

Graph read_graph(const std::string &path)
{
  File         file(path, "rb");
  std::int32_t head[2];

  file.read(head, 2);
  if (head[0] < 1 || head[1] < 0) fault(path, "is not a node graph");
  Array<std::int32_t> ptr(head[0] + 1), adj(head[1]);
  file.read(ptr.data(), ptr.size());
  file.read(adj.data(), adj.size());
  if (ptr[0] != 0 || ptr[head[0]] != head[1]) fault(path, "has pointers that do not fit its entries");
  Array<std::int32_t>       sorted_ptr(ptr.size());
  std::vector<std::int32_t> sorted_adj;
  for (std::int32_t i = 0; i < head[0]; i++) {
    if (ptr[i] < 0 || ptr[i] > ptr[i + 1]) fault(path, "has pointers that do not ascend");
    sorted_ptr[i]    = static_cast<std::int32_t>(sorted_adj.size());
    const auto first = static_cast<std::ptrdiff_t>(sorted_adj.size());
    sorted_adj.insert(sorted_adj.end(), adj.data() + ptr[i], adj.data() + ptr[i + 1]);
    sorted_adj.push_back(i);
    std::sort(sorted_adj.begin() + first, sorted_adj.end());
    sorted_adj.erase(std::unique(sorted_adj.begin() + first, sorted_adj.end()), sorted_adj.end());
    if (sorted_adj[first] < 0 || sorted_adj.back() >= head[0]) fault(path, "has a neighbour that is not a node");
    if (sorted_adj.size() > INT32_MAX) fault(path, "has more than 2^31-1 neighbours");
  }
  sorted_ptr[head[0]] = static_cast<std::int32_t>(sorted_adj.size());
  Array<std::int32_t> kept(sorted_adj.size());
  std::copy(sorted_adj.begin(), sorted_adj.end(), kept.begin());
  return own({head[0], sorted_ptr.release(), kept.release()});
}

void write_petsc(const Csr &a, const std::string &path)
{
  File                file(path, "wb");
  std::int32_t        head[4] = {PETSC_MATRIX, static_cast<std::int32_t>(a.rows), static_cast<std::int32_t>(a.cols),
                                 static_cast<std::int32_t>(a.nnz)};
  Array<std::int32_t> lengths(a.rows), col(a.nnz);
  Array<double>       values(a.nnz);

  for (std::int64_t i = 0; i < a.rows; i++) lengths[i] = a.row_ptr[i + 1] - a.row_ptr[i];
  std::copy(a.col.begin(), a.col.end(), col.begin());
  std::copy(a.values.begin(), a.values.end(), values.begin());
  swap_all<std::uint32_t>(head, 4);
  swap_all<std::uint32_t>(lengths.data(), lengths.size());
  swap_all<std::uint32_t>(col.data(), col.size());
  swap_all<std::uint64_t>(values.data(), values.size());
  file.write(head, 4);
  file.write(lengths.data(), lengths.size());
  file.write(col.data(), col.size());
  file.write(values.data(), values.size());
  file.close();
}

} // namespace bench
