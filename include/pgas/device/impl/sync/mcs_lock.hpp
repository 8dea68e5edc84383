/// @file
/// The queue lock of `device/lock.hpp` and of the host's locks. MCS lock: Mellor-Crummey and Scott, "Algorithms for
/// scalable synchronization on shared-memory multiprocessors" (1991). A PE appends itself to the queue, stores its own
/// number at its predecessor, and polls its own memory. The holder passes the lock to its successor. PEs therefore take
/// the lock in the order of their requests, and no PE polls over a link.
///
/// The queue needs only the lock word. Every PE has such a word, with two halves:
/// * `tail` is 1 + the number of the last PE in the queue. Only the `tail` on one PE of the team, the home of the lock,
///   is used. Different locks may have different homes.
/// * `seat` belongs to the PE whose memory contains the word, and is that PE's node in the queue. `seat` tells whether
///   a thread of that PE holds or awaits the lock, whether the thread holds the lock, and which PE is the successor.
///
/// A lock of zeros is free. Every access goes through the class `Words`, so that the host can run the algorithm too.
#pragma once

#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"
#include "pgas/device/impl/sync/wait.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The two halves of a lock word.
struct lock_word {
  std::uint32_t tail;
  std::uint32_t seat;

  static constexpr std::uint32_t taken = 1u << 31;  ///< bit of `seat`: a thread of the PE holds or awaits the lock
  static constexpr std::uint32_t holds = 1u << 30;  ///< bit of `seat`: the thread holds the lock
  static constexpr std::uint32_t next = holds - 1;  ///< bits of `seat`: 1 + the successor, 0 if none is known
};

/// The result of an attempt to set or clear a lock.
enum class lock_result { done, busy, ended, not_held };

/// Tries to set `taken` in this PE's `seat`, the PE's node in the queue. Other threads of this PE may try at the same
/// time.
template <class Words>
[[nodiscard]] PGAS_FN bool sit_down(const Words& w) {
  return w.compare_exchange(&lock_word::seat, w.me(), 0u, lock_word::taken) == 0;
}

template <class Words>
[[nodiscard]] PGAS_FN lock_result lock_set(const Words& w) {
  using word = lock_word;
  if (!sit_down(w) && !w.await([&] { return sit_down(w); }, w.me())) return lock_result::ended;
  w.acquire();  // the thread of this PE that used `seat` before has left the queue
  // A successor reads `tail` and then links itself to `seat`. The release orders `taken` in `seat` before these
  // accesses.
  w.release();
  const auto mine = static_cast<std::uint32_t>(w.me() + 1);
  const std::uint32_t before = w.exchange(&word::tail, w.home(), mine);
  if (before == 0) {
    w.acquire();
    w.merge(&word::seat, w.me(), word::holds);
    return lock_result::done;
  }
  const auto predecessor = static_cast<std::int32_t>(before - 1);
  w.acquire();
  w.merge(&word::seat, predecessor, mine);
  if (!w.await([&] { return (w.load(&word::seat) & word::holds) != 0; }, predecessor)) return lock_result::ended;
  w.acquire();
  return lock_result::done;
}

template <class Words>
[[nodiscard]] PGAS_FN lock_result lock_test(const Words& w) {
  using word = lock_word;
  if (!sit_down(w)) return lock_result::busy;
  w.acquire();
  w.release();
  const auto mine = static_cast<std::uint32_t>(w.me() + 1);
  if (w.compare_exchange(&word::tail, w.home(), 0u, mine) != 0) {
    w.store(&word::seat, 0u);  // `tail` has never named this PE, so no other PE has accessed this PE's `seat`
    return lock_result::busy;
  }
  w.acquire();
  w.merge(&word::seat, w.me(), word::holds);
  return lock_result::done;
}

template <class Words>
[[nodiscard]] PGAS_FN lock_result lock_clear(const Words& w) {
  using word = lock_word;
  std::uint32_t seat = w.load(&word::seat);
  if ((seat & word::holds) == 0) return lock_result::not_held;
  w.release();
  if ((seat & word::next) == 0) {
    const auto mine = static_cast<std::uint32_t>(w.me() + 1);
    if (w.compare_exchange(&word::tail, w.home(), mine, 0u) == mine) {
      // The change of `tail` comes before the store to `seat`. In the reverse order, the next thread of this PE could
      // find this PE in `tail`.
      w.release();
      w.store(&word::seat, 0u);
      return lock_result::done;
    }
    const auto successor_known = [&] {
      seat = w.load(&word::seat);
      return (seat & word::next) != 0;
    };
    if (!w.await(successor_known, -1)) return lock_result::ended;  // a successor in the queue has not linked itself
    w.acquire();
    w.release();
  }
  w.store(&word::seat, 0u);
  w.merge(&word::seat, static_cast<std::int32_t>((seat & word::next) - 1), word::holds);
  return lock_result::done;
}

