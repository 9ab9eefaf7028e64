/* runtime.h - declarations that the files of the emulator share: the state of the emulated machine */
#ifndef SPMV_EMULATOR_RUNTIME_H
#define SPMV_EMULATOR_RUNTIME_H

#include "emulator.h"
#include "spmv_emulator.h"
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::vector<CUstream_st *>         streams; /* captured into it: the first, and those that joined */
};
struct CUgraphExec_st : CUgraph_st {
};
struct CUstream_st {
  CUgraph_st *captured = nullptr;
  int         device   = 0;
};
struct CUevent_st {
  CUgraph_st *captured = nullptr; /* the graph into which it was recorded */
  int         device   = 0;
  long        copies   = 0; /* the event has occurred when this number of delayed copies is done */
};

namespace spmv_emulator
{
struct DeviceBlock {
  char  *map;
  size_t map_bytes, bytes; /* mapped, without the guard page; as requested */
};

struct Machine {
  std::recursive_mutex              one_at_a_time;
  std::map<char *, DeviceBlock>     device;
  size_t                            used    = 0;
  unsigned                          kinds   = 0; /* the arguments of spmv_emulator_refuse() ... */
  long                              before  = -1;
  bool                              once    = false;
  long                              refused = 0, passed = 0; /* ... the number of failures since it was called ... */
  size_t                            again       = 0;         /* ... and the bytes of the allocation that failed last */
  long                              allocations = 0;         /* since the last spmv_emulator_allocations() */
  long                              held        = 0;         /* queries of events that answer "not ready" */
  int                               depth       = 0;         /* nested work */
  std::map<const char *, size_t>    pinned;                  /* blocks and their bytes */
  std::set<CUgraph_st *>            captures;                /* captures that have not ended */
  std::deque<std::function<void()>> late;                    /* delayed copies from pinned memory */
  long                              put_off = 0;             /* number of copies that were ever delayed */
  CUstream_st                       default_stream;
};

extern thread_local int                   current_device;
extern thread_local cudaStreamCaptureMode capture_mode;

Machine &machine();

inline CUstream_st *stream_of(cudaStream_t stream) { return stream ? stream : &machine().default_stream; }

/* Device memory is accessible while an object of this class lives */
class Opened
{
public:
  Opened();
  Opened(const Opened &)            = delete;
  Opened &operator=(const Opened &) = delete;
  ~Opened();
};

/* Does delayed copies: all, or until `copies` of them have been done since the program began */
void catch_up();
void catch_up(long copies);

/* Whether a capture forbids this thread to allocate or synchronize */
bool capturing();

/* The error with which a test lets this call fail, or cudaSuccess. The error is remembered for cudaGetLastError(), and
   the call must do nothing. kind: SPMV_POINT_...; bytes: of an allocation */
cudaError_t refused(unsigned kind, size_t bytes = 0);

void set_last_error(cudaError_t);

/* Remembers an error for cudaGetLastError(), and returns it */
cudaError_t result(cudaError_t);
} // namespace spmv_emulator
#endif
