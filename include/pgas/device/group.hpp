/// @file
/// Groups: the threads that make a call together. A group needs a subset of the functions of cooperative groups, so
/// `cooperative_groups::thread_block`, tiles and coalesced groups are groups too. Calls that may wait also need a vote:
/// if a wait of one thread of a group fails, the vote lets all threads of the group end.
/// `cooperative_groups::grid_group` has no vote, so calls that may wait do not compile with it; use `grid`.
///
/// | type | threads | where |
/// | --- | --- | --- |
/// | this_thread | the calling thread | everywhere |
/// | warp | this_warp(block): 32 neighbouring threads of the block; on the CPU each thread is a warp | everywhere |
/// | block | a block of the grid: this_block() in a kernel; on the CPU the cpu_block of the launcher | everywhere |
/// | warpgroup | this_warpgroup(block): the 128 threads of the block with the same rank / 128 | everywhere |
/// | named_group | whole warps of the block, in any combination, that share a hardware barrier | everywhere |
/// | launched_block | the block that launch() passes to a kernel, with access to its grid | kernels of launch() |
/// | grid | this_grid(block), see grid.hpp: all threads of all blocks | kernels of launch() |
///
/// **Parts of a block.** A named_group consists of warps of a block that make calls together while the other warps of
/// the block do something else. The warps of the group share one of the block's 16 hardware barriers (PTX `barrier`,
/// CUTLASS' NamedBarrier). A warpgroup is a named_group.
///
///     if (threadIdx.x >= 64) {  // the producers: warps 2 to 5 of a block
///       const pgas::named_group producers(6, 128, threadIdx.x - 64);
///       pgas::put_signal(ctx, producers, dst, src, n, sig, 1, pgas::signal_op::add, pe);
///     }
///
/// * *Barriers* are numbered 1 to 15; `__syncthreads()` uses barrier 0. CUTLASS uses barriers 1 to 7 and leaves the
///   barriers from 8 on to its users. Each warpgroup has one barrier: the first warpgroup has 15, the second 14, and so
///   on to 8 in a block of 1024 threads.
/// * A barrier counts warps that arrive and does not know which warps they are. No other code may use the barrier until
///   all threads of the group have returned from their last call.
/// * No warp of a group may end before the other warps' last call, because the other warps would wait for that warp for
///   ever. A single thread may end. If the thread with rank 0 has ended, a call that waits ends the other threads.
/// * In kernels with a call that waits, the votes of the groups take 256 bytes of shared memory, 16 for each barrier.
/// * Two groups that call collectives of one team at the same time need separate channels, as two blocks do.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/isa/ptx_named_barrier.hpp"
#include "pgas/detail/isa/ptx_warp.hpp"

#if !defined(__CUDACC__)
#include "pgas/device/impl/sync/cpu_block.hpp"
#endif

namespace pgas {

namespace detail {

template <class Number>
using if_number = std::enable_if_t<std::is_convertible_v<Number, std::uint64_t>>;
template <class G>
using group_members = std::void_t<if_number<decltype(some<G>().thread_rank())>, if_number<decltype(some<G>().size())>,
                                  decltype(some<G>().sync())>;
template <class G>
using block_members =
    std::void_t<if_number<decltype(some<G>().block_rank())>, if_number<decltype(some<G>().num_blocks())>>;

}  // namespace detail

/// @brief Whether G is a group: threads that call an operation together, all with the same arguments, converged.
template <class G>
inline constexpr bool is_group = detail::valid<detail::group_members, G>;

namespace detail {
/// void if G is a group. If G is not a group, substitution fails. In C++17, if_group prevents overload resolution from
/// taking another argument, such as a PE number, for a group.
template <class G>
using if_group = std::enable_if_t<is_group<G>>;
}  // namespace detail

/// @brief A group that is one block of a grid.
///
/// The group has member functions with the names of cooperative_groups::grid_group's member functions.
template <class G>
inline constexpr bool is_block_group = (is_group<G> && detail::valid<detail::block_members, G>);

#if __cpp_concepts >= 201907L  // the same as concepts
template <class G>
concept group = is_group<G>;
template <class G>
concept block_group = is_block_group<G>;
#endif

/// @brief The calling thread alone.
///
/// Operations without a group argument behave as with this_thread.
class this_thread {
 public:
  /// @brief The rank of the only thread.
  [[nodiscard]] PGAS_FN static constexpr std::uint32_t thread_rank() { return 0; }
  /// @brief One thread.
  [[nodiscard]] PGAS_FN static constexpr std::uint32_t size() { return 1; }
  /// @brief Has no effect, because there is no other thread.
  PGAS_FN static void sync() {}
};

namespace detail {

/// Groups of one thread: this_thread, and the warps of the CPU.
template <class G>
inline constexpr bool single = std::is_base_of_v<this_thread, G>;

}  // namespace detail

#if defined(__CUDACC__)

/// @brief All threads of the calling block, at most 1024.
class block {
 public:
  /// @brief Linear index of the calling thread.
  [[nodiscard]] PGAS_FN static std::uint32_t thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  [[nodiscard]] PGAS_FN static std::uint32_t size() { return blockDim.x * blockDim.y * blockDim.z; }
  PGAS_FN static void sync() { __syncthreads(); }
  /// @brief Linear index of the block in its grid.
  [[nodiscard]] PGAS_FN static std::uint32_t block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  [[nodiscard]] PGAS_FN static std::uint32_t num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }

