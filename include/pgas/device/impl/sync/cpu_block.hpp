/// @file
/// A block of threads on the CPU. The threads share a cpu_block_state. Launchers use the state; programs see only the
/// cpu_block. The barrier has a central counter: one word contains arrivals, generation and failure.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/poll_fairness.hpp"

namespace pgas::detail {

/// The shared state of a block: a barrier that opens for all members when one of them fails, and memory for a value.
///
/// *Memory* must outlive all members. The launcher creates one object for each block.
class cpu_block_state {
 public:
  /// Largest value of a broadcast().
  static constexpr std::size_t broadcast_bytes = 64;

  /// @param members at most 65535
  explicit cpu_block_state(std::uint32_t members) : word_(members) {}
  cpu_block_state(const cpu_block_state&) = delete;
  cpu_block_state& operator=(const cpu_block_state&) = delete;

  /// Returns when all members have arrived, except those that have left. Throws thread_ended if a member has failed.
  void arrive_and_wait() {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    do {
      if ((seen & failed_bit) != 0) throw thread_ended{};
      after = completed(seen + one_arrival);
    } while (!word_.compare_exchange_weak(seen, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (generation(after) != generation(seen)) {
      wake_all();
    } else {
      wait_for_change(generation(seen));
    }
  }

  /// Removes a member from later barriers. A GPU thread that has returned does not take part in barriers either.
  void leave() {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (
        !word_.compare_exchange_weak(seen, completed(seen - 1), std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    wake_all();
  }

  /// Reports that a member ended by an exception: the other members' waits throw thread_ended, now and later.
  void fail() {
    word_.fetch_or(failed_bit, std::memory_order_acq_rel);
    wake_all();
    const std::lock_guard<std::mutex> lock(parts_);
    for (const part& each : named_) each.state->fail();
  }

  /// The state of the named_group `id` with `members` members. The first call creates the state. The state fails
  /// together with the block.
  [[nodiscard]] cpu_block_state& named(std::uint32_t id, std::uint32_t members) {
    const std::lock_guard<std::mutex> lock(parts_);
    for (const part& each : named_) {
      if (each.id == id && each.members == members) return *each.state;
    }
    named_.push_back({id, members, std::make_unique<cpu_block_state>(members)});
    cpu_block_state& result = *named_.back().state;
    if ((word_.load(std::memory_order_acquire) & failed_bit) != 0) result.fail();
    return result;
  }

  /// The memory for a value: written by one member and read by all, with a barrier before and after.
  [[nodiscard]] void* room() { return room_; }
  /// For votes: the number of members that have voted yes since the last reset.
  [[nodiscard]] std::atomic<std::uint32_t>& votes() { return votes_; }

 private:
  // All state is in one word, so that arriving, leaving and failing are atomic: bit 63 failed, 32..62 generation,
  // 16..31 arrived, 0..15 members.
  static constexpr std::uint64_t failed_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t one_arrival = 1u << 16;
  static constexpr int spins = 200;

  static constexpr std::uint64_t generation(std::uint64_t w) { return (w & ~failed_bit) >> 32; }

  /// Opens the barrier if all members have arrived.
  static constexpr std::uint64_t completed(std::uint64_t w) {
    const std::uint64_t members = w & 0xffffu;
    if ((w >> 16 & 0xffffu) != members) return w;
    return (w & failed_bit) | ((generation(w) + 1) << 32 & ~failed_bit) | members;
  }

  /// Whether the barrier `mine` is open. Throws thread_ended if the barrier will never open.
  [[nodiscard]] bool opened(std::uint64_t mine) const {
    const std::uint64_t now = word_.load(std::memory_order_acquire);
    if (generation(now) != mine) return true;
    if ((now & failed_bit) != 0) throw thread_ended{};
    return false;
  }

  void wait_for_change(std::uint64_t mine) {
    for (int i = 0; i < spins && !core_sharing::of_this_thread().crowded(); ++i) {
      if (opened(mine)) return;
      yield_now_and_then();
    }
    std::unique_lock<std::mutex> lock(sleep_);
    while (!opened(mine)) changed_.wait(lock);
  }

  /// Wakes the sleeping members after the word has changed. The function locks the mutex once, because a thread that
  /// has read the old word holds the mutex until it sleeps.
  void wake_all() {
    { const std::lock_guard<std::mutex> lock(sleep_); }
    changed_.notify_all();
  }

  /// The members of a named_group.
  struct part {
    std::uint32_t id;
    std::uint32_t members;
    std::unique_ptr<cpu_block_state> state;
  };

  alignas(64) std::atomic<std::uint64_t> word_;
  std::atomic<std::uint32_t> votes_{0};
  alignas(64) std::byte room_[broadcast_bytes];
  std::mutex sleep_;
  std::condition_variable changed_;
  std::mutex parts_;  ///< guards named_
  std::vector<part> named_;
};

/// The block and the rank of the calling thread: for failure records, and for groups that are a part of the block.
struct cpu_thread_id {
  std::uint32_t block = 0;
  std::uint32_t thread = 0;
  cpu_block_state* state = nullptr;  ///< state of the block; null outside a block
  const void* grid = nullptr;        ///< equal for all blocks of a launch; null outside a block
};
inline thread_local cpu_thread_id this_cpu_thread;

}  // namespace pgas::detail

namespace pgas {

/// One member's handle of a block on the CPU. Each member has its own handle, which is cheap to copy.
class cpu_block {
 public:
  /// Constructor for launchers. @param state shared by the members of this block
  /// @param grid shared by the members of all blocks; null if the blocks are not all resident
  cpu_block(detail::cpu_block_state& state, std::uint32_t rank, std::uint32_t size, std::uint32_t block_rank = 0,
            std::uint32_t num_blocks = 1, detail::cpu_block_state* grid = nullptr)
      : state_(&state), grid_(grid), rank_(rank), size_(size), block_rank_(block_rank), num_blocks_(num_blocks) {}

  [[nodiscard]] std::uint32_t thread_rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Returns when all members have called sync().
  /// *Errors* throws detail::thread_ended in every member after one member has ended by an exception.
  void sync() const {
    if (size_ > 1) state_->arrive_and_wait();
  }
  [[nodiscard]] std::uint32_t block_rank() const { return block_rank_; }
  [[nodiscard]] std::uint32_t num_blocks() const { return num_blocks_; }

  /// Votes: true on all members if `yes` is true on any member. The call is also a sync().
  [[nodiscard]] bool any(bool yes) const {
    if (size_ == 1) return yes;
    std::atomic<std::uint32_t>& votes = state_->votes();
    if (yes) votes.fetch_add(1, std::memory_order_relaxed);
    sync();
    const bool result = votes.load(std::memory_order_relaxed) != 0;
    sync();
    if (yes) votes.fetch_sub(1, std::memory_order_relaxed);  // subtracts the vote before this member's next arrival
    return result;
  }
  /// Returns the value of the member with rank 0 on all members. The call is also a sync().
  template <class T>
  [[nodiscard]] T broadcast(T value) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::cpu_block_state::broadcast_bytes);
    if (size_ == 1) return value;
    if (rank_ == 0) __builtin_memcpy(state_->room(), &value, sizeof value);
    sync();
    __builtin_memcpy(&value, state_->room(), sizeof value);
    sync();
    return value;
  }

  /// For the library's internal use.
  [[nodiscard]] detail::cpu_block_state& state() const { return *state_; }
  [[nodiscard]] detail::cpu_block_state* grid_state() const { return grid_; }
  /// The members of all blocks as one group. *Errors* std::logic_error if the launcher has not made the grid a group.
  [[nodiscard]] cpu_block whole_grid() const {
    if (num_blocks_ == 1) return *this;
    if (grid_ == nullptr)
      throw std::logic_error(
          "this_grid: the blocks of this kernel do not all run together; launch it with resident = true");
    return {*grid_, block_rank_ * size_ + rank_, num_blocks_ * size_};
  }

 private:
  detail::cpu_block_state* state_;
  detail::cpu_block_state* grid_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::uint32_t block_rank_;
  std::uint32_t num_blocks_;
};

namespace detail {

/// Registers the calling thread as this member as long as the object exists. The library and the program each have a
/// copy of this_cpu_thread. Therefore the library creates a cpu_thread_scope for each member, and the program creates
/// another one.
class cpu_thread_scope {
 public:
  explicit cpu_thread_scope(const cpu_block& block) : before_(this_cpu_thread) {
    const void* const grid = block.grid_state();
    this_cpu_thread = {block.block_rank(), block.thread_rank(), &block.state(),
                       grid != nullptr ? grid : &block.state()};
  }
  ~cpu_thread_scope() { this_cpu_thread = before_; }
  cpu_thread_scope(const cpu_thread_scope&) = delete;
  cpu_thread_scope& operator=(const cpu_thread_scope&) = delete;

 private:
  const cpu_thread_id before_;
};

/// Runs `f(block)` as one member of a block. The membership ends when `f` returns or throws. *Callers* launchers, on
/// the member's thread. *On return* the member has finished. *Errors* throws the exception of `f`, including
/// thread_ended, after the other members have been notified.
template <class F>
void run_member(const cpu_block& block, F&& f) {
  try {
    const cpu_thread_scope here(block);
    f(block);
  } catch (...) {
    block.state().fail();
    if (block.grid_state() != nullptr) block.grid_state()->fail();
    throw;
  }
  block.state().leave();
  if (block.grid_state() != nullptr) block.grid_state()->leave();
}

/// A group of some members of the calling thread's block. *Errors* std::logic_error outside a block.
[[nodiscard]] inline cpu_block named_members(std::uint32_t id, std::uint32_t size, std::uint32_t rank) {
  if (this_cpu_thread.state == nullptr)
    throw std::logic_error("named_group: the calling thread belongs to no block that a launcher made");
  return {this_cpu_thread.state->named(id, size), rank, size};
}

/// The barriers of a grid on the CPU. grid_barrier.hpp has the barriers of grids on GPUs.
[[nodiscard]] inline bool grid_any(const cpu_block& block, bool yes) { return block.whole_grid().any(yes); }
template <class T>
[[nodiscard]] T grid_broadcast(const cpu_block& block, T value) {
  return block.whole_grid().broadcast(value);
}

}  // namespace detail
}  // namespace pgas
