/*
  runtime.cpp - the CUDA runtime of the emulator: devices, errors, memory and copies. streams.cpp has streams, events
  and graphs.

  A device block ends at an inaccessible page, and is accessible only while work of a stream runs: an access beyond its
  end, or by host code, is a segmentation fault at that instruction. New memory is filled with 0xff: NaN in floating
  point, -1 in integers.

  Copies from pinned memory to the device are delayed until other work needs them: a program that overwrites the pinned
  memory too early sends wrong bytes. Kernels are delayed, too (kernels.cpp). Other work is done when it is enqueued.
*/
#include "kernels.h"
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace spmv_emulator
{
namespace
{
enum { BLOCK_ALIGN = 16, CANARY = 0xc5 };

/* The size of device memory: 8 GiB, or SPMV_EMULATOR_BYTES, so that a test can exhaust it */
size_t device_bytes()
{
  const char *text = getenv("SPMV_EMULATOR_BYTES");
  return text ? (size_t)atoll(text) : size_t(8) << 30;
}

thread_local cudaError_t last_error = cudaSuccess;

size_t page_bytes()
{
  static const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  return bytes;
}

void protect(char *from, size_t bytes, bool open)
{
  if (mprotect(from, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE)) abort();
}

/* Whether arrays are kept apart. Device memory is then always accessible: its many inaccessible pages would make opening
   and closing slow. */
bool apart()
{
  static const bool is = getenv("SPMV_EMULATOR_APART") != nullptr;
  return is;
}

/* The protection key of device memory, or -1 if the processor has no keys */
int device_key()
{
  static const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  return key;
}

/* Whether device memory without a key, but for what the host shares, stays open to the host until it is closed the next
   time. Closing takes a call of the system for each block, and time for each page: half of the time of many tests. So
   when a process has closed memory often, it does so in one of 16 cases. */
bool stays_open()
{
  enum { OFTEN = 1 << 19, CALL = 8 /* a call takes as long as so many pages */ };
  static size_t   pages = 0;
  static unsigned count = 0;

  if (pages >= OFTEN) return ++count % 16 != 0;
  for (const auto &b : machine().device) pages += CALL + b.second.map_bytes / page_bytes();
  return false;
}

/* Opens a block for everybody, or closes it, with a key for all who do not hold that */
void protect(const DeviceBlock &b, bool open)
{
  if (apart()) return;
  if (device_key() < 0) protect(b.map, b.map_bytes, open);
  else if (pkey_mprotect(b.map, b.map_bytes, PROT_READ | PROT_WRITE, open ? 0 : device_key())) abort();
}

/* Opens all blocks for work of a stream, or closes them, also those that the host has touched. With a key that is one
   register of this thread. */
void open_blocks(bool open)
{
  Machine &m = machine();

  if (apart()) return;
  if (device_key() >= 0) pkey_set(device_key(), open ? 0 : PKEY_DISABLE_ACCESS);
  else {
    const bool was_open = m.open_to_host;
    m.open_to_host      = !open && stays_open();
    for (const auto &b : m.device)
      if (!b.second.closed && (b.second.shared || !(was_open || m.open_to_host))) protect(b.second, open);
  }
  for (char *start : m.at_host)
    if (const auto b = m.device.find(start); b != m.device.end()) protect(b->second, open && device_key() < 0);
  m.at_host.clear();
}

/* Whether a block that is not closed is now accessible without a key */
bool is_open(const DeviceBlock &b)
{
  return device_key() < 0 && (machine().depth > 0 || (machine().open_to_host && !b.shared));
}

/* Makes the inaccessible pages between arrays in a part of device memory accessible */
void unseal(char *from, const char *end)
{
  std::set<char *> &sealed = machine().sealed;

  for (auto page = sealed.lower_bound(from); page != sealed.end() && *page < end; page = sealed.erase(page))
    protect(*page, page_bytes(), true);
}

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

bool is_pinned(const void *p)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  auto                                        it = machine().pinned.upper_bound((const char *)p);
  if (it == machine().pinned.begin()) return false;
  --it;
  return (const char *)p < it->first + it->second;
}

/* Whether p is a device pointer with `bytes` bytes after it, or (on_device false) no device pointer */
bool fits(const void *p, size_t bytes, bool on_device)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const char                                 *start;
  const DeviceBlock                          *b = block_of(p, &start);
  return on_device ? b && (const char *)p + bytes <= start + b->bytes : !b || b->shared;
}

/* Opens a shared block that the host touches; it stays open until the device works again */
bool move_to_host(const void *p)
{
  const char        *start;
  const DeviceBlock *b = block_of(p, &start);

  if (!b || !b->shared || machine().depth) return false;
  protect(*b, true);
  machine().at_host.insert((char *)start);
  machine().moved++;
  return true;
}