  /// @brief Votes: true on all threads if `yes` is true on any thread.
  ///
  /// The call is also a sync().
  [[nodiscard]] PGAS_FN static bool any(bool yes) { return __syncthreads_or(yes ? 1 : 0) != 0; }
  /// @brief Returns the value of the thread with rank 0 on all threads, or ends all threads if that thread has ended.
  ///
  /// The call is also a sync().
  template <class T>
  [[nodiscard]] PGAS_FN static T broadcast(T value) {
    __shared__ T room;
    const bool first = thread_rank() == 0;
    if (first) room = value;
    if (!any(first)) PGAS_UNLIKELY
      detail::end_thread();
    const T all = room;
    sync();
    return all;
  }
};

namespace detail {
struct grid_state;
struct grid_visit;
}  // namespace detail

/// @brief The block that launch() passes to a kernel, with a barrier across its grid. this_grid() takes the block.
class launched_block : public block {
 public:
  /// @brief Constructor for launchers.
  ///
  /// @param grid the state that the blocks of one launch share
  PGAS_FN explicit launched_block(detail::grid_state* grid) : grid_(reinterpret_cast<std::uintptr_t>(grid)) {}
  /// @brief Constructor for launchers.
  ///
  /// @param visit the calling thread's grid_visit, if the launch takes its shared state from a table
  PGAS_FN explicit launched_block(detail::grid_visit* visit) : grid_(reinterpret_cast<std::uintptr_t>(visit) + 1) {}
  /// @brief For the library's internal use: the two pointers of the constructors, one of which is null.
  [[nodiscard]] PGAS_FN detail::grid_state* grid_state() const {
    return visit() == nullptr ? reinterpret_cast<detail::grid_state*>(grid_) : nullptr;
  }
  [[nodiscard]] PGAS_FN detail::grid_visit* visit() const {
    return (grid_ & 1) != 0 ? reinterpret_cast<detail::grid_visit*>(grid_ - 1) : nullptr;
  }

 private:
  std::uintptr_t grid_;  ///< one of two pointers, to keep the group small: out-of-line functions receive a copy
};

/// @brief Up to 32 threads of a block with neighbouring ranks; the last warp of a block may have fewer.
class warp {
 public:
  PGAS_FN warp(std::uint32_t rank_in_block, std::uint32_t block_size) : rank_(rank_in_block), block_size_(block_size) {}

  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return rank_ % detail::warp_size; }
  [[nodiscard]] PGAS_FN std::uint32_t size() const {
    const std::uint32_t left = block_size_ - rank_ / detail::warp_size * detail::warp_size;
    return left < detail::warp_size ? left : detail::warp_size;
  }
  PGAS_FN void sync() const { __syncwarp(); }
  /// @brief The number of this warp in its block.
  ///
  /// Tiles of cooperative_groups also have meta_group_rank() and meta_group_size().
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_rank() const { return rank_ / detail::warp_size; }
  /// @brief The number of warps of the block.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_size() const {
    return (block_size_ + detail::warp_size - 1) / detail::warp_size;
  }
  /// @brief The mask of this warp's lanes. The last warp of a block may have fewer than 32 lanes.
  [[nodiscard]] PGAS_FN detail::lane_mask mask() const { return detail::every_lane >> (detail::warp_size - size()); }

  /// @brief Votes: true on all lanes if `yes` is true on any lane.
  ///
  /// Like the function of cooperative_groups, the call does not order memory.
  [[nodiscard]] PGAS_FN bool any(int yes) const { return __any_sync(detail::every_lane, yes) != 0; }
  /// @brief Returns the value of lane `from` on all lanes.
  ///
  /// Like the function of cooperative_groups, the call does not order memory.
  [[nodiscard]] PGAS_FN std::uint32_t shfl(std::uint32_t value, int from) const {
    return __shfl_sync(detail::every_lane, value, from);
  }

 private:
  std::uint32_t rank_;
  std::uint32_t block_size_;
};

