/// @file
/// Windows: memory that the members of a team already have, of any kind and of different sizes, and a table of the
/// addresses at which each PE accesses this memory.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstddef>
#include <memory>

#include "pgas/detail/compiler.hpp"
#include "pgas/device/window.hpp"

namespace pgas {

class team;
class world;

namespace detail {
class window_state;
}

/// @brief Non-symmetric memory of the members of a team.
///
/// Move-only; initially empty. A registration (registration.hpp) gives memory of equal sizes the same offset on all
/// members, and all operations accept registered memory. A window accepts what a registration does not: memory of
/// cudaMalloc and of memory pools, any sizes, and members without memory. In exchange, the program uses addresses:
/// window_view::at() in kernels, at() on the host, for loads, stores, copies and copy_blocks(). Proxied PEs have no
/// address.
///
/// The same memory may be in several windows. A process maps the memory of another member only once, even if several
/// windows contain the memory. However, each window maps memory of cuMemCreate separately.
///
/// *Callers* construction is collective over the team. Destruction is local: any thread may destroy the window, at any
/// time, and in a different order on each member. Destruction does not wait for streams; the memory of other members
/// stays mapped until the work that was enqueued before the destruction has ended.
/// *Memory* on a GPU heap: memory of cudaMalloc, of a pool with descriptors, or of cuMemCreate, on this PE's GPU. The
/// other members can reach the whole allocation, or the whole pool. On the host heap: shared mappings of whole memory
/// files, such as memory of shared_memory::make() with a multiple of 2 MiB. A member must not free its memory before
/// all members have destroyed the window. The table takes 16 bytes for each member, on the GPU.
class PGAS_API window {
 public:
  window() noexcept;
  /// @brief Makes a window of the memory of all members of `t`.
  ///
  /// @param pointer the memory of this PE; null, with 0 bytes, for a member without memory
  /// @param bytes its size, which may differ between members
  /// @throws error invalid_argument, handle_exchange, peer_unreachable, out_of_memory or device_failed, naming the PE
  /// and the reason. All members throw the same error.
  window(const team& t, void* pointer, std::size_t bytes);
  /// @brief Makes a window of the memory of all PEs.
  window(world& w, void* pointer, std::size_t bytes);
  /// @brief Moves the window. `other` is empty afterwards.
  window(window&& other) noexcept;
  /// @brief Destroys the current window as the destructor does, then moves the other window.
  window& operator=(window&& other) noexcept;
  ~window();

  /// @brief Whether there is a window.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// @brief The number of members. @throws error invalid_argument for an empty window
  [[nodiscard]] int n_pes() const;
  /// @brief The address, in this process, of the memory of member `pe`; null if this PE cannot access that memory.
  /// @throws error pe_out_of_range; invalid_argument for an empty window
  [[nodiscard]] void* at(int pe) const;
  /// @brief The size of the memory of member `pe`.
  /// @throws error pe_out_of_range; invalid_argument for an empty window
  [[nodiscard]] std::size_t bytes(int pe) const;
  /// @brief The window for kernels of this PE. The view is valid until the window is destroyed.
  /// @throws error invalid_argument for an empty window
  [[nodiscard]] window_view view() const;

 private:
  [[nodiscard]] const detail::window_state& state() const;
  std::shared_ptr<detail::window_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
