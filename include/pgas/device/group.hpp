/// @file
/// Groups: the threads that make a call together. The requirements are a subset of cooperative groups, so that
/// `cooperative_groups::thread_block`, tiles and coalesced groups satisfy them unchanged. Calls that may wait also need
/// a vote, by which all threads of a group end where one gives up: `cooperative_groups::grid_group` has none and does
/// not compile there; use `grid`.
///
/// | type | threads | where |
/// | --- | --- | --- |
/// | this_thread | the calling one | everywhere |
/// | warp | this_warp(block): 32 neighbours of the block; on the CPU each thread is a warp of its own | everywhere |
/// | block | a block of the grid: this_block() in a kernel; on the CPU the cpu_block of the launcher | everywhere |
/// | warpgroup | this_warpgroup(block): the 128 threads of the block with the same rank / 128 | everywhere |
/// | named_group | any whole warps of the block that share one of its hardware barriers | everywhere |
/// | launched_block | the block as launch() hands it to a kernel, which also knows its grid | kernels of launch() |
/// | grid | this_grid(block), see grid.hpp: all threads of all blocks | kernels of launch() |
///
/// **Parts of a block.** A named_group is warps of a block that call together while its other warps do something else:
/// those that share one of the block's 16 hardware barriers (PTX `barrier`, CUTLASS' NamedBarrier). A warpgroup is one.
///
///     if (threadIdx.x >= 64) {  // the producers: warps 2 to 5 of a block
///       const pgas::named_group producers(6, 128, threadIdx.x - 64);
///       pgas::put_signal(ctx, producers, dst, src, n, sig, 1, pgas::signal_op::add, pe);
///     }
///
/// * *Barriers*: 1 to 15. 0 is that of `__syncthreads()`. CUTLASS takes 1 to 7 itself and numbers its users' from 8 on.
///   Each warpgroup has one: the first 15, the second 14, and so on to 8 in a block of 1024.
/// * A barrier counts warps that arrive and does not know which. So no other group, and nothing else, may use it until
///   all threads have returned from the last call of this one.
/// * No warp of a group may end before the others' last call: they would wait for it for ever. A thread may: where the
///   one with rank 0 has ended, a call that waits ends the others.
/// * Kernels with a call that waits have 256 bytes of shared memory more, 16 for each barrier, for answers.
/// * Two groups that are in collectives of one team at the same time use a channel each, as blocks do.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/isa/ptx_named_barrier.hpp"

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

/// Threads that call an operation together: all of them, with the same arguments, converged.
template <class G>
inline constexpr bool is_group = detail::valid<detail::group_members, G>;

namespace detail {
/// void, for groups: in C++17 it keeps other arguments, such as a PE's number, from being taken for one.
template <class G>
using if_group = std::enable_if_t<is_group<G>>;
}  // namespace detail

/// A group that is one block of a grid. Names as in cooperative_groups::grid_group.
template <class G>
inline constexpr bool is_block_group = (is_group<G> && detail::valid<detail::block_members, G>);

#if __cpp_concepts >= 201907L  // the same as concepts
template <class G>
concept group = is_group<G>;
template <class G>
concept block_group = is_block_group<G>;
#endif

/// The calling thread alone. Operations called without a group behave as with this one.
class this_thread {
 public:
  /// The first and only one.
  [[nodiscard]] PGAS_FN static constexpr std::uint32_t thread_rank() { return 0; }
  /// One thread.
  [[nodiscard]] PGAS_FN static constexpr std::uint32_t size() { return 1; }
  /// Nothing to wait for.
  PGAS_FN static void sync() {}
};

namespace detail {

/// Groups of one thread: this_thread, and the warps of the CPU.
template <class G>
inline constexpr bool single = std::is_base_of_v<this_thread, G>;

}  // namespace detail

#if defined(__CUDACC__)

/// All threads of the calling block, at most 1024.
class block {
 public:
  /// Linear index of the calling thread.
  [[nodiscard]] PGAS_FN static std::uint32_t thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  [[nodiscard]] PGAS_FN static std::uint32_t size() { return blockDim.x * blockDim.y * blockDim.z; }
  PGAS_FN static void sync() { __syncthreads(); }
  /// Linear index of the block in its grid.
  [[nodiscard]] PGAS_FN static std::uint32_t block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  [[nodiscard]] PGAS_FN static std::uint32_t num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }

  /// Whether `yes` holds on any thread, on all threads. Also a sync().
  [[nodiscard]] PGAS_FN static bool any(bool yes) { return __syncthreads_or(yes ? 1 : 0) != 0; }
  /// The value of the thread with rank 0, on all threads; ends them if that thread has ended. Also a sync().
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

