/*
  order.cpp - the order of the streams that use a block of a memory pool. A stream takes a block and may use it at once.
  Another one may use it only behind that, and it may be freed only behind all work on it: by an event between the two
  streams, or because the host has waited.

  Work has numbers. A stream, an event and the host each know the number of each stream up to which its work has ended
  before (a vector clock). Blocks of other streams than the one that works are inaccessible, so the first access of each
  work of a stream is a fault, which touch() checks and notes.
*/
#include "runtime.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace spmv_emulator;

int CUstream_st::number()
{
  static int count = 0;
  return count++;
}

namespace spmv_emulator
{
namespace
{
bool is_before(int stream, long work, const Clock &c)
{
  const auto it = c.stream.find(stream);
  return work <= c.all || (it != c.stream.end() && work <= it->second);
}

void fail(int stream, const char *what, const DeviceBlock &b, int other)
{
  fprintf(stderr, "CUDA emulator: stream %d %s a block of %zu bytes, and no event or wait orders it behind stream %d\n",
          stream, what, b.bytes, other);
  abort();
}
} // namespace

void add(Clock *to, const Clock &from)
{
  to->all = std::max(to->all, from.all);
  for (const auto &s : from.stream) to->stream[s.first] = std::max(to->stream[s.first], s.second);
}

void begin_work(CUstream_st *s)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  add(&s->before, machine().host);
  s->before.stream[s->id] = machine().last[s->id] = ++machine().works;
}

/* Notes what was touched, and closes it, so that the next access is noted, too. Blocks of a stream that never works,
   which a pool uses to free them after a wait for the device, may stay open. */
void settle()
{
  Machine                                    &m = machine();
  const std::lock_guard<std::recursive_mutex> lock(m.one_at_a_time);
  std::vector<char *>                         stay;

  for (char *start : m.touched) {
    const auto b = m.device.find(start);
    if (b == m.device.end() || b->second.owner < 0) continue;
    b->second.users[m.working->id] = m.last[m.working->id];
    if (m.worked.count(b->second.owner)) close_block(&b->second, true);
    else stay.push_back(start);
  }
  m.touched.swap(stay);
}

void working_now(cudaStream_t stream)
{
  Machine &m = machine();

  if (stream_of(stream) == m.working) return;
  settle();
  m.touched.clear();
  m.working = stream_of(stream);
  m.worked.insert(m.working->id);
  for (auto &b : m.device) {
    const bool closes = b.second.owner >= 0 && b.second.owner != m.working->id;
    if (b.second.closed != closes) close_block(&b.second, closes);
  }
}

void host_waited(const Clock *c)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  settle();
  if (c) add(&machine().host, *c);
  else machine().host.all = machine().works;
  shrink_pools();
}

bool touch(const void *p)
{
  Machine           &m = machine();
  const char        *start;
  DeviceBlock *const b = block_of(p, &start);

  if (!b || !b->closed || m.depth == 0) return false;
  if (!is_before(b->owner, b->taken, m.working->before)) fail(m.working->id, "uses", *b, b->owner);
  close_block(b, false);
  m.touched.push_back((char *)start);
  return true;
}

void taken(void *block, CUstream_st *s)
{
  DeviceBlock &b = machine().device[(char *)block];

  begin_work(s);
  b.owner = s->id;
  b.taken = machine().last[s->id];
  if (s != machine().working) close_block(&b, true);
}

void freed(void *block, int stream, const Clock &before)
{
  DeviceBlock &b = machine().device[(char *)block];

  settle();
  for (const auto &use : b.users)
    if (use.first != stream && !is_before(use.first, use.second, before)) fail(stream, "frees", b, use.first);
}
} // namespace spmv_emulator
