/* fibers.cpp - runs the threads of a block as fibers: turns, barriers, warp-wide operations, and detection of
   faults. */
#include "runtime.h"
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace context = boost::context;

namespace spmv_emulator
{
Position position;

namespace
{
enum { WARP = 32, MAX_THREADS = 1024, STACK_BYTES = 256 * 1024 };
enum : size_t { MAX_SHARED = 227 << 10, DYNAMIC_ALIGN = 128 };
enum class State { READY, AT_BARRIER, AT_GRID, IN_WARP, DONE };

struct Thread {
  context::fiber fiber; /* reused by later blocks */
  State          state  = State::DONE;
  unsigned       mask   = 0; /* the lanes that the thread waits for */
  int            from   = 0;
  size_t         bytes  = 0;
  unsigned       ballot = 0; /* lanes whose first byte was not zero */
  unsigned char  value[MAX_VALUE], result[MAX_VALUE];
};

/* Masks of the lanes of a warp that are in a meeting, and of those that have ended */
struct Warp {
  unsigned meeting, ended;
};

struct Block {
  std::vector<Thread>          thread{MAX_THREADS};
  Warp                         warp[MAX_THREADS / WARP];
  context::fiber               scheduler;
  const std::function<void()> *body = nullptr;
  int                          size = 0, current = 0, live = 0, at_barrier = 0, at_grid = 0, sum = 0, barrier_sum = 0;
};

/* Block i of the blocks that run at the same time: only one, or all blocks of a cooperative grid */
Block &block_number(size_t i)
{
  static auto *all = new std::vector<Block *>; /* never freed: fibers must not be unwound at exit */
  while (all->size() <= i) all->push_back(new Block);
  return *(*all)[i];
}

/* One kernel runs at a time: concurrent launches of host threads wait for each other in runtime.cpp */
Block *running    = nullptr;
bool   cooperates = false; /* whether the blocks of the kernel may wait for each other */

Block &block() { return *running; }

[[noreturn]] void fault(const char *what)
{
  const Position &p = position;
  fprintf(stderr, "CUDA emulator: %s (block %u of %u, thread %u of %u)\n", what, p.block.x, p.grid_size.x, p.thread.x,
          p.block_size.x);
  abort();
}

void wait_turn() { block().scheduler = std::move(block().scheduler).resume(); }

void release_barrier(Block &b)
{
  if (b.at_barrier == 0 || b.at_barrier < b.live) return;
  for (int t = 0; t < b.size; t++)
    if (b.thread[t].state == State::AT_BARRIER) b.thread[t].state = State::READY;
  b.barrier_sum = b.sum;
  b.sum = b.at_barrier = 0;
}

/* Ends the meeting of lane `any` if all lanes of its mask have arrived; lanes that have ended do not count */
void finish_meeting(Block &b, int warp, int any)
{
  Thread        *lane   = &b.thread[warp * WARP];
  const int      lanes  = std::min<int>(WARP, b.size - warp * WARP);
  const unsigned mask   = lane[any].mask;
  unsigned       ballot = 0;
  const unsigned there  = mask & b.warp[warp].meeting;

  if (mask & ~(b.warp[warp].meeting | b.warp[warp].ended)) return;
  for (int l = 0; l < lanes; l++) {
    if (!(there >> l & 1)) continue;
    if (lane[l].mask != mask || lane[l].bytes != lane[any].bytes)
      fault("lanes of one mask are in different warp-wide operations");
    if (lane[l].bytes && lane[l].value[0]) ballot |= 1u << l;
  }
  for (int l = 0; l < lanes; l++) {
    if (!(there >> l & 1)) continue;
    const int from = lane[l].from;
    if (lane[l].bytes && (from < 0 || from >= lanes || !(mask >> from & 1))) fault("a shuffle reads outside its mask");
    lane[l].ballot = ballot;
    if (lane[l].bytes) memcpy(lane[l].result, lane[from].value, lane[l].bytes);
  }
  for (int l = 0; l < lanes; l++)
    if (there >> l & 1) lane[l].state = State::READY;
  b.warp[warp].meeting &= ~there;
}

/* The end of a thread may complete a meeting or a barrier */
void thread_ended(Block &b, int t)
{
  const int warp = t / WARP;

  b.thread[t].state = State::DONE;
  b.warp[warp].ended |= 1u << t % WARP;
  b.live--;
  release_barrier(b);
  for (int l = 0; l < WARP; l++)
    if (b.warp[warp].meeting >> l & 1) finish_meeting(b, warp, l);
}

context::fiber run_bodies(context::fiber &&scheduler)
{
  Block &b    = block();
  b.scheduler = std::move(scheduler);
  for (;;) {
    const int t = b.current;
    (*b.body)();
    thread_ended(b, t);
    wait_turn();
  }
}

void resume(Block &b, int t)
{
  Thread &thread    = b.thread[t];
  b.current         = t;
  position.thread.x = (unsigned)t;
  if (!thread.fiber)
    thread.fiber = context::fiber(std::allocator_arg, context::protected_fixedsize_stack(STACK_BYTES), run_bodies);
  thread.fiber = std::move(thread.fiber).resume();
}

/* The order in which threads, or blocks, take turns */
class Order
{
  enum { FORWARD, BACKWARD, RANDOM } kind = FORWARD;
  std::mt19937 random;

public:
  Order()
  {
    const char *text = getenv("SPMV_EMULATOR_ORDER");
    if (!text || !strcmp(text, "forward")) return;
    kind = strcmp(text, "backward") ? RANDOM : BACKWARD;
    if (kind == RANDOM) random.seed((unsigned)strtoul(text, nullptr, 10));
  }
  void fill(std::vector<int> &order, int n)
  {
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
    if (kind == BACKWARD) std::reverse(order.begin(), order.end());
    if (kind == RANDOM) std::shuffle(order.begin(), order.end(), random);
  }
};

void begin_block(Block &b, int size, const std::function<void()> *body)
{
  b.body = body;
  b.size = b.live = size;
  for (int t = 0; t < b.size; t++) b.thread[t].state = State::READY;
  for (int w = 0; w * WARP < b.size; w++) b.warp[w] = {0, b.size - w * WARP < WARP ? ~0u << (b.size - w * WARP) : 0};
}

/* Runs a block until all its threads have ended or wait for the grid */
void run_block(Block &b, unsigned number, const std::vector<int> &order)
{
  running          = &b;
  position.block.x = number;
  while (b.at_grid < b.live) {
    bool progress = false;
    for (const int t : order) {
      if (b.thread[t].state != State::READY) continue;
      resume(b, t);
      progress = true;
    }
    if (!progress) fault("deadlock: threads of a block wait at different barriers");
  }
}

/* Ends the grid barrier, after all threads have arrived */
void release_grid(size_t blocks)
{
  for (size_t i = 0; i < blocks; i++) {
    Block &b = block_number(i);
    if (b.at_grid < b.size) fault("deadlock: a thread ended, and others wait for the grid");
    for (int t = 0; t < b.size; t++) b.thread[t].state = State::READY;
    b.at_grid = 0;
  }
}

/* The orders of blocks and of threads; a random sequence continues from kernel to kernel */
struct Turns {
  Order            order;
  std::vector<int> blocks, threads;
};
Turns &turns()
{
  static Turns t;
  return t;
}

void run_one_after_the_other(unsigned blocks, int size, const std::function<void()> &body)
{
  Turns &t = turns();

  cooperates = false;
  t.order.fill(t.blocks, (int)blocks);
  for (const int i : t.blocks) {
    t.order.fill(t.threads, size);
    begin_block(block_number(0), size, &body);
    run_block(block_number(0), (unsigned)i, t.threads);
  }
}

void run_together(unsigned blocks, int size, const std::function<void()> &body)
{
  Turns &t    = turns();
  int    live = 1;

  cooperates = true;
  for (unsigned i = 0; i < blocks; i++) begin_block(block_number(i), size, &body);
  while (live > 0) {
    live = 0;
    t.order.fill(t.blocks, (int)blocks);
    for (const int i : t.blocks) {
      t.order.fill(t.threads, size);
      run_block(block_number((size_t)i), (unsigned)i, t.threads);
      live += block_number((size_t)i).live;
    }
    if (live > 0) release_grid(blocks);
  }
}
} // namespace

int block_barrier(int v)
{
  Block &b = block();

  b.thread[b.current].state = State::AT_BARRIER;
  b.at_barrier++;
  b.sum += v;
  release_barrier(b);
  wait_turn();
  return b.barrier_sum;
}

void grid_barrier()
{
  Block &b = block();

  if (!cooperates) fault("a kernel waits for its grid, and was not launched as a cooperative one");
  b.thread[b.current].state = State::AT_GRID;
  b.at_grid++;
  wait_turn();
}

void warp_meet(unsigned mask, const void *value, int from, void *result, size_t bytes)
{
  Block    &b = block();
  const int t = b.current, lane = t % WARP;
  Thread   &me = b.thread[t];

  if (!(mask >> lane & 1)) fault("a lane is not in the mask of its own warp-wide operation");
  me.state = State::IN_WARP;
  b.warp[t / WARP].meeting |= 1u << lane;
  me.mask  = mask;
  me.from  = from;
  me.bytes = bytes;
  if (bytes) memcpy(me.value, value, bytes);
  finish_meeting(b, t / WARP, lane);
  wait_turn();
  if (bytes) memcpy(result, me.result, bytes);
}

void warp_sync(unsigned mask) { warp_meet(mask, nullptr, 0, nullptr, 0); }

unsigned warp_ballot(unsigned mask, bool v)
{
  bool mine;

  warp_meet(mask, &v, (int)(position.thread.x % WARP), &mine, sizeof v);
  return block().thread[block().current].ballot;
}

/* Dynamic shared memory, filled with 0xff at the beginning of a kernel */
static std::vector<unsigned char> dynamic_memory;

void *dynamic_shared()
{
  return (void *)(((uintptr_t)dynamic_memory.data() + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN);
}

static void enqueue_grid(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body,
                         void (*run)(unsigned, int, const std::function<void()> &))
{
  if (blocks.x == 0 || threads.x == 0 || threads.x > MAX_THREADS || shared > MAX_SHARED ||
      blocks.y * blocks.z * threads.y * threads.z != 1) {
    set_last_error(cudaErrorInvalidConfiguration); /* the emulator supports one dimension only */
    return;
  }
  if (refused(SPMV_POINT_LAUNCH)) return;
  const cudaError_t error = enqueue(stream, [=] {
    position = {{0, 0, 0}, {0, 0, 0}, {threads.x, 1, 1}, {blocks.x, 1, 1}};
    dynamic_memory.assign(shared + DYNAMIC_ALIGN, 0xff);
    run(blocks.x, (int)threads.x, body);
  });
  if (error) set_last_error(error);
}

void run_grid(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body)
{
  enqueue_grid(blocks, threads, shared, stream, std::move(body), run_one_after_the_other);
}

void run_cooperative_grid(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body)
{
  enqueue_grid(blocks, threads, shared, stream, std::move(body), run_together);
}
} // namespace spmv_emulator
