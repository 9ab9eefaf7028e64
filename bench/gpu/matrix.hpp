/*
  matrix.hpp - the CSR matrices of the benchmark, on the host

  Every generator and reader makes such a matrix. No device is needed.
*/
#ifndef BENCH_MATRIX_HPP
#define BENCH_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace bench
{

/* Uninitialized memory, so that large matrices are first touched by the threads that fill them */
template <class T>
class Array
{
public:
  Array() = default;
  explicit Array(std::size_t size) : block_(static_cast<T *>(std::malloc(size * sizeof(T) + 1))), size_(size)
  {
    if (!block_) throw std::bad_alloc();
  }
  /* Takes over a block that was allocated by malloc() */
  static Array adopt(T *block, std::size_t size)
  {
    Array array;
    array.block_.reset(block);
    array.size_ = size;
    return array;
  }
  /* Gives the block away, to be freed by free() */
  T          *release() { return block_.release(); }
  T          *data() { return block_.get(); }
  const T    *data() const { return block_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T          &operator[](std::size_t i) { return block_[i]; }
  const T    &operator[](std::size_t i) const { return block_[i]; }
  T          *begin() { return data(); }
  T          *end() { return data() + size_; }
  const T    *begin() const { return data(); }
  const T    *end() const { return data() + size_; }

private:
  struct Free {
    void operator()(T *block) const { std::free(block); }
  };
  std::unique_ptr<T[], Free> block_;
  std::size_t                size_ = 0;
};

/* row_ptr has shape [rows+1], col and values [nnz]; columns of a row ascend strictly */
struct Csr {
  std::string         name;  /* in the results: family:size, or the file */
  std::string         group; /* the class; results are never averaged over classes */
  std::int64_t        rows = 0, cols = 0, nnz = 0;
  Array<std::int32_t> row_ptr, col;
  Array<double>       values;
};

/* Row lengths of a matrix */
struct RowStatistics {
  std::int64_t shortest = 0, longest = 0;
  double       mean = 0;
};
RowStatistics row_statistics(std::int64_t rows, const std::int32_t *row_ptr);

/* Throws std::runtime_error if row_ptr or col violate the invariants above */
void check_csr(const Csr &);

/* The most stored elements per nonzero; a padding layout that needs more is skipped */
constexpr double MAX_FILL = 4;

/* Bytes of a CSR matrix with 32-bit indices and double values */
inline std::int64_t csr_bytes(const Csr &a) { return 12 * a.nnz + 4 * (a.rows + 1); }

} // namespace bench
#endif
