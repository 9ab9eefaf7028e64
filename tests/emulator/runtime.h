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

namespace spmv_emulator
{
struct Kernel;

/* Does work of a stream, or launches a kernel there. A step of a graph belongs to the stream in which that is launched. */
typedef std::function<void(cudaStream_t)> Step;

/* Work that has ended before a point of a stream or of the host: all work of the device up to number `all`, and that of
   each stream up to its number (order.cpp) */
struct Clock {
  long                all = 0;
  std::map<int, long> stream;
};
} // namespace spmv_emulator

struct CUgraph_st {
  std::vector<spmv_emulator::Step> steps;
  std::vector<CUstream_st *>       streams; /* captured into it: the first, and those that joined */
};
struct CUgraphExec_st : CUgraph_st {
};
struct CUstream_st {
  CUgraph_st          *captured = nullptr;
  int                  device   = 0;
  bool                 has_work = false; /* since the host has waited for it */
  int                  id       = number();
  spmv_emulator::Clock before; /* the work that has ended before its next work begins */
  static int           number();
};
struct CUevent_st {
  CUgraph_st          *captured = nullptr; /* the graph into which it was recorded */
  int                  device   = 0;
  long                 copies   = 0; /* the event has occurred when this number of delayed copies is done */
  spmv_emulator::Clock before;
};

namespace spmv_emulator
{
struct DeviceBlock {
  char  *map;
  size_t map_bytes, bytes;        /* mapped, without the guard page; as requested */
  bool   shared;                  /* of cudaMallocManaged(): the host may touch it */
  int    owner  = -1;             /* of a pool: the stream that took it, ... */
  long   taken  = 0;              /* ... the number of that work, ... */
  bool   closed = false;          /* ... whether it is inaccessible, because it is not of the stream that works, ... */
  std::map<int, long> users = {}; /* ... and the last work of other streams on it */
};

struct Machine {
  std::recursive_mutex           one_at_a_time;
  std::map<char *, DeviceBlock>  device;
  std::set<char *>               sealed; /* inaccessible pages within device blocks: see spmv_emulator_place() */
  bool                           open_to_host = false; /* whether the host may touch device memory: see stays_open() */
  size_t                         used         = 0;
  unsigned                       kinds        = 0; /* the arguments of spmv_emulator_refuse() ... */
  long                           before       = -1;
  bool                           once         = false;
  long                           refused = 0, passed = 0; /* ... the number of failures since it was called ... */
  size_t                         again       = 0;         /* ... and the bytes of the allocation that failed last */
  long                           allocations = 0;         /* since the last spmv_emulator_allocations() ... */
  long                           launches    = 0;         /* ... and likewise */
  long                           waits = 0, device_waits = 0;
  long                           grown = 0, page_locked = 0;
  long                           moved = 0;       /* shared blocks that the host has touched ... */
  std::map<size_t, long>         copies;          /* between device and host, by bytes */
  std::set<char *>               at_host;         /* ... those of them that the device has not touched since */
  long                           held  = 0;       /* queries of events that answer "not ready" */
  int                            depth = 0;       /* nested work */
  std::map<const char *, size_t> pinned;          /* blocks and their bytes */
  std::set<CUgraph_st *>         captures;        /* captures that have not ended */
  std::deque<std::function<void()>> late;         /* delayed copies from pinned memory */
  long                              put_off = 0;  /* number of copies that were ever delayed */
  long                              works   = 0;  /* number of works of all streams, ... */
  std::map<int, long>               last;         /* ... and the last one of each stream */
  Clock                             host;         /* the work for which the host has waited */
  std::vector<char *>               touched;      /* blocks of other streams that the working one has touched */
  std::set<int>                     worked = {0}; /* streams that have ever worked */
  CUstream_st                       default_stream;
  CUstream_st                      *working = &default_stream; /* whose work runs */
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

/* streams.cpp: counts a copy between device and host, for spmv_emulator_copies() */
void count_copy(size_t bytes);

/* Does delayed work: kernels, and all copies, or copies until `copies` of them have been done since the program began.
   When a copy is delayed, no kernel is. */
void catch_up();
void catch_up(long copies);

/* Does the work of all launched kernels */
void finish_kernels();

/* order.cpp: blocks of pools, and the order of the streams that use them. begin_work() counts work of a stream;
   working_now() says that it runs from now on; the host has waited for an event or a stream, or (NULL) for the device;
   touch(): whether an access to a closed block is one by other work than that of its stream, which may follow; taken()
   and freed(): a block, by a stream. A wrong order ends the program. */
void begin_work(CUstream_st *);
void working_now(cudaStream_t);
void host_waited(const Clock *);
void add(Clock *, const Clock &);
void settle();
bool touch(const void *);
void taken(void *block, CUstream_st *);
void freed(void *block, int stream, const Clock &before);

/* Pools release memory above their threshold, as when the host waits */
void shrink_pools();

/* Takes the memory of a block away */
void unmap(void *block);

/* Makes a block inaccessible also for work of streams, or lets open_blocks() decide again */
void close_block(DeviceBlock *, bool closed);
/* The block that contains p, or NULL */
DeviceBlock *block_of(const void *p, const char **start);

/* Does this when all launched kernels have ended, which it does not wait for */
void after_kernels(const std::function<void()> &);

/* Launches a kernel, whose work is then delayed (kernels.cpp). as: the stream to which its work belongs */
void launch_kernel(const Kernel &, cudaStream_t as);

/* Launches a kernel, or records it, if its stream is being captured */
void enqueue_kernel(const Kernel &);

/* Counts a wait of the host */
inline void count_wait(long Machine::*counter)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  machine().*counter += 1;
}

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
