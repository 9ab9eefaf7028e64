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
enum { WARP = 32, BITS = 64, TRIES = 1 << 16, RESIDENT = 3 /* blocks that take turns */ };
enum : size_t { DYNAMIC_ALIGN = 128 };

/* A warp: the lanes that are in a meeting, those that have ended, and what each brought to its meeting and got */
struct Warp {
  unsigned meeting, ended;
  unsigned mask[WARP];
  int      from[WARP], kind[WARP];
  uint64_t value[WARP], result[WARP];
};

/* Threads of a block, by their places in the order of turns */
struct Places {
  uint64_t word[MAX_THREADS / BITS] = {};

  void add(int p) { word[p / BITS] |= uint64_t(1) << p % BITS; }
  void remove(int p) { word[p / BITS] &= ~(uint64_t(1) << p % BITS); }
  void take(Places &other)
  {
    for (int w = 0; w < MAX_THREADS / BITS; w++) word[w] |= other.word[w];
    other = {};
  }
  /* The first place behind p and before `end`, or -1 */
  int behind(int p, int end) const
  {
    int      w    = (p + 1) / BITS;
    uint64_t left = p + 1 < end ? word[w] >> (p + 1) % BITS << (p + 1) % BITS : 0;

    while (left == 0)
      if (++w * BITS >= end) return -1;
      else left = word[w];
    return w * BITS + __builtin_ctzll(left);
  }
};
} // namespace

