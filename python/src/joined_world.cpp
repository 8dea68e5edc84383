#include "joined_world.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace pgas::python {

joined_world::joined_world(world&& joined) : world_(std::move(joined)), my_pe_(world_->my_pe()) {
  memory_.emplace(*world_);
}

void joined_world::begin(bool compares) { compares_ = memory_->begin(compares); }

world& joined_world::get() {
  if (refuses_) throw error(code::not_joined, "the world was left: join again, or call leave() after the last call");
  return *world_;
}

void joined_world::drop(stream&& one, PyObject* held) noexcept {
  {
    const std::lock_guard lock(table_);
    dropped_streams_.push_back({std::move(one), held});
  }
  release_held();
}

void joined_world::release_held() noexcept {
  const auto works = [this](const stream& each) {
    try {
      return !refuses_ && !detail::is_idle(*world_, each);
    } catch (const std::exception&) {
      return true;  // the process is a child of fork()
    }
  };
  std::vector<dropped_stream> unused;
  {
    const std::lock_guard lock(table_);
    const auto first = std::partition(dropped_streams_.begin(), dropped_streams_.end(),
                                      [&](const dropped_stream& each) { return each.on && works(*each.on); });
    unused.assign(std::make_move_iterator(first), std::make_move_iterator(dropped_streams_.end()));
    dropped_streams_.erase(first, dropped_streams_.end());
  }
  if (unused.empty()) return;
  {
    // Leaving the world waits for streams with unfinished work, and this work may wait for an action of a Python
    // thread.
    const gil_released free;
    for (dropped_stream& each : unused) each.on.reset();
  }
  for (const dropped_stream& each : unused) Py_DECREF(each.held);  // can drop more streams, so the lock is not held
}

void joined_world::keep(team&& dropped) {
  const std::lock_guard lock(table_);
  // If the PE has already left the world, `dropped` is destroyed here.
  if (!took_teams_) dropped_teams_.push_back(std::move(dropped));
}

std::size_t joined_world::collect(const std::string& call) {
  const std::lock_guard lock(collective_);
  static_cast<void>(get());
  return memory_->collect(call);
}

memory joined_world::allocate(std::size_t bytes, std::size_t alignment, bool zero, const std::string& call) {
  const std::lock_guard lock(collective_);
  static_cast<void>(get());
  return memory_->allocate({shared_from_this(), &*memory_}, bytes, alignment, zero, call);
}

std::optional<memory> joined_world::peer(std::uintptr_t from, std::size_t bytes, int pe) {
  static_cast<void>(get());
  return memory_->peer(from, bytes, pe);
}

void joined_world::leave() {
  refuses_ = true;
  const auto limit = world_->settings().join_timeout;
#ifdef __SANITIZE_THREAD__
  using lock_clock = std::chrono::system_clock;  // the thread sanitizer supports timed locks with this clock only
#else
  using lock_clock = std::chrono::steady_clock;
#endif
  std::unique_lock alone(in_use_, lock_clock::now() + limit);  // waits for calls in progress; abort() ends them
  if (!alone) {
    world_->abort("leave: other threads of PE " + std::to_string(my_pe_) + " have been in calls for " +
                  std::to_string(limit.count()) +
                  " ms (PGAS_JOIN_TIMEOUT), such as a lock that no PE releases: end "
                  "these calls before leaving the world");
    alone.lock();
  }
  left_ = true;
  std::vector<team> teams;
  std::vector<std::optional<stream>> streams;
  {
    const std::lock_guard lock(table_);
    took_teams_ = true;
    teams = std::move(dropped_teams_);
    for (dropped_stream& each : dropped_streams_) streams.push_back(std::exchange(each.on, std::nullopt));
  }
  teams.push_back(memory_->end());
  // After leave(), destroying a team needs no other PEs.
  world_->leave();
}

void joined_world::abort(const std::string& reason) noexcept {
  if (!left_) world_->abort(reason);
}

}  // namespace pgas::python
