/*
  peers_cusparse.cu - the products of cuSPARSE: CSR, COO, sliced ELL and BSR
*/
#include "cusparse_spmv.cuh"
#include "kernel.hpp"

namespace bench
{
namespace
{

constexpr double MAX_BSR = 1.5; /* the most stored elements per nonzero for which BSR is built */
constexpr int    BLOCK   = 256;

/* Writes the row number of each nonzero; 32 threads per row */
__global__ void expand_rows(std::int64_t rows, const std::int32_t *row_ptr, std::int32_t *row_of)
{
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;

  if (row >= rows) return;
  for (std::int32_t k = row_ptr[row] + static_cast<std::int32_t>(threadIdx.x % 32); k < row_ptr[row + 1]; k += 32)
    row_of[k] = static_cast<std::int32_t>(row);
}

unsigned grid_for(std::int64_t threads) { return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK); }

/* A kernel by cusparseSpMV; the derived class makes the matrix descriptor */
class SpmvKernel : public Kernel
{
public:
  SpmvKernel(const Problem &p, const char *kernel_name, cusparseSpMVAlg_t algorithm)
      : product_(p.stream, p.host.rows, p.host.cols, algorithm)
  {
    name = kernel_name;
  }
  void mult(double alpha, const double *x, double beta, double *y) override { product_.mult(alpha, x, beta, y); }

protected:
  SpmvProduct<double> product_;
};

class CsrKernel : public SpmvKernel
{
public:
  CsrKernel(const Problem &p, const char *kernel_name, cusparseSpMVAlg_t algorithm)
      : SpmvKernel(p, kernel_name, algorithm)
  {
    matrix_bytes = csr_bytes(p.host);
    product_.use(csr_descriptor(p.host, p.device.row_ptr, p.device.col, p.device.values), true, facts);
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
    cusparseSpMatDescr_t matrix;
    BENCH_CUSPARSE(cusparseCreateCoo(&matrix, p.host.rows, p.host.cols, p.host.nnz, row_of_.data(),
                                     writable(p.device.col), writable(p.device.values), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    matrix_bytes = 16 * p.host.nnz;
    product_.use(matrix, false, facts);
  }

private:
  DeviceArray<std::int32_t> row_of_;
};

class SellKernel : public SpmvKernel
{
public:
  SellKernel(const Problem &p, const char *kernel_name, const Slices &slices)
      : SpmvKernel(p, kernel_name, CUSPARSE_SPMV_SELL_ALG1),
        arrays_(p.host, slices, p.device.row_ptr, p.device.col, p.device.values, p.stream)
  {
    matrix_bytes  = arrays_.bytes();
    facts["fill"] = slices.fill();
    product_.use(arrays_.descriptor(p.host), false, facts);
  }

private:
  SlicedEll<double> arrays_;
};

/* The matrix in square blocks, for both interfaces of cuSPARSE */
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
  /* Counts the blocks; convert() is called only if there are not too many */
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

/* cusparseSpMV supports BSR since CUDA 13.0 update 1 */
#if CUSPARSE_VERSION >= 12603
  #define BENCH_GENERIC_BSR 1
class GenericBsrKernel : public SpmvKernel
{
public:
  GenericBsrKernel(const Problem &p, std::unique_ptr<Blocks> blocks)
      : SpmvKernel(p, "", CUSPARSE_SPMV_BSR_ALG1), blocks_(std::move(blocks))
  {
    const auto           order = blocks_->direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    cusparseSpMatDescr_t matrix;
    BENCH_CUSPARSE(cusparseCreateBsr(&matrix, blocks_->rows, blocks_->cols, blocks_->count, blocks_->size,
                                     blocks_->size, blocks_->row_ptr.data(), blocks_->col.data(),
                                     blocks_->values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, order));
    product_.use(matrix, false, facts);
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
            const Slices slices(p.host);
            if (!slices.fit(MAX_FILL)) {
              reason = "fill " + std::to_string(slices.fill());
              return nullptr;
            }
            return std::make_unique<SellKernel>(p, name, slices);
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
