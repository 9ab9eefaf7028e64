/* Tests of the operations through NCCL with a replacement of its library (tests/nccl), which works on the emulated
   device only. Other builds test only the message about a missing library: without a GPU NCCL cannot run, and with one
   it needs several. */
#include "unit.h"
#include "unit_plan.h"
#include <spmv_nccl.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, GHOSTS = 5 };

UNIT_TEST(nccl_that_is_not_there_is_named)
{
  SpmvExec exec = unit_device_exec();
  int      version;

  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_nccl_load("/no/such/libnccl.so", &version, &exec));
  UNIT_EQUAL(0, version);
  UNIT_CONTAINS(spmv_device_count(NULL) ? "/no/such/libnccl.so" : "CUDA", exec.message);
}

#ifdef FAKE_LIBRARIES

UNIT_TEST(nccl_that_does_not_serve_is_refused)
{
  SpmvExec exec = unit_device_exec();
  int      version;

  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_nccl_load(FAKE_LIBRARIES "/libfake_nccl_without.so", &version, &exec));
  UNIT_CONTAINS("has no function ncclCommAbort()", exec.message);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_nccl_load(FAKE_LIBRARIES "/libfake_nccl_old.so", &version, &exec));
  UNIT_EQUAL(21701, version);
  UNIT_CONTAINS("version number 21701", exec.message);
  setenv("SPMV_FAKE_NCCL_FAIL", "ncclGetVersion", 1);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_nccl_load(FAKE_LIBRARIES "/libfake_nccl.so", &version, &exec));
  UNIT_CONTAINS("a fault that was asked for", exec.message);
  unsetenv("SPMV_FAKE_NCCL_FAIL");
}

/* A communicator of one process, which is its own neighbour */
typedef struct {
  SpmvExec     exec;
  SpmvNccl    *nccl;
  SpmvNcclHalo halo;
  double       x[N], *there, *ghosts;
  int32_t      index[GHOSTS];
  int64_t      first[2];
  int          rank;
} Alone;

static void open_alone(Alone *a)
{
  char id[SPMV_NCCL_ID_BYTES];
  int  version;

  memset(a, 0, sizeof *a);
  a->exec     = unit_device_exec();
  a->first[1] = GHOSTS;
  for (int i = 0; i < N; i++) a->x[i] = i + 0.5;
  for (int i = 0; i < GHOSTS; i++) a->index[i] = (5 * i + 3) % N;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_load(FAKE_LIBRARIES "/libfake_nccl.so", &version, &a->exec));
  UNIT_EQUAL(22800, version);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_id(id, &a->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_create(id, 0, 1, 30, &a->exec, &a->nccl));
  const SpmvNeighbours self = {1, &a->rank, a->first};
  a->halo                   = (SpmvNcclHalo){SPMV_F64, unit_on_device(&a->exec, a->index, sizeof a->index),
                                             unit_on_device(&a->exec, a->x, sizeof a->x), self, self};
  a->there                  = unit_on_device(&a->exec, a->x, sizeof a->x);
  a->ghosts                 = unit_on_device(&a->exec, a->x, GHOSTS * sizeof *a->x);
}

static void close_alone(Alone *a)
{
  void *const block[] = {(void *)(uintptr_t)a->halo.index, a->halo.packed, a->there, a->ghosts};

  for (int i = 0; i < 4; i++) spmv_exec_free(&a->exec, SPMV_DEVICE, block[i]);
  spmv_nccl_destroy(&a->nccl);
  UNIT_CHECK(!a->nccl);
}

static void check_ghosts(Alone *a)
{
  double got[GHOSTS];

  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got, SPMV_HOST, a->ghosts, SPMV_DEVICE, sizeof got, &a->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&a->exec));
  for (int i = 0; i < GHOSTS; i++) UNIT_CHECK(got[i] == a->x[a->index[i]]);
}

