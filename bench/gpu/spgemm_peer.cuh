/*
  spgemm_peer.cuh - a product of two matrices by cuSPARSE, whose structure is reused for new values (SpGEMMreuse)
*/
#ifndef BENCH_SPGEMM_PEER_CUH
#define BENCH_SPGEMM_PEER_CUH

#include "cusparse_spmv.cuh"

namespace bench
{

/* A CSR matrix on the device, and its descriptor */
struct PeerMatrix {
  std::int64_t              rows = 0, cols = 0, nnz = 0;
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<double>       values;
  cusparseSpMatDescr_t      descriptor = nullptr;

  explicit PeerMatrix(const Csr &);
  PeerMatrix(std::int64_t rows, std::int64_t cols); /* empty: the result of a product */
  ~PeerMatrix() { cusparseDestroySpMat(descriptor); }
  PeerMatrix(const PeerMatrix &)            = delete;
  PeerMatrix &operator=(const PeerMatrix &) = delete;
};

class PeerProduct
{
public:
  PeerProduct(cudaStream_t, const PeerMatrix &a, const PeerMatrix &b, PeerMatrix &c);
  ~PeerProduct() { cusparseSpGEMM_destroyDescr(descriptor_); }
  PeerProduct(const PeerProduct &)            = delete;
  PeerProduct &operator=(const PeerProduct &) = delete;
  void         symbolic();
  void         numeric();

private:
  Handle                handle_;
  const PeerMatrix     &a_, &b_;
  PeerMatrix           &c_;
  cusparseSpGEMMDescr_t descriptor_ = nullptr;
  DeviceArray<char>     buffer_[5];
};

} // namespace bench
#endif
