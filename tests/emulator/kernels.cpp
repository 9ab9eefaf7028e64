/*
  kernels.cpp - the queue of launched kernels, and overlapped launches.

  A kernel does its work when something needs it: other work, a wait, an event. Until then overlapped kernels may follow
  in the same stream. One block of each runs up to its waits for the previous kernels (spmv_wait_for_previous(), see
  device/overlap.cuh), and goes on when all kernels before its own have ended. A GPU may do that, too. So a kernel that
  reads what the previous kernels write, and has not waited, reads old numbers here.

  A block that waits must keep its shared variables, which are static in an emulated build. So they are thread_local,
  and early blocks run in threads of the host of their own. Only one of these threads runs at a time.
*/
#include "kernels.h"
#include <condition_variable>
#include <cstdlib>
#include <pthread.h>
#include <random>

namespace spmv_emulator
{
namespace
{
enum { PERIOD = 64, MANY = 1024 /* launches */, LENGTH = 16 /* of the queue, at most */ };
enum : size_t { MAX_SHARED = 227 << 10, STACK = 64 << 20 /* it has the shared variables of all kernels */ };
} // namespace

/* A thread of the host that does one task after the other for threads that wait for it. It never ends. */
struct Worker {
  std::mutex                   lock;
  std::condition_variable      changed;
  const std::function<void()> *task  = nullptr;
  Block                       *block = new_block();

  Worker()
  {
    pthread_attr_t attributes;
    pthread_t      thread;
    if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK) ||
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) ||
        pthread_create(&thread, &attributes, work, this))
      abort();
    pthread_attr_destroy(&attributes);
  }
  void run(const std::function<void()> &what)
  {
    std::unique_lock<std::mutex> mine(lock);
    task = &what;
    changed.notify_all();
    changed.wait(mine, [&] { return !task; });
  }
  static void *work(void *self)
  {
    Worker                      *w = (Worker *)self;
    std::unique_lock<std::mutex> mine(w->lock);
    for (;;) {
      w->changed.wait(mine, [&] { return w->task != nullptr; });
      (*w->task)();
      w->task = nullptr;
      w->changed.notify_all();
    }
  }
};

namespace
{
/* The kernels that have not ended, all in one stream; and the workers that have no block */
struct Queue {
  std::deque<Kernel>    kernel;
  std::vector<Worker *> idle;
  std::minstd_rand      choice; /* of early blocks */
  unsigned              launches = 0;

  /* The most kernels that have not begun their work when a block of the next one runs early. Early blocks take time,
     because the fibers of several threads of the host run in turn. So in a long program only one launch in 16 has them,
     and in most periods a block runs before one kernel, not three. */
  size_t most() const { return launches / PERIOD % 4 ? 1 : 3; }
  bool   has_early_block() { return launches < MANY || (choice() >> 4) % 16 == 0; }
};
Queue &queue()
{
  static auto *q = new Queue; /* never freed, as the machine */
  return *q;
}

/* The first block, or any one: a second early block would take as much time again */
void begin_a_block(Kernel &k)
{
  Queue         &q     = queue();
  Worker        *w     = q.idle.empty() ? new Worker : q.idle.back();
  const unsigned drawn = (unsigned)(q.choice() >> 4), number = drawn % 2 ? 0 : drawn / 2 % k.blocks;

  if (!q.idle.empty()) q.idle.pop_back();
  working_now(k.as);
  k.early.push_back({number, w});
  w->run([&] { begin_early(*w->block, k, number); });
}

void run_first()
{
  Queue &q = queue();

  working_now(q.kernel.front().as);
  run_kernel(q.kernel.front());
  q.kernel.front().then();
  q.kernel.pop_front();
}
} // namespace

void EarlyBlock::finish(Kernel &k)
{
  worker->run([&] { finish_early(*worker->block, k, number); });
  queue().idle.push_back(worker);
}

void finish_kernels()
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  if (queue().kernel.empty()) return;
  const Opened memory;
  while (!queue().kernel.empty()) run_first();
}

void after_kernels(const std::function<void()> &work)
{
  if (queue().kernel.empty()) work();
  else
    queue().kernel.back().then = [before = queue().kernel.back().then, work] {
      before();
      work();
    };
}

void launch_kernel(const Kernel &kernel, cudaStream_t as)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  Queue                                      &q = queue();

  machine().launches++;
  q.launches++;
  if (kernel.kind != Kind::OVERLAPPED || q.kernel.empty() || q.kernel.back().stream != kernel.stream) catch_up();
  const bool early = !q.kernel.empty() && q.has_early_block();
  if (!early && q.kernel.size() < LENGTH) {
    q.kernel.push_back(kernel);
    q.kernel.back().as = as;
    return;
  }
  const Opened memory;
  while (q.kernel.size() > (early ? q.most() : 0)) run_first();
  q.kernel.push_back(kernel);
  q.kernel.back().as = as;
  if (early) begin_a_block(q.kernel.back());
}

void run_grid(Kind kind, dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body)
{
  if (blocks.x == 0 || threads.x == 0 || threads.x > MAX_THREADS || shared > MAX_SHARED ||
      blocks.y * blocks.z * threads.y * threads.z != 1) {
    set_last_error(cudaErrorInvalidConfiguration); /* the emulator supports one dimension only */
    return;
  }
  if (refused(SPMV_POINT_LAUNCH)) return;
  enqueue_kernel({kind, blocks.x, (int)threads.x, shared, stream, std::move(body), false, {}});
}
} // namespace spmv_emulator

void spmv_emulator_begin_early(void)
{
  const std::lock_guard<std::recursive_mutex> lock(spmv_emulator::machine().one_at_a_time);

  spmv_emulator::queue().launches = 0;
}
