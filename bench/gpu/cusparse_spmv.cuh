/*
  cusparse_spmv.cuh - products by cusparseSpMV in single or double precision, and the conversion to its sliced ELL

  Each product has its own descriptors and external buffer, because a shared buffer would be overwritten. Vectors may
  differ from call to call, so their addresses are set before each product.
*/
#ifndef BENCH_CUSPARSE_SPMV_CUH
#define BENCH_CUSPARSE_SPMV_CUH

#include "device.cuh"

#include <cusparse.h>

#include <algorithm>
#include <type_traits>

namespace bench
{

constexpr int SLICE = 32;

inline void cusparse_check(cusparseStatus_t status, const char *what)
{
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(status));
}
#define BENCH_CUSPARSE(call) ::bench::cusparse_check((call), #call)

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

/* cusparseSpMV with one matrix descriptor */
template <class T>
class SpmvProduct
{
public:
  static constexpr cudaDataType TYPE = std::is_same<T, float>::value ? CUDA_R_32F : CUDA_R_64F;

  SpmvProduct(cudaStream_t stream, std::int64_t rows, std::int64_t cols, cusparseSpMVAlg_t algorithm)
      : handle_(stream), algorithm_(algorithm), dummy_(1)
  {
    BENCH_CUSPARSE(cusparseCreateDnVec(&x_, cols, dummy_.data(), TYPE));
    BENCH_CUSPARSE(cusparseCreateDnVec(&y_, rows, dummy_.data(), TYPE));
  }
  ~SpmvProduct()
  {
    if (matrix_) cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
  }
  SpmvProduct(const SpmvProduct &)            = delete;
  SpmvProduct &operator=(const SpmvProduct &) = delete;

  /* Takes over the descriptor; allocates the external buffer, and runs the analysis if with_preprocess. Adds to
     facts. */
  void use(cusparseSpMatDescr_t matrix, bool with_preprocess, Json &facts)
  {
    const T     one = 1, zero = 0;
    std::size_t bytes = 0;

    matrix_ = matrix;
    BENCH_CUSPARSE(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, x_, &zero, y_,
                                           TYPE, algorithm_, &bytes));
    buffer_               = DeviceArray<char>(bytes);
    facts["buffer_bytes"] = static_cast<std::int64_t>(bytes);
#if CUSPARSE_VERSION >= 12301
    if (with_preprocess) {
      const double seconds   = wall_seconds_of([&] {
        BENCH_CUSPARSE(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, x_, &zero, y_,
                                                 TYPE, algorithm_, buffer_.data()));
      });
      facts["preprocess_us"] = seconds * 1e6;
    }
#endif
  }
  void mult(T alpha, const T *x, T beta, T *y)
  {
    BENCH_CUSPARSE(cusparseDnVecSetValues(x_, const_cast<T *>(x)));
    BENCH_CUSPARSE(cusparseDnVecSetValues(y_, y));
    BENCH_CUSPARSE(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_, x_, &beta, y_, TYPE,
                                algorithm_, buffer_.data()));
  }

private:
  Handle               handle_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  cusparseSpMVAlg_t    algorithm_;
  DeviceArray<char>    buffer_;
  DeviceArray<T>       dummy_; /* descriptors need an address from the beginning */
};

/* cuSPARSE takes pointers to read-only data without const */
template <class T>
void *writable(const DeviceArray<T> &a)
{
  return const_cast<T *>(a.data());
}

template <class T>
cusparseSpMatDescr_t csr_descriptor(const Csr &host, const DeviceArray<std::int32_t> &row_ptr,
                                    const DeviceArray<std::int32_t> &col, const DeviceArray<T> &values)
{
  cusparseSpMatDescr_t r;

  BENCH_CUSPARSE(cusparseCreateCsr(&r, host.rows, host.cols, host.nnz, writable(row_ptr), writable(col),
                                   writable(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                   SpmvProduct<T>::TYPE));
  return r;
}

/* One thread per row; slices are stored column by column; padding has column -1, as cuSPARSE requires */
template <class T>
__global__ void fill_slices(std::int64_t rows, const std::int32_t *row_ptr, const std::int32_t *col, const T *values,
                            const std::int32_t *slice_ptr, std::int32_t *slice_col, T *slice_values)
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

/* The slices of a matrix, with rows in their original order */
class Slices
{
public:
  explicit Slices(const Csr &a)
      : count_((a.rows + SLICE - 1) / SLICE), nnz_(a.nnz), offset_(static_cast<std::size_t>(count_) + 1)
  {
    offset_[0] = 0;
    for (std::int64_t s = 0; s < count_; s++) {
      std::int32_t width = 0;
      for (std::int64_t i = s * SLICE; i < std::min((s + 1) * SLICE, a.rows); i++)
        width = std::max(width, a.row_ptr[i + 1] - a.row_ptr[i]);
      offset_[s + 1] = offset_[s] + static_cast<std::int64_t>(width) * SLICE;
    }
  }
  std::int64_t count() const { return count_; }
  std::int64_t stored() const { return offset_[count_]; }
  double       fill() const { return static_cast<double>(stored()) / static_cast<double>(nnz_); }
  bool         fit(double max_fill) const { return fill() <= max_fill && stored() <= INT32_MAX; }
  /* Shape [count+1], in stored elements, which must fit 32 bits */
  Array<std::int32_t> offsets() const
  {
    Array<std::int32_t> narrow(offset_.size());
    std::copy(offset_.begin(), offset_.end(), narrow.begin());
    return narrow;
  }

private:
  std::int64_t        count_, nnz_;
  Array<std::int64_t> offset_;
};

/* The arrays of a sliced ELL on the device */
template <class T>
class SlicedEll
{
public:
  SlicedEll(const Csr &host, const Slices &slices, const DeviceArray<std::int32_t> &row_ptr,
            const DeviceArray<std::int32_t> &col, const DeviceArray<T> &values, cudaStream_t stream)
      : slice_ptr_(DeviceArray<std::int32_t>::copy_of(slices.offsets())),
        col_(static_cast<std::size_t>(slices.stored())), values_(static_cast<std::size_t>(slices.stored()))
  {
    constexpr int BLOCK = 256;
    const auto    grid  = static_cast<unsigned>((slices.count() * SLICE + BLOCK - 1) / BLOCK);
    fill_slices<T><<<grid, BLOCK, 0, stream>>>(host.rows, row_ptr.data(), col.data(), values.data(), slice_ptr_.data(),
                                               col_.data(), values_.data());
    BENCH_CUDA(cudaGetLastError());
  }
  cusparseSpMatDescr_t descriptor(const Csr &host)
  {
    cusparseSpMatDescr_t r;

    BENCH_CUSPARSE(cusparseCreateSlicedEll(&r, host.rows, host.cols, host.nnz, static_cast<std::int64_t>(col_.size()),
                                           SLICE, slice_ptr_.data(), col_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, SpmvProduct<T>::TYPE));
    return r;
  }
  std::int64_t bytes() const
  {
    return static_cast<std::int64_t>(col_.size() * (4 + sizeof(T)) + 4 * slice_ptr_.size());
  }

private:
  DeviceArray<std::int32_t> slice_ptr_, col_;
  DeviceArray<T>            values_;
};

} // namespace bench
#endif