/// @brief Several warps of a block that call operations together and use one of the block's hardware barriers: see the
/// top of this file.
class named_group {
 public:
  /// @brief A group of warps.
  ///
  /// @param barrier 1 to 15, not used by other code
  /// @param size number of threads, a multiple of 32: whole warps of the block, in any combination
  /// @param rank rank of the calling thread, 0 to size - 1; the ranks of a warp are consecutive and start at a multiple
  /// of 32
  PGAS_FN named_group(std::uint32_t barrier, std::uint32_t size, std::uint32_t rank)
      : barrier_(barrier), size_(size), rank_(rank) {}

  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return rank_; }
  [[nodiscard]] PGAS_FN std::uint32_t size() const { return size_; }
  PGAS_FN void sync() const { detail::named_barrier_sync(barrier_, counted()); }

  /// @brief Votes: true on all threads if `yes` is true on any thread.
  ///
  /// The call is also a sync().
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return detail::named_barrier_any(barrier_, counted(), yes); }
  /// @brief Returns the value of the thread with rank 0 on all threads, or ends all threads if that thread has ended.
  ///
  /// The call is also a sync().
  ///
  /// *Memory* T is trivially copyable, a multiple of 4 bytes.
  template <class T>
  [[nodiscard]] PGAS_FN T broadcast(T value) const {
    struct value_words {
      std::uint32_t w[sizeof(T) / 4];
    };
    static_assert(sizeof(T) % 4 == 0);
    auto all = detail::bits_as<value_words>(value);
    std::uint32_t* const room = answer();
    PGAS_UNROLL
    for (std::uint32_t first = 0; first < sizeof(T) / 4; first += words) {
      const std::uint32_t n = sizeof(T) / 4 - first < words ? sizeof(T) / 4 - first : words;
      if (rank_ == 0) {
        for (std::uint32_t i = 0; i < n; ++i) room[i] = all.w[first + i];
      }
      if (!any(rank_ == 0)) PGAS_UNLIKELY
        detail::end_thread();
      for (std::uint32_t i = 0; i < n; ++i) all.w[first + i] = room[i];
      sync();  // all threads read the value before the next value is written
    }
    return detail::bits_as<T>(all);
  }

 private:
  static constexpr std::uint32_t words = 4;  ///< words of shared memory that each barrier has for results

  /// @brief The shared memory for results of the group's votes and broadcasts. Values of all types use the same memory.
  [[nodiscard]] PGAS_FN std::uint32_t* answer() const {
    alignas(16) __shared__ std::uint32_t answers[detail::hardware_barriers * words];
    return answers + barrier_ * words;
  }
  /// @brief The barrier counts each warp as 32 threads, even if the warp has fewer.
  [[nodiscard]] PGAS_FN std::uint32_t counted() const {
    return (size_ + detail::warp_size - 1) / detail::warp_size * detail::warp_size;
  }

  std::uint32_t barrier_;
  std::uint32_t size_;
  std::uint32_t rank_;
};

/// @brief The calling block.
[[nodiscard]] PGAS_FN block this_block() { return {}; }

namespace detail {
/// For failure records: the linear index of the calling block in its grid, and of the calling thread in its block.
[[nodiscard]] PGAS_FN std::uint32_t place_block() { return block::block_rank(); }
[[nodiscard]] PGAS_FN std::uint32_t place_thread() { return block::thread_rank(); }
/// The number of the launch, because threads of two launches may have equal indices.
[[nodiscard]] PGAS_FN std::uint32_t place_launch() { return launch_number(); }
/// The number of entries that a thread tries in the table of answers to the host's question.
inline constexpr std::uint32_t place_tries = 1;
}  // namespace detail

#else

/// @brief A block on the CPU, whose threads are CPU threads. The launcher passes the block to the program.
using block = cpu_block;
/// @brief On the CPU a launcher creates every block, so launched_block is the same type as block.
using launched_block = cpu_block;

/// @brief On the CPU each thread is a warp of its own, so programs must not rely on 32 lanes.
class warp : public this_thread {
 public:
  /// @brief The warp of the thread with this rank; this_warp() creates it.
  warp(std::uint32_t rank_in_block, std::uint32_t block_size) : rank_(rank_in_block), block_size_(block_size) {}

