// Members of a new team find one another in words of the heap, by a number that only the members know.
#include "host/compat/nvshmem/member_gathering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "pgas/atomic.hpp"
#include "pgas/rma.hpp"

namespace pgas::compat {

namespace {

constexpr int slots_per_pe =
    32;  // the number of teams with the same home PE that can be under construction at the same time
constexpr std::uint64_t has_read_all = std::uint64_t{1} << 63;  // a flag in a member's word

/// Calls `done` until it returns true. *Errors* wait_timeout, the world's first failure.
void wait_for(world& w, const char* what, const std::function<bool()>& done) {
  using clock = std::chrono::steady_clock;
  const auto limit = w.settings().wait_timeout;
  const auto begin = clock::now();
  while (!done()) {
    w.check();
    if (limit.count() != 0 && clock::now() - begin > limit)
      throw error(code::wait_timeout, fmt::format("nvshmemx_team_init: waited {} ms for {}", limit.count(), what));
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace

member_gathering::member_gathering(world& joined)
    : world_(joined),
      lock_(static_cast<lock_t*>(joined.allocate_bytes(1, sizeof(lock_t), alignof(lock_t), initialize::zero))),
      slots_(static_cast<std::uint64_t*>(
          joined.allocate_bytes(static_cast<std::size_t>(slots_per_pe) * (static_cast<std::size_t>(joined.n_pes()) + 1),
                                sizeof(std::uint64_t), memory_hint::atomics_remote, initialize::zero))) {}

std::uint64_t* member_gathering::slot(int number) const { return slots_ + number * (world_.n_pes() + 1); }

int member_gathering::home(std::uint64_t id) const {
  return static_cast<int>(id % static_cast<std::uint64_t>(world_.n_pes()));
}

std::uint64_t* member_gathering::find(std::uint64_t id) const {
  for (int i = 0; i < slots_per_pe; ++i)
    if (atomic_fetch(world_, slot(i), home(id)) == id) return slot(i);
  return nullptr;
}

std::uint64_t* member_gathering::find_or_claim(std::uint64_t id) {
  // The search needs a lock. Without it two members could find different slots, because slots become free at any time.
  set_lock(world_, lock_);
  std::uint64_t* found = find(id);
  for (int i = 0; found == nullptr && i < slots_per_pe; ++i)
    if (atomic_fetch(world_, slot(i), home(id)) == 0) found = slot(i);
  if (found != nullptr) atomic_set(world_, found, id, home(id));
  clear_lock(world_, lock_);
  return found;
}

std::vector<int> member_gathering::gather_members(std::uint64_t id, int size, int index) {
  std::uint64_t* found = nullptr;
  wait_for(world_, "a free slot", [&] { return (found = find_or_claim(id)) != nullptr; });
  const auto me = static_cast<std::uint64_t>(world_.my_pe()) + 1;
  const std::uint64_t other = atomic_swap(world_, found + 1 + index, me, home(id));
  if (other != 0)
    throw error(code::invalid_argument,
                fmt::format("nvshmemx_team_init: PE {} and PE {} both have index {} in the team",
                            (other & ~has_read_all) - 1, me - 1, index));
  std::vector<std::uint64_t> members(static_cast<std::size_t>(size));
  const auto wait_for_all = [&](auto&& ready) {
    wait_for(world_, "the other members", [&] {
      get(world_, members.data(), found + 1, members.size(), home(id));
      return std::all_of(members.begin(), members.end(), ready);
    });
  };
  wait_for_all([](std::uint64_t member) { return member != 0; });
  std::vector<int> pes;
  for (const std::uint64_t member : members) pes.push_back(static_cast<int>(member & ~has_read_all) - 1);
  atomic_set(world_, found + 1 + index, me | has_read_all, home(id));
  if (index == 0) {
    wait_for_all([](std::uint64_t member) { return (member & has_read_all) != 0; });
    const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(size));
    put(world_, found + 1, zeros.data(), zeros.size(), home(id));
    atomic_set(world_, found, 0, home(id));
  }
  return pes;
}

}  // namespace pgas::compat
