#include "pgas/lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/poll_fairness.hpp"
#include "pgas/rma.hpp"

namespace pgas {

namespace {

using detail::atomic_update;
using detail::lock_word;

/// The words of an MCS lock, accessed by atomic operations of the host. Every update releases and every read acquires,
/// so the fences of the algorithm are empty.
class host_lock_words {
 public:
  using half = std::uint32_t lock_word::*;

  host_lock_words(world& w, lock_t* lock, const char* what)
      : world_(w), state_(w.state()), lock_(reinterpret_cast<lock_word*>(lock)), what_(what) {
    state_.check();
    state_.check_symmetric(lock, sizeof(lock_t), alignof(lock_t), what);
  }

  [[nodiscard]] std::int32_t me() const { return state_.context().my_pe(); }
  [[nodiscard]] std::int32_t home() const { return detail::device_lock_words(state_.context(), whole()).home(); }

  [[nodiscard]] std::uint32_t load(half which) const { return update(atomic_update::fetch, which, me(), 0, 0); }
  void store(half which, std::uint32_t value) const { update(atomic_update::set, which, me(), value, 0); }
  void merge(half which, std::int32_t pe, std::uint32_t bits) const {
    update(atomic_update::bit_or, which, pe, bits, 0);
  }
  [[nodiscard]] std::uint32_t exchange(half which, std::int32_t pe, std::uint32_t value) const {
    return update(atomic_update::swap, which, pe, value, 0);
  }
  [[nodiscard]] std::uint32_t compare_exchange(half which, std::int32_t pe, std::uint32_t condition,
                                               std::uint32_t value) const {
    return update(atomic_update::compare_swap, which, pe, value, condition);
  }
  void release() const {}
  void acquire() const {}

  /// Polls until `holds` returns true. Throws if the wait ends without this result.
  template <class Holds>
  [[nodiscard]] bool await(const Holds& holds, std::int32_t pe) const {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const auto limit = state_.settings().wait_timeout;
    const detail::waiting_call waiting(state_, what_);
    for (unsigned sleeps = 0; !holds();) {
      state_.check();
      const auto waited = clock::now() - begin;
      if (limit.count() > 0 && waited > limit) throw state_.with_stopped_pe(timed_out(pe, limit));
      if (waited < std::chrono::microseconds(30))
        detail::yield_now_and_then();
      else {
        state_.calls().waits_for(
            {state_.context().offset(lock_), lock_word::holds, 0, static_cast<std::int32_t>(cmp::eq), pe});
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000u, 10 + sleeps++ / 4)));
      }
    }
    return true;
  }

  [[nodiscard]] error not_held() const {
    return {code::invalid_argument,
            fmt::format("{}: PE {} does not hold the lock at heap offset {:#x}", what_, me(),
                        state_.context().offset(lock_)),
            me()};
  }

 private:
  [[nodiscard]] lock_t* whole() const { return reinterpret_cast<lock_t*>(lock_); }

  std::uint32_t update(atomic_update operation, half which, std::int32_t pe, std::uint32_t value,
                       std::uint32_t condition) const {
    return static_cast<std::uint32_t>(
        detail::fetch_update(world_, {operation, detail::datatype::u32, &(lock_->*which), value, condition, true}, pe));
  }

  [[nodiscard]] error timed_out(std::int32_t pe, std::chrono::milliseconds limit) const {
    const std::string ahead = pe < 0       ? std::string("the next PE of the queue did not link itself")
                              : pe == me() ? std::string("another thread of this PE holds it")
                                           : fmt::format("PE {} is ahead in the queue", pe);
    return {code::wait_timeout,
            fmt::format("{} on PE {} gave up after {} ms (PGAS_WAIT_TIMEOUT) on the lock at heap offset {:#x}: {}",
                        what_, me(), limit.count(), state_.context().offset(lock_), ahead),
            pe};
  }

  world& world_;
  detail::world_state& state_;
  lock_word* lock_;
  const char* what_;
};

}  // namespace

void set_lock(world& w, lock_t* lock) { static_cast<void>(detail::lock_set(host_lock_words(w, lock, "set_lock"))); }

bool test_lock(world& w, lock_t* lock) {
  return detail::lock_test(host_lock_words(w, lock, "test_lock")) == detail::lock_result::done;
}

void clear_lock(world& w, lock_t* lock) {
  const host_lock_words words(w, lock, "clear_lock");
  if (detail::lock_clear(words) == detail::lock_result::not_held) throw words.not_held();
}

}  // namespace pgas