/// The words of a lock as kernels access them, by the PE numbers of a context's team.
class device_lock_words {
 public:
  PGAS_FN device_lock_words(const context& ctx, std::uint64_t* lock)
      : ctx_(ctx), lock_(reinterpret_cast<lock_word*>(lock)) {}

  [[nodiscard]] PGAS_FN std::int32_t me() const { return ctx_.my_pe(); }
  /// Neighbouring locks have different home PEs, so the accesses to an array of locks do not all go to one PE.
  [[nodiscard]] PGAS_FN std::int32_t home() const {
    return static_cast<std::int32_t>(ctx_.offset(lock_) / sizeof(lock_word) % static_cast<std::uint32_t>(ctx_.n_pes()));
  }

  [[nodiscard]] PGAS_FN std::uint32_t load(std::uint32_t lock_word::*half) const {
    return load_relaxed(&(lock_->*half));
  }
  PGAS_FN void store(std::uint32_t lock_word::*half, std::uint32_t value) const {
    store_relaxed(&(lock_->*half), value);
  }
  PGAS_FN void merge(std::uint32_t lock_word::*half, std::int32_t pe, std::uint32_t bits) const {
    ctx_.by_route(
        &(lock_->*half), pe, [=](const context&, std::uint32_t* remote) { reduce<rmw::bit_or>(remote, bits); },
        [=](const context& here, std::uint32_t* at, std::int32_t proxied_pe) {
          proxied_update(proxy_queue_of(here), {operation::lock, proxied_pe, here.offset(at)}, atomic_update::bit_or,
                         datatype::u32, bits);
        });
  }
  [[nodiscard]] PGAS_FN std::uint32_t exchange(std::uint32_t lock_word::*half, std::int32_t pe,
                                               std::uint32_t value) const {
    return ctx_.by_route(
        &(lock_->*half), pe, [=](const context&, std::uint32_t* remote) { return detail::exchange(remote, value); },
        [=](const context& here, std::uint32_t* at, std::int32_t proxied_pe) {
          return by_proxy(here, at, proxied_pe, atomic_update::swap, value, 0);
        });
  }
  [[nodiscard]] PGAS_FN std::uint32_t compare_exchange(std::uint32_t lock_word::*half, std::int32_t pe,
                                                       std::uint32_t condition, std::uint32_t value) const {
    return ctx_.by_route(
        &(lock_->*half), pe,
        [=](const context&, std::uint32_t* remote) { return detail::compare_exchange(remote, condition, value); },
        [=](const context& here, std::uint32_t* at, std::int32_t proxied_pe) {
          return by_proxy(here, at, proxied_pe, atomic_update::compare_swap, value, condition);
        });
  }
  /// Orders earlier operations of this thread before its next access to the lock, by any route.
  PGAS_FN void release() const {
    quiet_proxied(ctx_, operation::lock);
    fence_release();
  }
  PGAS_FN void acquire() const { fence_acquire(); }

  /// Polls until `holds` returns true. @return False if the wait failed. If the wait failed, a failure record names
  /// `pe` as the awaited PE.
  template <class Holds>
  [[nodiscard]] PGAS_FN bool await(const Holds& holds, std::int32_t pe) const {
    return poll_until(ctx_.control_, holds, [&](wait_state now) {
             report(ctx_, wait_record(now, operation::lock, pe < 0 ? -1 : ctx_.team().world_pe(pe), ctx_.offset(lock_),
                                      cmp::eq, std::uint64_t{lock_word::holds}, std::uint64_t{load(&lock_word::seat)}));
           }) == failure::none;
  }

 private:
  [[nodiscard]] PGAS_FN static std::uint32_t by_proxy(const context& ctx, std::uint32_t* at, std::int32_t world_pe,
                                                      atomic_update update, std::uint32_t value,
                                                      std::uint32_t condition) {
    return static_cast<std::uint32_t>(proxied_fetch(proxy_queue_of(ctx), {operation::lock, world_pe, ctx.offset(at)},
                                                    update, datatype::u32, value, condition));
  }

  const context& ctx_;
  lock_word* lock_;
};

/// Ends the thread if a lock operation failed; for a wait that failed the record is already written.
PGAS_FN void lock_or_end(const context& ctx, const std::uint64_t* lock, lock_result result) {
  if (result == lock_result::not_held) PGAS_UNLIKELY {
    report(ctx, bad_argument(failure::not_held, operation::lock, ctx.world_pe_, ctx.offset(lock), sizeof *lock));
    end_thread();
  }
  if (result == lock_result::ended) PGAS_UNLIKELY
    end_thread();
}

}  // namespace pgas::detail
