/*
  peers_cusparse.cu - the products of cuSPARSE: CSR, COO, sliced ELL and BSR

  Each kernel has its own descriptors and its own external buffer: a buffer that two of them share is overwritten.
  Vectors differ from call to call, so their descriptors are pointed at them before each product.
*/
#include "kernel.hpp"
#include "rows.hpp"

#include <cusparse.h>

namespace bench
{
namespace
{

constexpr int    SLICE    = 32;
constexpr double MAX_FILL = 4;   /* stored over nonzeros: beyond it sliced ELL is not built */
constexpr double MAX_BSR  = 1.5; /* the same for BSR */
constexpr int    BLOCK    = 256;

void cusparse_check(cusparseStatus_t status, const char *what)
{
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(status));
}
#define BENCH_CUSPARSE(call) cusparse_check((call), #call)

/* Row numbers of all nonzeros; 32 threads a row */
__global__ void expand_rows(std::int64_t rows, const std::int32_t *row_ptr, std::int32_t *row_of)
{
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;

  if (row >= rows) return;
  for (std::int32_t k = row_ptr[row] + static_cast<std::int32_t>(threadIdx.x % 32); k < row_ptr[row + 1]; k += 32)
    row_of[k] = static_cast<std::int32_t>(row);
}

/* One thread a row, its slice column by column; columns of padding are -1 as cuSPARSE wants them */
__global__ void fill_slices(std::int64_t rows, const std::int32_t *row_ptr, const std::int32_t *col,
                            const double *values, const std::int32_t *slice_ptr, std::int32_t *slice_col,
                            double *slice_values)
{
  const std::int64_t row   = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  const std::int64_t slice = row / SLICE;

  if (slice * SLICE >= rows) return;
  const std::int32_t begin = row < rows ? row_ptr[row] : 0, length = row < rows ? row_ptr[row + 1] - begin : 0;
  const std::int32_t width = (slice_ptr[slice + 1] - slice_ptr[slice]) / SLICE;
  std::int64_t       to    = slice_ptr[slice] + row % SLICE;
  for (std::int32_t k = 0; k < width; k++, to += SLICE) {
    slice_col[to]    = k < length ? col[begin + k] : -1;
    slice_values[to] = k < length ? values[begin + k] : 0;
  }
}

unsigned grid_for(std::int64_t threads) { return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK); }

/* A library handle that lives as long as the kernel */
class Handle
{
public:
  explicit Handle(cudaStream_t stream)
  {
    BENCH_CUSPARSE(cusparseCreate(&handle_));
    BENCH_CUSPARSE(cusparseSetStream(handle_, stream));
  }
  ~Handle() { cusparseDestroy(handle_); }
  Handle(const Handle &)            = delete;
  Handle &operator=(const Handle &) = delete;
          operator cusparseHandle_t() const { return handle_; }

private:
  cusparseHandle_t handle_ = nullptr;
};

/* cusparseSpMV with one matrix descriptor, which the derived class makes */
class SpmvKernel : public Kernel
{
public:
  SpmvKernel(const Problem &p, const char *kernel_name, cusparseSpMVAlg_t algorithm)
      : handle_(p.stream), algorithm_(algorithm)
  {
    name   = kernel_name;
    dummy_ = DeviceArray<double>(1);
    BENCH_CUSPARSE(cusparseCreateDnVec(&x_, p.host.cols, dummy_.data(), CUDA_R_64F));
    BENCH_CUSPARSE(cusparseCreateDnVec(&y_, p.host.rows, dummy_.data(), CUDA_R_64F));
  }
  ~SpmvKernel() override
  {
    if (matrix_) cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
  }
  void mult(double alpha, const double *x, double beta, double *y) override
  {
    BENCH_CUSPARSE(cusparseDnVecSetValues(x_, const_cast<double *>(x)));
    BENCH_CUSPARSE(cusparseDnVecSetValues(y_, y));
    BENCH_CUSPARSE(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_, x_, &beta, y_, CUDA_R_64F,
                                algorithm_, buffer_.data()));
  }

