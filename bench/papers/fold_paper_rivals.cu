/*
  fold_paper_rivals.cu - the rivals of format fold: cuSPARSE CSR, cuSPARSE sliced ELL, and jagged diagonals
*/
#include "cusparse_spmv.cuh"
#include "fold_paper.hpp"
#include "jagged.hpp"

namespace bench
{
namespace
{

constexpr int    BLOCK         = 256;
constexpr double MAX_SELL_FILL = 16; /* large, because some shapes have very uneven rows, and are small */

/* Replaces the JDS kernel of the paper's comparison. One thread per row, the longest rows first: neighbouring threads
   read neighbouring values and columns, read x through the read-only cache, and write y in the order of the matrix. */
template <class T>
__global__ void jagged_product(std::int64_t rows, std::int32_t diagonals, const std::int32_t *__restrict__ start,
                               const std::int32_t *__restrict__ col, const T *__restrict__ values,
                               const std::int32_t *__restrict__ row_of, const T *__restrict__ x, T *__restrict__ y)
{
  const std::int64_t r   = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  T                  sum = 0;

  if (r >= rows) return;
  for (std::int32_t d = 0; d < diagonals && r < start[d + 1] - start[d]; d++) {
    const std::int64_t k = start[d] + r;
    sum += values[k] * x[col[k]];
  }
  y[row_of[r]] = sum;
}

template <class T>
class JaggedRival : public Rival<T>
{
public:
  JaggedRival(const TypedMatrix<T> &m, const Jagged &j)
      : rows_(j.rows), diagonals_(static_cast<std::int32_t>(j.diagonals)), stream_(m.stream),
        row_of_(DeviceArray<std::int32_t>::copy_of(j.row_of)), start_(DeviceArray<std::int32_t>::copy_of(j.start)),
        col_(DeviceArray<std::int32_t>::copy_of(j.col))
  {
    Array<T> values(j.position.size());

    for (std::size_t k = 0; k < values.size(); k++) values[k] = m.host_values[j.position[k]];
    values_ = DeviceArray<T>::copy_of(values);
    this->matrix_bytes =
        static_cast<std::int64_t>((4 + sizeof(T)) * values.size() + 4 * (j.start.size() + j.row_of.size()));
  }
  void mult(const T *x, T *y) override
  {
    jagged_product<T><<<static_cast<unsigned>((rows_ + BLOCK - 1) / BLOCK), BLOCK, 0, stream_>>>(
        rows_, diagonals_, start_.data(), col_.data(), values_.data(), row_of_.data(), x, y);
    BENCH_CUDA(cudaGetLastError());
  }

private:
  std::int64_t              rows_;
  std::int32_t              diagonals_;
  cudaStream_t              stream_;
  DeviceArray<std::int32_t> row_of_, start_, col_;
  DeviceArray<T>            values_;
};

template <class T>
class CsrRival : public Rival<T>
{
public:
  CsrRival(const TypedMatrix<T> &m, cusparseSpMVAlg_t algorithm)
      : product_(m.stream, m.host.rows, m.host.cols, algorithm)
  {
    this->matrix_bytes = static_cast<std::int64_t>(4 + sizeof(T)) * m.host.nnz + 4 * (m.host.rows + 1);
    product_.use(csr_descriptor(m.host, m.row_ptr, m.col, m.values), true, this->facts);
  }
  void mult(const T *x, T *y) override { product_.mult(1, x, 0, y); }

private:
  SpmvProduct<T> product_;
};

template <class T>
class SellRival : public Rival<T>
{
public:
  SellRival(const TypedMatrix<T> &m, const Slices &slices)
      : arrays_(m.host, slices, m.row_ptr, m.col, m.values, m.stream),
        product_(m.stream, m.host.rows, m.host.cols, CUSPARSE_SPMV_SELL_ALG1)
  {
    this->matrix_bytes  = arrays_.bytes();
    this->facts["fill"] = slices.fill();
    product_.use(arrays_.descriptor(m.host), false, this->facts);
  }
  void mult(const T *x, T *y) override { product_.mult(1, x, 0, y); }

private:
  SlicedEll<T>   arrays_;
  SpmvProduct<T> product_;
};

template <class T>
RivalMaker<T> csr_maker(const char *name, cusparseSpMVAlg_t algorithm)
{
  return {name, [algorithm](const TypedMatrix<T> &m, std::string &) -> std::unique_ptr<Rival<T>> {
            return std::make_unique<CsrRival<T>>(m, algorithm);
          }};
}

template <class T>
std::unique_ptr<Rival<T>> make_sell(const TypedMatrix<T> &m, std::string &reason)
{
  const Slices slices(m.host);

  if (slices.fit(MAX_SELL_FILL)) return std::make_unique<SellRival<T>>(m, slices);
  reason = "fill " + std::to_string(slices.fill());
  return nullptr;
}

template <class T>
std::unique_ptr<Rival<T>> make_jds(const TypedMatrix<T> &m, std::string &)
{
  return std::make_unique<JaggedRival<T>>(m, make_jagged(m.host));
}

} // namespace

template <class T>
std::vector<RivalMaker<T>> other_rivals()
{
  return {csr_maker<T>("cusparse_csr_alg1", CUSPARSE_SPMV_CSR_ALG1),
          csr_maker<T>("cusparse_csr_alg2", CUSPARSE_SPMV_CSR_ALG2),
          {"cusparse_sell32", make_sell<T>},
          {"jds", make_jds<T>}};
}
template std::vector<RivalMaker<float>>  other_rivals<float>();
template std::vector<RivalMaker<double>> other_rivals<double>();

} // namespace bench