/* Prints the block nearest to a wrong access, then lets the signal end the program */
void explain_fault(int, siginfo_t *info, void *)
{
  char        text[200];
  const char *p = (const char *)info->si_addr;

  if (move_to_host(p) || touch(p)) return;
  for (const auto &b : machine().device) {
    if (p < b.second.map || p >= b.second.map + b.second.map_bytes + page_bytes()) continue;
    const long offset = (long)(p - b.first);
    const int  n =
        snprintf(text, sizeof text, "CUDA emulator: access to offset %ld of a device block of %zu bytes, by %s\n",
                 offset, b.second.bytes, machine().depth ? "a kernel" : "the host");
    if (write(2, text, (size_t)n) < 0) abort();
  }
  signal(SIGSEGV, SIG_DFL);
}

void explain_faults_once()
{
  static bool done = false;
  if (done) return;
  done                    = true;
  struct sigaction action = {};
  action.sa_sigaction     = explain_fault;
  action.sa_flags         = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}
} // namespace

DeviceBlock *block_of(const void *p, const char **start)
{
  auto it = machine().device.upper_bound((char *)p);
  if (it == machine().device.begin()) return nullptr;
  --it;
  *start = it->first;
  return (char *)p < it->first + it->second.bytes ? &it->second : nullptr;
}

void unmap(void *block)
{
  Machine                                    &m = machine();
  const std::lock_guard<std::recursive_mutex> lock(m.one_at_a_time);
  const DeviceBlock                           b = m.device[(char *)block];

  unseal(b.map, b.map + b.map_bytes);
  protect(b, true);
  for (const char *c = (char *)block + b.bytes; c < b.map + b.map_bytes; c++)
    if (*c != (char)CANARY) {
      fprintf(stderr, "CUDA emulator: a device block of %zu bytes was written beyond its end\n", b.bytes);
      abort();
    }
  munmap(b.map, b.map_bytes + page_bytes());
  m.used -= b.bytes;
  m.device.erase((char *)block);
}

void close_block(DeviceBlock *b, bool closed)
{
  if (apart()) return;
  b->closed = closed;
  if (closed) protect(b->map, b->map_bytes, false);
  else protect(*b, is_open(*b));
}

thread_local int                   current_device = 0;
thread_local cudaStreamCaptureMode capture_mode   = cudaStreamCaptureModeGlobal;

Machine &machine()
{
  static auto *m = new Machine; /* never freed: other libraries may still call at exit */
  return *m;
}

Opened::Opened()
{
  machine().one_at_a_time.lock();
  if (machine().depth++ == 0) open_blocks(true);
}

Opened::~Opened()
{
  if (--machine().depth == 0) open_blocks(false);
  machine().one_at_a_time.unlock();
}

void catch_up(long copies)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  finish_kernels();
  if (machine().late.empty()) return;
  const Opened memory;
  while (!machine().late.empty() && machine().put_off - (long)machine().late.size() < copies) {
    const std::function<void()> copy = std::move(machine().late.front());
    machine().late.pop_front();
    copy();
  }
}

void catch_up() { catch_up(LONG_MAX); }

cudaError_t refused(unsigned kind, size_t bytes)
{
  Machine                                    &m = machine();
  const std::lock_guard<std::recursive_mutex> lock(m.one_at_a_time);

  m.allocations += bytes > 0;
  m.grown += bytes > 0;
  m.page_locked += bytes > 0 && kind == SPMV_POINT_PINNED;
  if (!(m.kinds & (kind | SPMV_POINT_LOST))) return cudaSuccess;
  if (m.before != 0 && (bytes == 0 || bytes != m.again)) {
    m.again = 0;
    m.passed++;
    if (m.before > 0) m.before--;
    return cudaSuccess;
  }
  if (m.before == 0 && m.once) m.before = -1;
  m.refused++;
  m.again = bytes;
  return result(m.kinds & SPMV_POINT_LOST ? cudaErrorIllegalAddress
                : bytes                   ? cudaErrorMemoryAllocation
                                          : cudaErrorLaunchOutOfResources);
}

void set_last_error(cudaError_t error) { last_error = error; }

cudaError_t result(cudaError_t error)
{
  if (error) set_last_error(error);
  return error;
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work)
{
  const auto step = [work = std::move(work)](cudaStream_t as) {
    const Opened memory;
    catch_up();
    working_now(as);
    work();
  };
  stream_of(stream)->has_work = true;
  if (CUgraph_st *graph = stream_of(stream)->captured) graph->steps.push_back(step);
  else {
    begin_work(stream_of(stream));
    step(stream);
  }
  return cudaSuccess;
}

