/*
  spgemm_peer.cu - see spgemm_peer.cuh
*/
#include "spgemm_peer.cuh"

namespace bench
{
namespace
{
constexpr cusparseSpGEMMAlg_t ALGORITHM = CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC; /* the algorithm of SpGEMMreuse */
constexpr cusparseOperation_t PLAIN     = CUSPARSE_OPERATION_NON_TRANSPOSE;

cusparseSpMatDescr_t describe(std::int64_t rows, std::int64_t cols, std::int64_t nnz, void *row_ptr, void *col,
                              void *values)
{
  cusparseSpMatDescr_t descriptor;

  BENCH_CUSPARSE(cusparseCreateCsr(&descriptor, rows, cols, nnz, row_ptr, col, values, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  return descriptor;
}
} // namespace

PeerMatrix::PeerMatrix(const Csr &m)
    : rows(m.rows), cols(m.cols), nnz(m.nnz), row_ptr(DeviceArray<std::int32_t>::copy_of(m.row_ptr)),
      col(DeviceArray<std::int32_t>::copy_of(m.col)), values(DeviceArray<double>::copy_of(m.values)),
      descriptor(describe(rows, cols, nnz, row_ptr.data(), col.data(), values.data()))
{
}

PeerMatrix::PeerMatrix(std::int64_t rows_, std::int64_t cols_)
    : rows(rows_), cols(cols_), row_ptr(static_cast<std::size_t>(rows_) + 1),
      descriptor(describe(rows, cols, 0, row_ptr.data(), nullptr, nullptr))
{
}

PeerProduct::PeerProduct(cudaStream_t stream, const PeerMatrix &a, const PeerMatrix &b, PeerMatrix &c)
    : handle_(stream), a_(a), b_(b), c_(c)
{
  BENCH_CUSPARSE(cusparseSpGEMM_createDescr(&descriptor_));
}

void PeerProduct::symbolic()
{
  const cusparseSpMatDescr_t a = a_.descriptor, b = b_.descriptor, c = c_.descriptor;
  std::size_t                bytes[5];

  BENCH_CUSPARSE(
      cusparseSpGEMMreuse_workEstimation(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[0], nullptr));
  buffer_[0] = DeviceArray<char>(bytes[0]);
  BENCH_CUSPARSE(cusparseSpGEMMreuse_workEstimation(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[0],
                                                    buffer_[0].data()));
  BENCH_CUSPARSE(cusparseSpGEMMreuse_nnz(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[1], nullptr,
                                         &bytes[2], nullptr, &bytes[3], nullptr));
  for (int i = 1; i < 4; i++) buffer_[i] = DeviceArray<char>(bytes[i]);
  BENCH_CUSPARSE(cusparseSpGEMMreuse_nnz(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[1],
                                         buffer_[1].data(), &bytes[2], buffer_[2].data(), &bytes[3],
                                         buffer_[3].data()));
  buffer_[0] = DeviceArray<char>();
  buffer_[1] = DeviceArray<char>();
  BENCH_CUSPARSE(cusparseSpMatGetSize(c, &c_.rows, &c_.cols, &c_.nnz));
  c_.col    = DeviceArray<std::int32_t>(static_cast<std::size_t>(c_.nnz));
  c_.values = DeviceArray<double>(static_cast<std::size_t>(c_.nnz));
  BENCH_CUSPARSE(cusparseCsrSetPointers(c, c_.row_ptr.data(), c_.col.data(), c_.values.data()));
  BENCH_CUSPARSE(cusparseSpGEMMreuse_copy(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[4], nullptr));
  buffer_[4] = DeviceArray<char>(bytes[4]);
  BENCH_CUSPARSE(
      cusparseSpGEMMreuse_copy(handle_, PLAIN, PLAIN, a, b, c, ALGORITHM, descriptor_, &bytes[4], buffer_[4].data()));
  buffer_[2] = DeviceArray<char>();
}

void PeerProduct::numeric()
{
  const double one = 1, zero = 0;

  BENCH_CUSPARSE(cusparseSpGEMMreuse_compute(handle_, PLAIN, PLAIN, &one, a_.descriptor, b_.descriptor, &zero,
                                             c_.descriptor, CUDA_R_64F, ALGORITHM, descriptor_));
}

} // namespace bench