  /// @brief The number of this warp in its block.
  [[nodiscard]] std::uint32_t meta_group_rank() const { return rank_; }
  /// @brief The number of warps of the block.
  [[nodiscard]] std::uint32_t meta_group_size() const { return block_size_; }

 private:
  std::uint32_t rank_;
  std::uint32_t block_size_;
};

/// @brief Several warps of a block that call operations together and use one of the block's hardware barriers: see the
/// top of this file.
///
/// On the CPU the members may be any threads of a block.
///
/// *Errors* std::logic_error outside a launcher's block.
class named_group {
 public:
  /// @brief A group of threads.
  ///
  /// @param barrier 1 to 15, not used by other code
  /// @param size number of threads; on GPUs a multiple of 32: whole warps of the block, in any combination
  /// @param rank rank of the calling thread, 0 to size - 1; the ranks of a warp are consecutive and start at a multiple
  /// of 32
  named_group(std::uint32_t barrier, std::uint32_t size, std::uint32_t rank)
      : members_(detail::named_members(barrier, size, rank)) {}

  /// @brief The rank that the caller has passed.
  [[nodiscard]] std::uint32_t thread_rank() const { return members_.thread_rank(); }
  /// @brief The number of members.
  [[nodiscard]] std::uint32_t size() const { return members_.size(); }
  /// @brief Returns when all members have called sync().
  void sync() const { members_.sync(); }
  /// @brief Votes: true on all members if `yes` is true on any member.
  ///
  /// The call is also a sync().
  [[nodiscard]] bool any(bool yes) const { return members_.any(yes); }
  /// @brief Returns the value of the member with rank 0 on all members.
  ///
  /// The call is also a sync().
  template <class T>
  [[nodiscard]] T broadcast(T value) const {
    return members_.broadcast(value);
  }

 private:
  cpu_block members_;
};

namespace detail {
[[nodiscard]] inline std::uint32_t place_block() { return this_cpu_thread.block; }
[[nodiscard]] inline std::uint32_t place_thread() { return this_cpu_thread.thread; }
[[nodiscard]] inline std::uint32_t place_launch() {
  const void* const key = this_cpu_thread.grid != nullptr ? this_cpu_thread.grid : static_cast<void*>(&this_cpu_thread);
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(key) * 0x9e37'79b9'7f4a'7c15u >> 32);
}
inline constexpr std::uint32_t place_tries = 4;  // launch numbers are not consecutive on the CPU
}  // namespace detail

#endif

/// @brief The warp of block `from` that contains the caller.
///
/// *Callers* any thread of the block. The function uses only thread_rank() and size() of the block.
template <PGAS_IS(group) Block>
[[nodiscard]] PGAS_FN warp this_warp(const Block& from) {
  return {static_cast<std::uint32_t>(from.thread_rank()), static_cast<std::uint32_t>(from.size())};
}

/// @brief A warpgroup: the threads of a block for which rank / 128 is equal, as wgmma instructions of sm_90 use them.
/// The last warpgroup of a block may have fewer threads.
///
/// The warpgroup is a named_group with barrier 15 - rank / 128.
class warpgroup : public named_group {
 public:
  /// @brief The warpgroup of the thread with this rank; this_warpgroup() creates it.
  PGAS_FN warpgroup(std::uint32_t rank_in_block, std::uint32_t block_size)
      : named_group(15 - rank_in_block / threads, size_of(rank_in_block, block_size), rank_in_block % threads),
        place_(rank_in_block / threads << 16 | (block_size + threads - 1) / threads) {}

  /// @brief The number of this warpgroup in its block.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_rank() const { return place_ >> 16; }
  /// @brief The number of warpgroups of the block.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_size() const { return place_ & 0xffff; }

 private:
  static constexpr std::uint32_t threads = 128;

  [[nodiscard]] PGAS_FN static std::uint32_t size_of(std::uint32_t rank_in_block, std::uint32_t block_size) {
    const std::uint32_t left = block_size - rank_in_block / threads * threads;
    return left < threads ? left : threads;
  }

  std::uint32_t place_;  ///< two numbers in one word, to keep the group small: out-of-line functions receive a copy
};

/// @brief The warpgroup of block `from` that contains the caller.
///
/// *Callers* any thread of the block. The function uses only thread_rank() and size() of the block.
template <PGAS_IS(group) Block>
[[nodiscard]] PGAS_FN warpgroup this_warpgroup(const Block& from) {
  return {static_cast<std::uint32_t>(from.thread_rank()), static_cast<std::uint32_t>(from.size())};
}

static_assert(is_group<this_thread> && is_group<warp> && is_block_group<block>);
static_assert(is_group<named_group> && is_group<warpgroup>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