void enqueue_kernel(const Kernel &kernel)
{
  stream_of(kernel.stream)->has_work = true;
  if (CUgraph_st *graph = stream_of(kernel.stream)->captured)
    graph->steps.push_back([=](cudaStream_t as) { launch_kernel(kernel, as); });
  else {
    begin_work(stream_of(kernel.stream));
    launch_kernel(kernel, kernel.stream);
  }
}

bool capturing()
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  return !machine().captures.empty() && capture_mode != cudaStreamCaptureModeRelaxed;
}
} // namespace spmv_emulator

using namespace spmv_emulator;

extern "C" {
long spmv_emulator_refuse(unsigned kinds, long before, int once)
{
  Machine                                    &m = machine();
  const std::lock_guard<std::recursive_mutex> lock(m.one_at_a_time);
  const long                                  count = m.refused;

  m.kinds   = kinds;
  m.before  = before;
  m.once    = once != 0;
  m.refused = 0;
  m.passed  = 0;
  m.again   = 0;
  return count;
}

long spmv_emulator_passed(void)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  return machine().passed;
}

void spmv_emulator_hold(long queries)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  machine().held = queries;
}

static long take(long *counter)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const long                                  count = *counter;

  *counter = 0;
  return count;
}
long spmv_emulator_allocations(void) { return take(&machine().allocations); }
long spmv_emulator_grown(void) { return take(&machine().grown); }
long spmv_emulator_page_locked(void) { return take(&machine().page_locked); }
long spmv_emulator_moved(void) { return take(&machine().moved); }
long spmv_emulator_launches(void) { return take(&machine().launches); }
long spmv_emulator_waits(void) { return take(&machine().waits); }
long spmv_emulator_device_waits(void) { return take(&machine().device_waits); }

int64_t spmv_emulator_room(int64_t bytes)
{
  return apart() ? (int64_t)(rounded((size_t)bytes, BLOCK_ALIGN) + 2 * page_bytes()) : 0;
}

/* The array ends where the last whole page of its room begins */
void *spmv_emulator_place(void *room, int64_t bytes)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  char *const                                 end = (char *)room + spmv_emulator_room(bytes);
  char *const page = (char *)((uintptr_t)end / page_bytes() * page_bytes() - page_bytes());

  catch_up(); /* kernels that use memory which the caller has taken back */
  /* From the page on in which the room begins: it may be one that kept arrays of earlier use apart, and no array before
     this room has its page there */
  unseal((char *)((uintptr_t)room / page_bytes() * page_bytes()), end);
  protect(page, page_bytes(), false);
  machine().sealed.insert(page);
  return page - rounded((size_t)bytes, BLOCK_ALIGN);
}

