#include "common/trace/recorder.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace pgas::trace {

struct recorder::ring {
  explicit ring(std::size_t capacity) : events(std::make_unique_for_overwrite<recorded_event[]>(capacity)) {}

  std::unique_ptr<recorded_event[]> events;
  std::uint64_t written = 0;
  std::atomic<bool> busy{false};
  int thread = 0;
  std::string name;
};

namespace {

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> recorders{0};
  return recorders.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

recorder::recorder(std::size_t events_per_thread) : capacity_(events_per_thread), id_(next_id()) {}

recorder::~recorder() = default;

recorder::ring* recorder::mine() noexcept {
  struct last_used {
    std::uint64_t recorder = 0;
    ring* of_it = nullptr;
  };
  thread_local last_used last;
  if (last.recorder != id_) last = {id_, make_ring()};
  return last.of_it;
}

recorder::ring* recorder::make_ring() noexcept {
  try {
    const int thread = static_cast<int>(::syscall(SYS_gettid));
    const std::lock_guard lock(mutex_);
    // The thread can already have a ring, because a thread that alternates between several worlds calls this function
    // each time it changes to another world.
    const auto known = std::ranges::find_if(rings_, [&](const auto& item) { return item->thread == thread; });
    if (known != rings_.end()) return known->get();
    if (rings_.size() == most_threads) return nullptr;
    auto result = std::make_unique<ring>(capacity_);
    result->thread = thread;
    std::array<char, 16> name{};
    if (::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0) result->name = name.data();
    rings_.push_back(std::move(result));
    return rings_.back().get();
  } catch (const std::exception&) {
    return nullptr;  // out of memory
  }
}

void recorder::add(const recorded_event& event) noexcept {
  ring* const to = mine();
  if (to == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // The accesses of busy and closed_ are sequentially consistent here and in close(). Therefore, either this thread
  // sees that recording has ended, or close() sees that this thread is busy.
  to->busy.store(true);
  if (!closed_.load()) to->events[to->written++ % capacity_] = event;
  to->busy.store(false, std::memory_order_release);
}

void recorder::close() noexcept {
  closed_.store(true);
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<ring>& thread_ring : rings_)
    while (thread_ring->busy.load()) std::this_thread::yield();
}

std::vector<recorder::thread_events> recorder::take() const {
  const std::lock_guard lock(mutex_);
  std::vector<thread_events> all;
  for (const std::unique_ptr<ring>& thread_ring : rings_) {
    thread_events& thread = all.emplace_back();
    thread.thread = thread_ring->thread;
    thread.name = thread_ring->name;
    const std::uint64_t first = thread_ring->written - std::min<std::uint64_t>(thread_ring->written, capacity_);
    thread.lost = first;
    thread.events.reserve(thread_ring->written - first);
    for (std::uint64_t at = first; at < thread_ring->written; ++at)
      thread.events.push_back(thread_ring->events[at % capacity_]);
  }
  return all;
}

}  // namespace pgas::trace
