/* What the files of the emulator share: the state of the machine that they play */
#ifndef SPMV_EMULATOR_RUNTIME_H
#define SPMV_EMULATOR_RUNTIME_H

#include "emulator.h"
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::vector<CUstream_st *>         streams; /* that are captured into it: the first, and those that joined */
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
  long        copies   = 0; /* that were late when it was recorded have come when it has */
};

namespace spmv_emulator
{
struct DeviceBlock {
  char  *map;
  size_t map_bytes, bytes; /* without the guard page; as asked for */
};

struct Machine {
  std::recursive_mutex              one_at_a_time;
  std::map<char *, DeviceBlock>     device;
  size_t                            used    = 0;
  long                              allowed = -1, refused = 0; /* allocations: see spmv_emulator.h */
  long                              calls       = -1;          /* that succeed before one fails: see there */
  bool                              call_failed = false;
  long                              held        = 0; /* queries of events that say "not ready" */
  int                               depth       = 0; /* nested work */
  std::map<const char *, size_t>    pinned;          /* blocks and their bytes */
  std::set<CUgraph_st *>            captures;        /* that have not ended */
  std::deque<std::function<void()>> late;            /* copies from pinned memory */
  long                              put_off = 0;     /* copies that ever were late */
  CUstream_st                       default_stream;
};

extern thread_local int                   current_device;
extern thread_local cudaStreamCaptureMode capture_mode;

Machine &machine();

inline CUstream_st *stream_of(cudaStream_t stream) { return stream ? stream : &machine().default_stream; }

/* Device memory is open while an object of this class lives */
class Opened
{
public:
  Opened();
  Opened(const Opened &)            = delete;
  Opened &operator=(const Opened &) = delete;
  ~Opened();
};

/* Does late copies: all, or until so many have been done since the machine began */
void catch_up();
void catch_up(long copies);

/* Whether what is forbidden during a capture is forbidden to this thread */
bool capturing();

/* Whether a test lets this call fail; then its error has been remembered, and the call must do nothing */
bool call_fails();

void set_last_error(cudaError_t);

/* Remembers an error, and returns it */
cudaError_t result(cudaError_t);
} // namespace spmv_emulator
#endif