/* SPMV_EMULATOR_DRIVER sets the version of the driver; 0: no driver */
cudaError_t cudaDriverGetVersion(int *version)
{
  const char *driver = getenv("SPMV_EMULATOR_DRIVER");

  *version = driver ? atoi(driver) : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
  int driver;

  *count = 0;
  if (!cudaDriverGetVersion(&driver) && driver < CUDART_VERSION) return result(cudaErrorInsufficientDriver);
  /* SPMV_EMULATOR_NO_DEVICE: no device; SPMV_EMULATOR_DEVICES: several, which share one memory */
  const char *devices = getenv("SPMV_EMULATOR_DEVICES");

  *count = getenv("SPMV_EMULATOR_NO_DEVICE") ? 0 : devices ? atoi(devices) : 1;
  return *count ? cudaSuccess : result(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int *device_)
{
  *device_ = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device_)
{
  int               count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);

  if (error) return error;
  if (device_ < 0 || device_ >= count) return result(cudaErrorInvalidDevice);
  current_device = device_;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
  catch_up(); /* blocks are freed behind the work that uses them */
  *total_bytes = device_bytes();
  *free_bytes  = machine().used < *total_bytes ? *total_bytes - machine().used : 0;
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = last_error;
  last_error              = cudaSuccess;
  return error;
}
const char *cudaGetErrorName(cudaError_t error)
{
#define NAMED(name)                                                                                                    \
  {                                                                                                                    \
    name, #name                                                                                                        \
  }
  static const std::pair<cudaError_t, const char *> names[] = {
      NAMED(cudaSuccess),
      NAMED(cudaErrorInvalidValue),
      NAMED(cudaErrorMemoryAllocation),
      NAMED(cudaErrorInvalidConfiguration),
      NAMED(cudaErrorInsufficientDriver),
      NAMED(cudaErrorNoDevice),
      NAMED(cudaErrorInvalidDevice),
      NAMED(cudaErrorInvalidResourceHandle),
      NAMED(cudaErrorNotReady),
      NAMED(cudaErrorIllegalAddress),
      NAMED(cudaErrorLaunchOutOfResources),
      NAMED(cudaErrorStreamCaptureUnsupported),
  };
#undef NAMED

  for (const auto &n : names)
    if (n.first == error) return n.second;
  return "unknown";
}
const char *cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaMalloc(void **out, size_t bytes)
{
  Machine &m = machine();

  *out = nullptr;
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  if (bytes == 0) return cudaSuccess;
  explain_faults_once();
  const std::lock_guard<std::recursive_mutex> lock(m.one_at_a_time);
  const size_t page = page_bytes(), padded = rounded(bytes, BLOCK_ALIGN), map_bytes = rounded(padded, page);
  if (const cudaError_t error = refused(SPMV_POINT_DEVICE, bytes)) return error;
  if (m.used + bytes > device_bytes()) return result(cudaErrorMemoryAllocation);
  void *map = mmap(nullptr, map_bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return result(cudaErrorMemoryAllocation);
  DeviceBlock b;
  b.map       = (char *)map;
  b.map_bytes = map_bytes;
  b.bytes     = bytes;
  b.shared    = false;
  char *p     = b.map + map_bytes - padded;
  protect(b.map, map_bytes, true);
  memset(p, 0xff, bytes);
  memset(p + bytes, CANARY, padded - bytes);
  if (!is_open(b)) protect(b, false);
  m.device[p] = b;
  m.used += bytes;
  *out = p;
  return cudaSuccess;
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const cudaError_t                           error = cudaMalloc(out, bytes);

  if (!*out) return error;
  DeviceBlock &b = machine().device[(char *)*out];
  b.shared       = true;
  close_block(&b, false);
  return error;
}
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t) { return refused(SPMV_POINT_CALL); }

cudaError_t cudaFree(void *p)
{
  if (!p) return cudaSuccess;
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  catch_up();
  if (!machine().device.count((char *)p)) return result(cudaErrorInvalidValue);
  unmap(p);
  return cudaSuccess;
}

/* SPMV_EMULATOR_PINNED_BLOCKS limits the number of pinned blocks at a time, so that a test can let the next one fail */
cudaError_t cudaMallocHost(void **block, size_t bytes)
{
  const char                                 *most = getenv("SPMV_EMULATOR_PINNED_BLOCKS");
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  *block = nullptr;
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  if (bytes)
    if (const cudaError_t error = refused(SPMV_POINT_PINNED, bytes)) return error;
  if (bytes && (!most || (int)machine().pinned.size() < atoi(most))) *block = malloc(bytes);
  if (*block) machine().pinned[(const char *)*block] = bytes;
  return !bytes || *block ? cudaSuccess : result(cudaErrorMemoryAllocation);
}
cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned) { return cudaMallocHost(block, bytes); }
/* A no-op: kernels of the emulator can access host memory */
cudaError_t cudaHostRegister(void *, size_t bytes, unsigned) { return refused(SPMV_POINT_PINNED, bytes); }
cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void *block)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  if (!block) return cudaSuccess;
  catch_up();
  if (!machine().pinned.erase((const char *)block)) return result(cudaErrorInvalidValue);
  free(block);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *about, const void *p)
{
  *about = {};
  if (fits(p, 1, true)) about->type = fits(p, 1, false) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  else if (is_pinned(p)) about->type = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  if (bytes == 0) return cudaSuccess;
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (kind != cudaMemcpyDefault) {
    const bool to_device   = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!fits(to, bytes, to_device) || !fits(from, bytes, from_device)) return result(cudaErrorInvalidValue);
  }
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost) count_copy(bytes);
  const auto copy = [=] { memmove(to, from, bytes); };
  if (kind != cudaMemcpyHostToDevice || stream_of(stream)->captured || !is_pinned(from)) {
    (void)enqueue(stream, copy);
    /* a copy to pageable memory has ended when the call returns */
    if (kind == cudaMemcpyDeviceToHost && !stream_of(stream)->captured && !is_pinned(to))
      host_waited(&stream_of(stream)->before);
    return cudaSuccess;
  }
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  finish_kernels();
  stream_of(stream)->has_work = true;
  begin_work(stream_of(stream));
  machine().late.push_back([=] {
    working_now(stream);
    copy();
  });
  machine().put_off++;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *block, int value, size_t bytes, cudaStream_t stream)
{
  if (bytes && !fits(block, bytes, true)) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  return enqueue(stream, [=] { memset(block, value, bytes); });
}
}
