/*
  fold_paper.hpp - the parts of fold_paper: competing kernels in single and double precision, and their measurement
*/
#ifndef BENCH_FOLD_PAPER_HPP
#define BENCH_FOLD_PAPER_HPP

#include "device.cuh"
#include "results.hpp"

#include <functional>
#include <memory>

namespace bench
{

/* A matrix with values of type T, on host and device. The CSR it is made of must outlive it. */
template <class T>
struct TypedMatrix {
  TypedMatrix(const Csr &a, cudaStream_t stream_)
      : host(a), stream(stream_), host_values(a.values.size()), row_ptr(DeviceArray<std::int32_t>::copy_of(a.row_ptr)),
        col(DeviceArray<std::int32_t>::copy_of(a.col))
  {
    for (std::size_t k = 0; k < a.values.size(); k++) host_values[k] = static_cast<T>(a.values[k]);
    values = DeviceArray<T>::copy_of(host_values);
  }
  const Csr                &host;
  cudaStream_t              stream;
  Array<T>                  host_values;
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<T>            values;
};

template <class T>
class Rival
{
public:
  virtual ~Rival() = default;
  /* Enqueues y = A x on the stream of the matrix */
  virtual void mult(const T *x, T *y) = 0;

  std::int64_t matrix_bytes = 0;              /* values, indices and pointers that a product reads */
  Json         facts        = Json::object(); /* further facts for the results */
};

/* make returns null and a reason if the layout does not fit the matrix */
template <class T>
struct RivalMaker {
  std::string                                                                     name;
  std::function<std::unique_ptr<Rival<T>>(const TypedMatrix<T> &, std::string &)> make;
};

/* Format fold: as published (q = 1.5, layout=uniform), the same with x copied to table order first, and with automatic
   width; and its table without folding, which is a plain ELL */
template <class T>
std::vector<RivalMaker<T>> fold_rivals();

/* cuSPARSE CSR and sliced ELL, and jagged diagonals */
template <class T>
std::vector<RivalMaker<T>> other_rivals();

/* Rows, nonzeros, and the counts of the paper at q = 1.5: table rows and the length of the inner loop. Needs no GPU. */
Json count_table(const Csr &);

/* Checks all kernels against the host and times them in turns, in both precisions. Faults are kernels that failed. */
MatrixResult measure_rivals(const Csr &, cudaStream_t);

} // namespace bench
#endif