protected:
  /* The external buffer, and the analysis where the format has one */
  void prepare(bool with_preprocess)
  {
    const double one = 1, zero = 0;
    std::size_t  bytes = 0;

    BENCH_CUSPARSE(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, x_, &zero, y_,
                                           CUDA_R_64F, algorithm_, &bytes));
    buffer_               = DeviceArray<char>(bytes);
    facts["buffer_bytes"] = static_cast<std::int64_t>(bytes);
#if CUSPARSE_VERSION >= 12301
    if (with_preprocess) {
      const double seconds   = wall_seconds_of([&] {
        BENCH_CUSPARSE(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, x_, &zero, y_,
                                                 CUDA_R_64F, algorithm_, buffer_.data()));
      });
      facts["preprocess_us"] = seconds * 1e6;
    }
#endif
  }
  Handle               handle_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  cusparseSpMVAlg_t    algorithm_;
  DeviceArray<char>    buffer_;
  DeviceArray<double>  dummy_; /* descriptors want an address before there is a vector */
};

/* cuSPARSE takes pointers to data that a product only reads without const */
template <class T>
void *writable(const DeviceArray<T> &a)
{
  return const_cast<T *>(a.data());
}

class CsrKernel : public SpmvKernel
{
public:
  CsrKernel(const Problem &p, const char *kernel_name, cusparseSpMVAlg_t algorithm)
      : SpmvKernel(p, kernel_name, algorithm)
  {
    BENCH_CUSPARSE(cusparseCreateCsr(&matrix_, p.host.rows, p.host.cols, p.host.nnz, writable(p.device.row_ptr),
                                     writable(p.device.col), writable(p.device.values), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    matrix_bytes = csr_bytes(p.host);
    prepare(true);
  }
};

class CooKernel : public SpmvKernel
{
public:
  CooKernel(const Problem &p, const char *kernel_name, cusparseSpMVAlg_t algorithm)
      : SpmvKernel(p, kernel_name, algorithm), row_of_(static_cast<std::size_t>(p.host.nnz))
  {
    expand_rows<<<grid_for(32 * p.host.rows), BLOCK, 0, p.stream>>>(p.host.rows, p.device.row_ptr.data(),
                                                                    row_of_.data());
    BENCH_CUDA(cudaGetLastError());
    BENCH_CUSPARSE(cusparseCreateCoo(&matrix_, p.host.rows, p.host.cols, p.host.nnz, row_of_.data(),
                                     writable(p.device.col), writable(p.device.values), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    matrix_bytes = 16 * p.host.nnz;
    prepare(false);
  }

private:
  DeviceArray<std::int32_t> row_of_;
};

/* Offsets of the slices, in stored elements: shape [slices+1] */
Array<std::int64_t> slice_offsets(const Csr &a)
{
  const std::int64_t  slices = (a.rows + SLICE - 1) / SLICE;
  Array<std::int64_t> r(static_cast<std::size_t>(slices) + 1);

  r[0] = 0;
  for (std::int64_t s = 0; s < slices; s++) {
    std::int32_t width = 0;
    for (std::int64_t i = s * SLICE; i < std::min((s + 1) * SLICE, a.rows); i++)
      width = std::max(width, a.row_ptr[i + 1] - a.row_ptr[i]);
    r[s + 1] = r[s] + static_cast<std::int64_t>(width) * SLICE;
  }
  return r;
}

class SellKernel : public SpmvKernel
{
public:
  SellKernel(const Problem &p, const char *kernel_name, const Array<std::int64_t> &offsets)
      : SpmvKernel(p, kernel_name, CUSPARSE_SPMV_SELL_ALG1)
  {
    const std::int64_t  stored = offsets[offsets.size() - 1], slices = static_cast<std::int64_t>(offsets.size()) - 1;
    Array<std::int32_t> narrow(offsets.size());
    std::copy(offsets.begin(), offsets.end(), narrow.begin());
    slice_ptr_ = DeviceArray<std::int32_t>::copy_of(narrow);
    col_       = DeviceArray<std::int32_t>(static_cast<std::size_t>(stored));
    values_    = DeviceArray<double>(static_cast<std::size_t>(stored));
    fill_slices<<<grid_for(slices * SLICE), BLOCK, 0, p.stream>>>(p.host.rows, p.device.row_ptr.data(),
                                                                  p.device.col.data(), p.device.values.data(),
                                                                  slice_ptr_.data(), col_.data(), values_.data());
    BENCH_CUDA(cudaGetLastError());
    BENCH_CUSPARSE(cusparseCreateSlicedEll(&matrix_, p.host.rows, p.host.cols, p.host.nnz, stored, SLICE,
                                           slice_ptr_.data(), col_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    matrix_bytes  = 12 * stored + 4 * (slices + 1);
    facts["fill"] = static_cast<double>(stored) / static_cast<double>(p.host.nnz);
    prepare(false);
  }

private:
  DeviceArray<std::int32_t> slice_ptr_, col_;
  DeviceArray<double>       values_;
};

/* The matrix in square blocks, as both interfaces of cuSPARSE read it */
struct Blocks {
  int                       size, rows, cols, count = 0;
  cusparseDirection_t       direction;
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<double>       values;
  cusparseMatDescr_t        description = nullptr;

  Blocks(const Problem &p, int size_, cusparseDirection_t direction_)
      : size(size_), rows(static_cast<int>(p.host.rows / size_)), cols(static_cast<int>(p.host.cols / size_)),
        direction(direction_), row_ptr(static_cast<std::size_t>(p.host.rows / size_) + 1)
  {
    BENCH_CUSPARSE(cusparseCreateMatDescr(&description));
  }
  ~Blocks() { cusparseDestroyMatDescr(description); }
  double fill(std::int64_t nnz) const { return static_cast<double>(count) * size * size / static_cast<double>(nnz); }
  /* Counts the blocks; they are made by convert() only when they are not too many */
  void analyze(const Problem &p, cusparseHandle_t handle)
  {
    BENCH_CUSPARSE(cusparseXcsr2bsrNnz(handle, direction, static_cast<int>(p.host.rows), static_cast<int>(p.host.cols),
                                       description, p.device.row_ptr.data(), p.device.col.data(), size, description,
                                       row_ptr.data(), &count));
    BENCH_CUDA(cudaDeviceSynchronize());
  }
  void convert(const Problem &p, cusparseHandle_t handle)
  {
    col    = DeviceArray<std::int32_t>(static_cast<std::size_t>(count));
    values = DeviceArray<double>(static_cast<std::size_t>(count) * size * size);
    BENCH_CUSPARSE(cusparseDcsr2bsr(handle, direction, static_cast<int>(p.host.rows), static_cast<int>(p.host.cols),
                                    description, p.device.values.data(), p.device.row_ptr.data(), p.device.col.data(),
                                    size, description, values.data(), row_ptr.data(), col.data()));
    BENCH_CUDA(cudaDeviceSynchronize());
  }
  std::int64_t bytes() const
  {
    return static_cast<std::int64_t>(count) * (8 * size * size + 4) + 4 * (static_cast<std::int64_t>(rows) + 1);
  }
};

class LegacyBsrKernel : public Kernel
{
public:
  LegacyBsrKernel(const Problem &p, std::unique_ptr<Blocks> blocks) : handle_(p.stream), blocks_(std::move(blocks)) {}
  void mult(double alpha, const double *x, double beta, double *y) override
  {
    BENCH_CUSPARSE(cusparseDbsrmv(handle_, blocks_->direction, CUSPARSE_OPERATION_NON_TRANSPOSE, blocks_->rows,
                                  blocks_->cols, blocks_->count, &alpha, blocks_->description, blocks_->values.data(),
                                  blocks_->row_ptr.data(), blocks_->col.data(), blocks_->size, x, &beta, y));
  }

private:
  Handle                  handle_;
  std::unique_ptr<Blocks> blocks_;
};

/* BSR through cusparseSpMV came with update 1 of CUDA 13.0 */
#if CUSPARSE_VERSION >= 12603
  #define BENCH_GENERIC_BSR 1
class GenericBsrKernel : public SpmvKernel
{
public:
  GenericBsrKernel(const Problem &p, std::unique_ptr<Blocks> blocks)
      : SpmvKernel(p, "", CUSPARSE_SPMV_BSR_ALG1), blocks_(std::move(blocks))
  {
    const auto order = blocks_->direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    BENCH_CUSPARSE(cusparseCreateBsr(&matrix_, blocks_->rows, blocks_->cols, blocks_->count, blocks_->size,
                                     blocks_->size, blocks_->row_ptr.data(), blocks_->col.data(),
                                     blocks_->values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, order));
    prepare(false);
  }

private:
  std::unique_ptr<Blocks> blocks_;
};
#endif

std::unique_ptr<Kernel> make_bsr(const Problem &p, int size, cusparseDirection_t direction, bool generic,
                                 const std::string &name, std::string &reason)
{
  if (p.host.rows % size || p.host.cols % size) {
    reason = "the matrix does not divide into blocks";
    return nullptr;
  }
  const Handle handle(p.stream);
  auto         blocks = std::make_unique<Blocks>(p, size, direction);
  blocks->analyze(p, handle);
  const double fill = blocks->fill(p.host.nnz);
  if (fill > MAX_BSR) {
    reason = "fill " + std::to_string(fill);
    return nullptr;
  }
  blocks->convert(p, handle);
  const std::int64_t      bytes = blocks->bytes();
  std::unique_ptr<Kernel> kernel;
#ifdef BENCH_GENERIC_BSR
  if (generic) kernel = std::make_unique<GenericBsrKernel>(p, std::move(blocks));
#endif
  if (!generic) kernel = std::make_unique<LegacyBsrKernel>(p, std::move(blocks));
  kernel->name          = name;
  kernel->matrix_bytes  = bytes;
  kernel->facts["fill"] = fill;
  return kernel;
}

template <class Made>
KernelMaker maker(const char *name, cusparseSpMVAlg_t algorithm)
{
  return {name, [=](const Problem &p, std::string &) { return std::make_unique<Made>(p, name, algorithm); }};
}

KernelMaker sell_maker(const char *name)
{
  return {name, [=](const Problem &p, std::string &reason) -> std::unique_ptr<Kernel> {
            const auto   offsets = slice_offsets(p.host);
            const auto   stored  = offsets[offsets.size() - 1];
            const double fill    = static_cast<double>(stored) / static_cast<double>(p.host.nnz);
            if (fill > MAX_FILL || stored > INT32_MAX) {
              reason = "fill " + std::to_string(fill);
              return nullptr;
            }
            return std::make_unique<SellKernel>(p, name, offsets);
          }};
}

} // namespace

std::vector<KernelMaker> cusparse_peers()
{
  std::vector<KernelMaker> r;

  r.push_back(maker<CsrKernel>("cusparse_csr_alg1", CUSPARSE_SPMV_CSR_ALG1));
  r.push_back(maker<CsrKernel>("cusparse_csr_alg2", CUSPARSE_SPMV_CSR_ALG2));
  r.push_back(sell_maker("cusparse_sell32"));
  r.push_back(maker<CooKernel>("cusparse_coo_alg1", CUSPARSE_SPMV_COO_ALG1));
  r.push_back(maker<CooKernel>("cusparse_coo_alg2", CUSPARSE_SPMV_COO_ALG2));
  for (int size = 2; size <= 3; size++)
    for (const bool by_row : {true, false})
      for (const bool generic : {false, true}) {
#ifndef BENCH_GENERIC_BSR
        if (generic) continue;
#endif
        const std::string name = std::string("cusparse_bsr") + std::to_string(size) + (by_row ? "_row" : "_column") +
                                 (generic ? "" : "_legacy");
        const auto direction = by_row ? CUSPARSE_DIRECTION_ROW : CUSPARSE_DIRECTION_COLUMN;
        r.push_back({name, [=](const Problem &p, std::string &reason) {
                       return make_bsr(p, size, direction, generic, name, reason);
                     }});
      }
  return r;
}

} // namespace bench