/// The block that launch() passes to a kernel: one with a barrier across its grid. this_grid() takes it.
class launched_block : public block {
 public:
  /// *Callers* launchers. @param grid shared by the blocks of one launch
  PGAS_FN explicit launched_block(detail::grid_state* grid) : grid_(reinterpret_cast<std::uintptr_t>(grid)) {}
  /// *Callers* launchers. @param visit the calling thread's, where a launch takes its shared state from a table
  PGAS_FN explicit launched_block(detail::grid_visit* visit) : grid_(reinterpret_cast<std::uintptr_t>(visit) + 1) {}
  /// For the library's own use: one of the two, the other is null.
  [[nodiscard]] PGAS_FN detail::grid_state* grid_state() const {
    return visit() == nullptr ? reinterpret_cast<detail::grid_state*>(grid_) : nullptr;
  }
  [[nodiscard]] PGAS_FN detail::grid_visit* visit() const {
    return (grid_ & 1) != 0 ? reinterpret_cast<detail::grid_visit*>(grid_ - 1) : nullptr;
  }

 private:
  std::uintptr_t grid_;  ///< in one word, as groups are passed to functions out of line
};

/// Up to 32 threads of a block with neighbouring ranks; the last warp of a block may have fewer.
class warp {
 public:
  PGAS_FN warp(std::uint32_t rank_in_block, std::uint32_t block_size) : rank_(rank_in_block), block_size_(block_size) {}

  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return rank_ % 32; }
  [[nodiscard]] PGAS_FN std::uint32_t size() const {
    const std::uint32_t left = block_size_ - rank_ / 32 * 32;
    return left < 32 ? left : 32;
  }
  PGAS_FN void sync() const { __syncwarp(); }
  /// Which warp of its block this is, and how many there are. Names as in cooperative_groups tiles.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_rank() const { return rank_ / 32; }
  /// How many warps the block has.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_size() const { return (block_size_ + 31) / 32; }
  /// The lanes of this warp that exist.
  [[nodiscard]] PGAS_FN std::uint32_t mask() const { return 0xffffffffu >> (32 - size()); }

  /// Whether `yes` holds on any lane. Does not order memory, as in cooperative_groups.
  [[nodiscard]] PGAS_FN bool any(int yes) const { return __any_sync(every_lane, yes) != 0; }
  /// Lane `from`'s value, on all lanes. Does not order memory, as in cooperative_groups.
  [[nodiscard]] PGAS_FN std::uint32_t shfl(std::uint32_t value, int from) const {
    return __shfl_sync(every_lane, value, from);
  }

 private:
  /// Lanes that don't exist count as ended, and nobody waits for them. With a mask that only the kernel knows each call
  /// would compare it with that of all lanes.
  static constexpr std::uint32_t every_lane = 0xffffffff;

  std::uint32_t rank_;
  std::uint32_t block_size_;
};

/// Some warps of a block that call operations together, on a hardware barrier of their own: see the top of this file.
class named_group {
 public:
  /// @param barrier 1 to 15, of nobody else
  /// @param size threads, a multiple of 32: whole warps of the block, any of them
  /// @param rank of the calling thread, 0 to size - 1; those of a warp follow one another from a multiple of 32 on
  PGAS_FN named_group(std::uint32_t barrier, std::uint32_t size, std::uint32_t rank)
      : barrier_(barrier), size_(size), rank_(rank) {}

  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return rank_; }
  [[nodiscard]] PGAS_FN std::uint32_t size() const { return size_; }
  PGAS_FN void sync() const { detail::named_barrier_sync(barrier_, counted()); }

  /// Whether `yes` holds on any thread, on all threads. Also a sync().
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return detail::named_barrier_any(barrier_, counted(), yes); }
  /// The value of the thread with rank 0, on all threads; ends them if that thread has ended. Also a sync(). *Memory* T
  /// is trivially copyable, a multiple of 4 bytes.
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
      sync();  // all have read before the next value is written
    }
    return detail::bits_as<T>(all);
  }

 private:
  static constexpr std::uint32_t words = 4;  ///< of shared memory, for an answer of each barrier's group

  /// The same for all types of answers.
  [[nodiscard]] PGAS_FN std::uint32_t* answer() const {
    __shared__ alignas(16) std::uint32_t answers[detail::hardware_barriers * words];
    return answers + barrier_ * words;
  }
  /// The barrier counts a warp as 32 threads, whatever it has.
  [[nodiscard]] PGAS_FN std::uint32_t counted() const { return (size_ + 31) / 32 * 32; }

  std::uint32_t barrier_;
  std::uint32_t size_;
  std::uint32_t rank_;
};

/// The calling block.
[[nodiscard]] PGAS_FN block this_block() { return {}; }