UNIT_TEST(nccl_exchanges_and_adds)
{
  Alone        a;
  double       got[N];
  SpmvNcclHalo none = {.scalar_type = SPMV_F64};

  open_alone(&a);
  none.out.first = none.in.first = a.first;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_begin(a.nccl, &a.halo, a.there, a.ghosts, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_end(a.nccl, &a.halo, &a.exec));
  check_ghosts(&a);
  const SpmvNcclHalo back = {.scalar_type = SPMV_F64, .packed = a.there, .out = a.halo.in, .in = a.halo.out};
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_begin(a.nccl, &back, NULL, a.ghosts, &a.exec)); /* packs nothing */
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_end(a.nccl, &back, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got, SPMV_HOST, a.ghosts, SPMV_DEVICE, GHOSTS * sizeof *got, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&a.exec));
  UNIT_CHECK(!memcmp(got, a.x, GHOSTS * sizeof *got));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_begin(a.nccl, &none, a.there, a.ghosts, &a.exec)); /* no neighbours */
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_end(a.nccl, &none, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_add(a.nccl, a.there, N, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got, SPMV_HOST, a.there, SPMV_DEVICE, sizeof got, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&a.exec));
  UNIT_CHECK(!memcmp(got, a.x, sizeof got)); /* the sum of one process is its own number */
  close_alone(&a);
}

/* The message names the function that failed, and the call can be repeated */
UNIT_TEST(nccl_names_what_failed)
{
  char  id[SPMV_NCCL_ID_BYTES];
  Alone a;

  open_alone(&a);
  setenv("SPMV_FAKE_NCCL_FAIL", "ncclGetUniqueId", 1);
  UNIT_EQUAL(SPMV_ERR_DEVICE, spmv_nccl_id(id, &a.exec));
  UNIT_CONTAINS("ncclGetUniqueId() of NCCL: a fault", a.exec.message);
  unsetenv("SPMV_FAKE_NCCL_FAIL");
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_id(id, &a.exec));
  setenv("SPMV_FAKE_NCCL_FAIL", "ncclCommInitRank", 1);
  SpmvNccl *other;
  UNIT_EQUAL(SPMV_ERR_DEVICE, spmv_nccl_create(id, 0, 1, 30, &a.exec, &other));
  UNIT_CHECK(!other);
  UNIT_CONTAINS("ncclCommInitRank() of NCCL: a fault", a.exec.message);
  setenv("SPMV_FAKE_NCCL_FAIL", "ncclAllReduce", 1);
  UNIT_EQUAL(SPMV_ERR_DEVICE, spmv_nccl_add(a.nccl, a.there, N, &a.exec));
  UNIT_CONTAINS("ncclAllReduce() of NCCL", a.exec.message);
  const char *const message[] = {"ncclSend", "ncclRecv"};
  for (int i = 0; i < 2; i++) {
    setenv("SPMV_FAKE_NCCL_FAIL", message[i], 1);
    UNIT_EQUAL(SPMV_ERR_DEVICE, spmv_nccl_begin(a.nccl, &a.halo, a.there, a.ghosts, &a.exec));
    UNIT_CONTAINS("ncclSend() and ncclRecv() of NCCL", a.exec.message);
  }
  unsetenv("SPMV_FAKE_NCCL_FAIL");
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_begin(a.nccl, &a.halo, a.there, a.ghosts, &a.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_end(a.nccl, &a.halo, &a.exec));
  check_ghosts(&a);
  close_alone(&a);
}

/* After an asynchronous error, or without progress, the communicator is given up, and later calls say so */
UNIT_TEST(nccl_gives_up)
{
  for (int slow = 0; slow < 2; slow++) {
    Alone a;

    open_alone(&a);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_nccl_alive(a.nccl, 29, &a.exec));
    if (!slow) setenv("SPMV_FAKE_NCCL_FAIL", "asynchronous", 1);
    UNIT_EQUAL(SPMV_ERR_PEER, spmv_nccl_alive(a.nccl, slow ? 30 : 1, &a.exec));
    UNIT_CONTAINS(slow ? "no progress for 30 s" : "ncclCommGetAsyncError() of NCCL: a fault", a.exec.message);
    unsetenv("SPMV_FAKE_NCCL_FAIL");
    UNIT_EQUAL(SPMV_ERR_PEER, spmv_nccl_add(a.nccl, a.there, N, &a.exec));
    UNIT_CONTAINS("was given up", a.exec.message);
    UNIT_EQUAL(SPMV_ERR_PEER, spmv_nccl_begin(a.nccl, &a.halo, a.there, a.ghosts, &a.exec));
    close_alone(&a);
  }
}
#endif
