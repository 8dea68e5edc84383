/// @file
/// The library's kernels, loaded on a GPU. A world loads all of them when it joins. A later load would wait until
/// running kernels end, but a running kernel can be waiting for the kernel that is to be loaded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "device/cuda/driver.hpp"
#include "device/cuda/kernels/kernel_shapes.hpp"
#include "device/operation_request.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/device/impl/reduce/oneshot_reduce.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas::detail::cuda {

enum class library_kernel : unsigned {
  operation,
  strided,
  list,
  updates,
  use_stack,
  read_clock,
  move,             ///< collectives that move data
  reduce_integers,  ///< collectives that reduce data, by group of types
  reduce_reals,
  reduce_pairs,
};
inline constexpr std::size_t n_library_kernels = 10;

/// The kernel of a collective. Empty if no kernel supports the operation and the type.
[[nodiscard]] std::optional<library_kernel> kernel_of(const collective_request& request);

/// The number of blocks of a request. The number is the same on all members, except for collect(). One block moves
/// about 40 GB/s.
[[nodiscard]] inline unsigned blocks_for(const collective_request& request, const team_view& team) {
  // `oneshot` means that the team has staging memory for the one-shot algorithm. The algorithm is one-shot only if the
  // data also fits into this memory.
  const bool oneshot = request.what == collective_kind::reduce && has_oneshot_staging(team);
  const bool by_member =
      oneshot || request.what <= collective_kind::alltoalls || request.what == collective_kind::reduce_scatter;
  // `times` is the number of times that a PE moves each element. If a PE moves separate data for each member, the
  // number is the number of members. Otherwise it is 2, because each element is loaded from a peer and stored at a
  // peer.
  const std::size_t times = by_member ? static_cast<std::size_t>(team.n_pes()) : 2;
  const std::size_t bytes = request.count * request.element_bytes * times;
  // The bytes that fit into LL packets. A grid of one block uses all packets. In a larger grid, each block has separate
  // packets, and blocks that fill only half of their packets are faster.
  constexpr std::size_t packets = team_state_layout::packet_data_bytes(true);
  const std::size_t each =
      oneshot && bytes > packets && bytes <= packets * request.most_blocks ? packets / 2 : std::size_t{32} << 10;
  return static_cast<unsigned>(std::clamp((bytes + each - 1) / each, std::size_t{1}, std::size_t{request.most_blocks}));
}

/// The number of threads of a request's block. A barrier alone is fastest with one warp.
[[nodiscard]] constexpr unsigned threads_for(const collective_request& request) {
  const bool only_barrier = request.what <= collective_kind::word_barrier;
  return only_barrier ? warp_size : max_collective_threads;
}

/// The kernels on one GPU. *Callers* any thread whose current context is the GPU's primary context. *Errors*
/// launch_failed, unless stated otherwise.
class library_kernels {
 public:
  /// Loads all kernels. *Errors* device_unavailable if the library has no code for the GPU, or if the driver is too old
  /// for this code.
  explicit library_kernels(int ordinal);

  /// The largest stack of a thread.
  [[nodiscard]] std::size_t stack_bytes() const noexcept { return stack_bytes_; }
  /// The number of registers of a thread. *Errors* device_failed.
  [[nodiscard]] unsigned registers_of(library_kernel kernel) const;

  /// Enqueues one operation. Kernels must be able to access all memory of the operation.
  void operation(const operation_request& request, CUstream stream) const;
  /// Enqueues the copies of a list. Kernels must be able to access the list and all blocks.
  void list(const list_request& request, CUstream stream) const;
  /// Enqueues a list of atomic operations. One warp executes the list, because a single warp is the most likely to fit
  /// beside other kernels.
  void updates(std::span<batched_atomic> list, CUstream stream) const;
  /// Enqueues a request. A failure ends the kernel early and is stored in the context's failure record. *Errors*
  /// invalid_argument if no kernel supports the operation and the type.
  void collective(const context& context, const team_view& team, const collective_request& request, grid_state* blocks,
                  CUstream stream) const;
  /// Enqueues a kernel that uses used_stack_bytes of stack, so that the driver allocates the memory for stacks.
  void use_stack(CUstream stream) const;
  /// Enqueues a kernel that reads the clock each time the host raises `asked`, and ends after `rounds` readings.
  void read_clock(clock_rounds* shared, std::uint32_t rounds, CUstream stream) const;

 private:
  struct shape {
    unsigned blocks = 1;
    unsigned threads = 1;
  };
  template <class... Arguments>
  void launch(library_kernel kernel, shape grid, CUstream stream, const char* what, Arguments... arguments) const {
    const std::array<void*, sizeof...(Arguments)> addresses{&arguments...};
    launch_by_addresses(kernel, grid, stream, what, addresses);
  }
  void launch_by_addresses(library_kernel kernel, shape grid, CUstream stream, const char* what,
                           std::span<void* const> arguments) const;

  std::array<CUfunction, n_library_kernels> functions_{};
  std::size_t stack_bytes_ = 0;
  bool are_set_up_early_ = false;  ///< whether the code for this GPU contains wait_for_predecessor()
};

}  // namespace pgas::detail::cuda