namespace detail {
/// Linear index of the calling block in its grid, and of the calling thread in its block; for failure records.
[[nodiscard]] PGAS_FN std::uint32_t place_block() { return block::block_rank(); }
[[nodiscard]] PGAS_FN std::uint32_t place_thread() { return block::thread_rank(); }
/// The number of the launch: threads of two launches may have equal indices.
[[nodiscard]] PGAS_FN std::uint32_t place_launch() { return launch_number(); }
/// The places that an answer of such a thread may take.
inline constexpr std::uint32_t place_tries = 1;
}  // namespace detail

#else

/// What the CPU calls a block: real threads, handed to the program by the launcher.
using block = cpu_block;
/// The same on the CPU: every block is one that a launcher made.
using launched_block = cpu_block;

/// On the CPU each thread is a warp of its own: nothing in the program may count on 32 lanes.
class warp : public this_thread {
 public:
  /// The warp of the thread with this rank; this_warp() makes it.
  warp(std::uint32_t rank_in_block, std::uint32_t block_size) : rank_(rank_in_block), block_size_(block_size) {}

  /// Which warp of its block this is.
  [[nodiscard]] std::uint32_t meta_group_rank() const { return rank_; }
  /// How many warps the block has.
  [[nodiscard]] std::uint32_t meta_group_size() const { return block_size_; }

 private:
  std::uint32_t rank_;
  std::uint32_t block_size_;
};

/// Some warps of a block that call operations together, on a hardware barrier of their own: see the top of this file.
/// On the CPU any threads of a block. *Errors* std::logic_error outside of a launcher's block.
class named_group {
 public:
  /// @param barrier 1 to 15, of nobody else
  /// @param size threads; on GPUs a multiple of 32: whole warps of the block, any of them
  /// @param rank of the calling thread, 0 to size - 1; those of a warp follow one another from a multiple of 32 on
  named_group(std::uint32_t barrier, std::uint32_t size, std::uint32_t rank)
      : members_(detail::named_members(barrier, size, rank)) {}

  /// As the caller has said.
  [[nodiscard]] std::uint32_t thread_rank() const { return members_.thread_rank(); }
  /// How many members there are.
  [[nodiscard]] std::uint32_t size() const { return members_.size(); }
  /// Returns when all members have called it.
  void sync() const { members_.sync(); }
  /// Whether `yes` holds on any member, on all members. Also a sync().
  [[nodiscard]] bool any(bool yes) const { return members_.any(yes); }
  /// The value of the member with rank 0, on all members. Also a sync().
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
  const void* const of = this_cpu_thread.grid != nullptr ? this_cpu_thread.grid : static_cast<void*>(&this_cpu_thread);
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(of) * 0x9e37'79b9'7f4a'7c15u >> 32);
}
inline constexpr std::uint32_t place_tries = 4;  // numbers of launches are no sequence here
}  // namespace detail

#endif

/// The warp of block `of` that the caller belongs to.
/// *Callers* any thread of the block. It uses rank and size only.
template <PGAS_IS(group) Block>
[[nodiscard]] PGAS_FN warp this_warp(const Block& of) {
  return {static_cast<std::uint32_t>(of.thread_rank()), static_cast<std::uint32_t>(of.size())};
}

/// The threads of a block with the same rank / 128, as for the tensor cores of sm_90; the last one of a block may have
/// fewer. A named_group with the barrier 15 - rank / 128.
class warpgroup : public named_group {
 public:
  /// The warpgroup of the thread with this rank; this_warpgroup() makes it.
  PGAS_FN warpgroup(std::uint32_t rank_in_block, std::uint32_t block_size)
      : named_group(15 - rank_in_block / threads, size_of(rank_in_block, block_size), rank_in_block % threads),
        place_(rank_in_block / threads << 16 | (block_size + threads - 1) / threads) {}

  /// Which warpgroup of its block this is.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_rank() const { return place_ >> 16; }
  /// How many warpgroups the block has.
  [[nodiscard]] PGAS_FN std::uint32_t meta_group_size() const { return place_ & 0xffff; }

 private:
  static constexpr std::uint32_t threads = 128;

  [[nodiscard]] PGAS_FN static std::uint32_t size_of(std::uint32_t rank_in_block, std::uint32_t block_size) {
    const std::uint32_t left = block_size - rank_in_block / threads * threads;
    return left < threads ? left : threads;
  }

  std::uint32_t place_;  ///< in one word, as groups are passed to functions out of line
};

/// The warpgroup of block `of` that the caller belongs to.
/// *Callers* any thread of the block. It uses rank and size only.
template <PGAS_IS(group) Block>
[[nodiscard]] PGAS_FN warpgroup this_warpgroup(const Block& of) {
  return {static_cast<std::uint32_t>(of.thread_rank()), static_cast<std::uint32_t>(of.size())};
}

static_assert(is_group<this_thread> && is_group<warp> && is_block_group<block>);
static_assert(is_group<named_group> && is_group<warpgroup>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
