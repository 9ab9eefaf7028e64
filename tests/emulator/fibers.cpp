/* fibers.cpp - runs the threads of a block as fibers: turns, barriers, warp-wide operations, and detection of
   faults. */
#include "kernels.h"
#include "stacks.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace spmv_emulator
{
Position position;

namespace
{
enum { WARP = 32, TRIES = 1 << 16, RESIDENT = 3 /* blocks that take turns */ };
enum : size_t { DYNAMIC_ALIGN = 128 };
enum class State { READY, AT_BARRIER, AT_GRID, IN_WARP, AT_PREVIOUS, DONE };

struct Thread {
  Stack         stack; /* reused by later blocks */
  State         state  = State::DONE;
  unsigned      mask   = 0; /* the lanes that the thread waits for */
  int           from   = 0;
  size_t        bytes  = 0;
  unsigned      ballot = 0; /* lanes whose first byte was not zero */
  unsigned char value[MAX_VALUE], result[MAX_VALUE];
};

/* Masks of the lanes of a warp that are in a meeting, and of those that have ended */
struct Warp {
  unsigned meeting, ended;
};

} // namespace

struct Block {
  std::vector<Thread>          thread{MAX_THREADS};
  Warp                         warp[MAX_THREADS / WARP];
  Stack                        host; /* of run_block() */
  const std::function<void()> *body  = nullptr;
  const std::vector<int>      *order = nullptr; /* in which the threads take turns ... */
  int                          turn  = 0;       /* ... and the place in it of the current thread */
  int                          size = 0, current = 0, live = 0, at_barrier = 0, at_grid = 0, sum = 0, barrier_sum = 0;
  int                          yields      = 0;     /* since other blocks have had a turn */
  int                          at_previous = 0;     /* threads that wait for the previous kernels */
  bool                         early       = false; /* whether the previous kernels have not ended */
};

namespace
{
/* Block i of the blocks that run at the same time: only one, or all blocks of a cooperative grid */
Block &block_number(size_t i)
{
  static auto *all = new std::vector<Block *>; /* never freed: fibers must not be unwound at exit */
  while (all->size() <= i) all->push_back(new Block);
  return *(*all)[i];
}

/* One block runs at a time: concurrent launches of host threads wait for each other in runtime.cpp */
Block *running     = nullptr;
bool   cooperates  = false; /* whether the blocks of the kernel may wait for each other */
bool   takes_turns = false; /* whether other blocks may run while the threads of a block yield */
bool   waited      = false; /* whether a thread of the kernel has waited for the previous ones */

Block &block() { return *running; }

[[noreturn]] void fault(const char *what)
{
  const Position &p = position;
  fprintf(stderr, "CUDA emulator: %s (block %u of %u, thread %u of %u)\n", what, p.block.x, p.grid_size.x, p.thread.x,
          p.block_size.x);
  abort();
}

void run_bodies();

/* Gives the turn to the next thread that can go on, or to the host: if all have ended or wait for the grid, or if those
   that are left wait for the previous kernels */
void pass_turn(Block &b, Stack &from)
{
  int passed = 0;

  if (b.at_grid == b.live) return switch_stack(from, b.host);
  do {
    if (passed++ == b.size) {
      if (b.at_previous == 0) fault("deadlock: threads of a block wait at different barriers");
      return switch_stack(from, b.host);
    }
    if (++b.turn == b.size) b.turn = 0;
    b.current = (*b.order)[b.turn];
  } while (b.thread[b.current].state != State::READY);
  position.thread.x = (unsigned)b.current;
  Stack &to         = b.thread[b.current].stack;
  if (!to.made) make_stack(to, run_bodies);
  if (&to != &from) switch_stack(from, to);
}

void wait_turn(Block &b) { pass_turn(b, b.thread[b.current].stack); }

void release_barrier(Block &b)
{
  if (b.at_barrier == 0 || b.at_barrier < b.live) return;
  for (int t = 0; t < b.size; t++)
    if (b.thread[t].state == State::AT_BARRIER) b.thread[t].state = State::READY;
  b.barrier_sum = b.sum;
  b.sum = b.at_barrier = 0;
}

/* Values of a shuffle, most of 4 or 8 bytes: copies that the compiler knows the size of take no call */
inline void copy_value(void *to, const void *from, size_t bytes)
{
  if (bytes == 8) memcpy(to, from, 8);
  else if (bytes == 4) memcpy(to, from, 4);
  else memcpy(to, from, bytes);
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
    if (lane[l].bytes) copy_value(lane[l].result, lane[from].value, lane[l].bytes);
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

void run_bodies()
{
  for (;;) {
    Block    &b = block();
    const int t = b.current;
    (*b.body)();
    thread_ended(b, t);
    wait_turn(b);
  }
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

/* Dynamic shared memory of each block that takes turns; others use the first. Each thread of the host has its own, as it
   has its own shared variables. */
thread_local std::vector<unsigned char> dynamic_memory[RESIDENT];
thread_local int                        resident = 0;

void begin_block(Block &b, const Kernel &k)
{
  b.body = &k.body;
  b.size = b.live = k.threads;
  b.yields        = 0;
  for (int t = 0; t < b.size; t++) b.thread[t].state = State::READY;
  for (int w = 0; w * WARP < b.size; w++) b.warp[w] = {0, b.size - w * WARP < WARP ? ~0u << (b.size - w * WARP) : 0};
}

/* Runs a block until all its threads have ended or wait for the grid; if it is early, until no thread can go on before
   the previous kernels end */
void run_block(Block &b, const Kernel &k, unsigned number, const std::vector<int> &order)
{
  running  = &b;
  position = {{0, 0, 0}, {number, 0, 0}, {(unsigned)k.threads, 1, 1}, {k.blocks, 1, 1}};
  b.order  = &order;
  b.turn   = b.size - 1;
  pass_turn(b, b.host);
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

void clear_dynamic_memory(const Kernel &k)
{
  for (auto &memory : dynamic_memory) memory.assign(k.shared + DYNAMIC_ALIGN, 0xff);
}

/* One block after the other. If threads yield, up to RESIDENT blocks take turns, with dynamic shared memory of their own,
   and with the same shared variables. */
void run_blocks(const Kernel &k, const std::vector<int> &numbers)
{
  Turns &t              = turns();
  int    here[RESIDENT] = {}; /* one more than the number of the block, or 0 */
  size_t next           = 0;

  takes_turns = true;
  for (int any = 1; any > 0;) {
    any = 0;
    for (int s = 0; s < RESIDENT; s++) {
      Block &b = block_number((size_t)s);
      while (here[s] || next < numbers.size()) {
        if (!here[s]) {
          here[s] = numbers[next++] + 1;
          begin_block(b, k);
        }
        t.order.fill(t.threads, k.threads);
        resident = s;
        run_block(b, k, (unsigned)here[s] - 1, t.threads);
        if (b.live > 0) break;
        here[s] = 0;
      }
      any += here[s] > 0;
    }
  }
  resident    = 0;
  takes_turns = false;
}

/* Those that began early first */
void run_one_after_the_other(Kernel &k)
{
  Turns &t = turns();

  cooperates = false;
  waited     = k.waited;
  for (EarlyBlock &e : k.early) e.finish(k);
  clear_dynamic_memory(k);
  t.order.fill(t.blocks, (int)k.blocks);
  for (const EarlyBlock &e : k.early)
    t.blocks.erase(std::remove(t.blocks.begin(), t.blocks.end(), (int)e.number), t.blocks.end());
  run_blocks(k, t.blocks);
  if (k.kind == Kind::OVERLAPPED && !waited) fault("no thread of an overlapped kernel waits for the previous ones");
}

void run_together(const Kernel &k)
{
  Turns &t    = turns();
  int    live = 1;

  cooperates = true;
  clear_dynamic_memory(k);
  for (unsigned i = 0; i < k.blocks; i++) begin_block(block_number(i), k);
  while (live > 0) {
    live = 0;
    t.order.fill(t.blocks, (int)k.blocks);
    for (const int i : t.blocks) {
      t.order.fill(t.threads, k.threads);
      run_block(block_number((size_t)i), k, (unsigned)i, t.threads);
      live += block_number((size_t)i).live;
    }
    if (live > 0) release_grid(k.blocks);
  }
}
} // namespace

void run_kernel(Kernel &k)
{
  if (k.kind == Kind::COOPERATIVE) run_together(k);
  else run_one_after_the_other(k);
}

Block *new_block() { return new Block; }

void begin_early(Block &b, Kernel &k, unsigned number)
{
  std::vector<int> order;

  cooperates = waited = false;
  b.early             = true;
  clear_dynamic_memory(k);
  turns().order.fill(order, k.threads);
  begin_block(b, k);
  run_block(b, k, number, order);
  k.waited = k.waited || waited;
}

void finish_early(Block &b, Kernel &k, unsigned number)
{
  std::vector<int> order;

  b.early       = false;
  b.at_previous = 0;
  for (int t = 0; t < b.size; t++)
    if (b.thread[t].state == State::AT_PREVIOUS) b.thread[t].state = State::READY;
  turns().order.fill(order, k.threads);
  run_block(b, k, number, order);
}

void wait_for_previous()
{
  Block &b = block();

  waited = true;
  if (!b.early) return;
  b.thread[b.current].state = State::AT_PREVIOUS;
  b.at_previous++;
  wait_turn(b);
}

void yield(long tries)
{
  Block &b = block();

  if (tries > TRIES) fault("deadlock: a thread waits for what no thread of a running block writes");
  if (!takes_turns || ++b.yields < 2 * b.size) return wait_turn(b);
  b.yields = 0; /* each thread that could go on has had a turn */
  switch_stack(b.thread[b.current].stack, b.host);
}

int block_barrier(int v)
{
  Block &b = block();

  b.thread[b.current].state = State::AT_BARRIER;
  b.at_barrier++;
  b.sum += v;
  release_barrier(b);
  wait_turn(b);
  return b.barrier_sum;
}

void grid_barrier()
{
  Block &b = block();

  if (!cooperates) fault("a kernel waits for its grid, and was not launched as a cooperative one");
  b.thread[b.current].state = State::AT_GRID;
  b.at_grid++;
  wait_turn(b);
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
  if (bytes) copy_value(me.value, value, bytes);
  finish_meeting(b, t / WARP, lane);
  wait_turn(b);
  if (bytes) copy_value(result, me.result, bytes);
}

void warp_sync(unsigned mask) { warp_meet(mask, nullptr, 0, nullptr, 0); }

unsigned warp_ballot(unsigned mask, bool v)
{
  bool mine;

  warp_meet(mask, &v, (int)(position.thread.x % WARP), &mine, sizeof v);
  return block().thread[block().current].ballot;
}

void *dynamic_shared()
{
  return (void *)(((uintptr_t)dynamic_memory[resident].data() + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN);
}
} // namespace spmv_emulator