struct Block {
  std::vector<Stack>           stack{MAX_THREADS}; /* of threads; later blocks use them again */
  Warp                         warp[MAX_THREADS / WARP];
  Stack                        host; /* of run_block() */
  const std::function<void()> *body = nullptr;
  std::vector<int>             order, place; /* the order in which threads take turns, and the place of each in it */
  int                          turn = 0;     /* the place of the current thread */
  Places                       ready;        /* threads that can go on ... */
  Places                       yielded;      /* ... after all of these have had a turn */
  Places                       in_barrier, in_front; /* ... that wait for the others, and for the previous kernels */
  int                          size = 0, current = 0, live = 0, at_barrier = 0, at_grid = 0, sum = 0, barrier_sum = 0;
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

/* Gives the turn to the next thread that can go on, or to the host: if all have ended or wait for the grid, if those that
   are left wait for the previous kernels, or if all wait or have yielded, so that other blocks have their turns */
void pass_turn(Block &b, Stack &from)
{
  if (b.at_grid == b.live) return switch_stack(from, b.host);
  int next = b.ready.behind(b.turn, b.size);
  if (next < 0) next = b.ready.behind(-1, b.size);
  if (next < 0) {
    b.ready.take(b.yielded);
    next = b.ready.behind(-1, b.size);
    if (next >= 0 && takes_turns) return switch_stack(from, b.host);
  }
  if (next < 0) {
    if (b.at_previous == 0) fault("deadlock: threads of a block wait at different barriers");
    return switch_stack(from, b.host);
  }
  b.turn            = next;
  b.current         = b.order[next];
  position.thread.x = (unsigned)b.current;
  Stack &to         = b.stack[b.current];
  if (!to.made) make_stack(to, run_bodies);
  if (&to != &from) switch_stack(from, to);
}

void wait_turn(Block &b) { pass_turn(b, b.stack[b.current]); }

/* The current thread waits for what ends the waiting of these threads */
void wait_among(Block &b, Places &those)
{
  those.add(b.place[b.current]);
  b.ready.remove(b.place[b.current]);
}

void release_barrier(Block &b)
{
  if (b.at_barrier == 0 || b.at_barrier < b.live) return;
  b.ready.take(b.in_barrier);
  b.barrier_sum = b.sum;
  b.sum = b.at_barrier = 0;
}

/* Ends the meeting of lane `any` if all lanes of its mask have arrived; lanes that have ended do not count */
void finish_meeting(Block &b, int warp, int any)
{
  Warp          &w     = b.warp[warp];
  const int      lanes = std::min<int>(WARP, b.size - warp * WARP), *place = &b.place[warp * WARP];
  const int      kind = w.kind[any];
  const unsigned mask = w.mask[any], there = mask & w.meeting;
  unsigned       ballot = 0;
  int            first  = MAX_THREADS;

  if (mask & ~(w.meeting | w.ended)) return;
  for (int l = 0; l < lanes; l++) {
    if (!(there >> l & 1)) continue;
    if (w.mask[l] != mask || w.kind[l] != kind) fault("lanes of one mask are in different warp-wide operations");
    ballot |= (unsigned)(w.value[l] != 0) << l;
    first = std::min(first, place[l]);
    b.ready.add(place[l]);
  }
  for (int l = 0; l < lanes && kind != SYNC; l++) {
    if (!(there >> l & 1)) continue;
    const int from = w.from[l];
    if (from < 0 || from >= lanes || !(mask >> from & 1)) fault("a shuffle reads outside its mask");
    w.result[l] = kind == BALLOT ? ballot : w.value[from];
  }
  w.meeting &= ~there;
  b.turn = first - 1; /* the warp goes on: what it has on its stacks is still in the processor's cache */
}

/* The end of a thread may complete a meeting or a barrier */
void thread_ended(Block &b, int t)
{
  const int warp = t / WARP;

  b.ready.remove(b.place[t]);
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

/* The orders of blocks and of threads; a random sequence continues from kernel to kernel */
struct Turns {
  Order            order;
  std::vector<int> blocks;
};
Turns &turns()
{
  static Turns t;
  return t;
}

/* A new order of the threads, all of which can go on */
void begin_turns(Block &b)
{
  turns().order.fill(b.order, b.size);
  b.place.resize((size_t)b.size);
  b.ready = {};
  for (int p = 0; p < b.size; p++) {
    b.place[b.order[p]] = p;
    b.ready.add(p);
  }
  b.turn = -1;
}

void begin_block(Block &b, const Kernel &k)
{
  b.body = &k.body;
  b.size = b.live = k.threads;
  begin_turns(b);
  for (int w = 0; w * WARP < b.size; w++) {
    b.warp[w].meeting = 0;
    b.warp[w].ended   = b.size - w * WARP < WARP ? ~0u << (b.size - w * WARP) : 0;
  }
}

/* Runs a block until all its threads have ended or wait for the grid; if it is early, until no thread can go on before
   the previous kernels end */
void run_block(Block &b, const Kernel &k, unsigned number)
{
  running  = &b;
  position = {{0, 0, 0}, {number, 0, 0}, {(unsigned)k.threads, 1, 1}, {k.blocks, 1, 1}};
  b.turn   = -1;
  pass_turn(b, b.host);
}

/* Ends the grid barrier, after all threads have arrived */
void release_grid(size_t blocks)
{
  for (size_t i = 0; i < blocks; i++) {
    Block &b = block_number(i);
    if (b.at_grid < b.size) fault("deadlock: a thread ended, and others wait for the grid");
    b.at_grid = 0;
    begin_turns(b);
  }
}

void clear_dynamic_memory(const Kernel &k)
{
  for (auto &memory : dynamic_memory) memory.assign(k.shared + DYNAMIC_ALIGN, 0xff);
}

/* One block after the other. If threads yield, up to RESIDENT blocks take turns, with dynamic shared memory of their own,
   and with the same shared variables. */
void run_blocks(const Kernel &k, const std::vector<int> &numbers)
{
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
        resident = s;
        run_block(b, k, (unsigned)here[s] - 1);
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
      run_block(block_number((size_t)i), k, (unsigned)i);
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
  cooperates = waited = false;
  b.early             = true;
  clear_dynamic_memory(k);
  begin_block(b, k);
  run_block(b, k, number);
  k.waited = k.waited || waited;
}

void finish_early(Block &b, Kernel &k, unsigned number)
{
  b.early       = false;
  b.at_previous = 0;
  b.ready.take(b.in_front);
  run_block(b, k, number);
}

void wait_for_previous()
{
  Block &b = block();

  waited = true;
  if (!b.early) return;
  wait_among(b, b.in_front);
  b.at_previous++;
  wait_turn(b);
}

void yield(long tries)
{
  Block &b = block();

  if (tries > TRIES) fault("deadlock: a thread waits for what no thread of a running block writes");
  wait_among(b, b.yielded);
  wait_turn(b);
}

int block_barrier(int v)
{
  Block &b = block();

  wait_among(b, b.in_barrier);
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
  b.ready.remove(b.place[b.current]);
  b.at_grid++;
  wait_turn(b);
}

uint64_t warp_meet(unsigned mask, int kind, uint64_t value, int from)
{
  Block    &b = block();
  const int t = b.current, lane = t % WARP;
  Warp     &w = b.warp[t / WARP];

  if (!(mask >> lane & 1)) fault("a lane is not in the mask of its own warp-wide operation");
  b.ready.remove(b.place[t]);
  w.meeting |= 1u << lane;
  w.mask[lane]  = mask;
  w.kind[lane]  = kind;
  w.from[lane]  = from;
  w.value[lane] = value;
  finish_meeting(b, t / WARP, lane);
  wait_turn(b);
  return w.result[lane];
}

void *dynamic_shared()
{
  return (void *)(((uintptr_t)dynamic_memory[resident].data() + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN);
}
} // namespace spmv_emulator
