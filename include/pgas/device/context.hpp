/// @file
/// What a kernel needs to know about its world, in one small struct passed by value. No device globals, so no `-rdc`,
/// any number of shared libraries, modules and worlds.
#pragma once

#include "pgas/detail/wire.hpp"
#include "pgas/types.hpp"

namespace pgas {

/// PEs first, first + 1, ... first + size - 1 of a world with their own barrier state. A plain value, made by
/// context::world() and context::domain().
struct team_view {
  std::int32_t first;
  std::int32_t size;
  std::uint64_t sync_offset;  ///< of its detail::sync_layout from the start of each slot
};

/// Device-side handle of a world: who I am, where everyone's part of the heap is. Get it from world::context() after
/// the last allocation or before; it stays valid until the world is left.
///
/// *Callers* any thread, on the GPU and on the host. Copying is cheap; kernels take it by value.
class context {
 public:
  /// This PE's number in its world.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return my_pe_; }
  /// How many PEs the world has.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return n_pes_; }

  /// All PEs.
  [[nodiscard]] PGAS_HD team_view world() const { return {0, n_pes_, detail::internal_area::world_sync}; }
  /// The PEs whose heaps this one can load from and store to directly.
  [[nodiscard]] PGAS_HD team_view domain() const {
    return {domain_first_, domain_size_, detail::internal_area::domain_sync(n_pes_)};
  }

  /// Where PE `pe` has what this PE has at `local`: one shift and one add, no memory access.
  /// *Memory* `local` must point into this PE's slot; the result may be loaded and stored directly.
  template <class T>
  [[nodiscard]] PGAS_HD T* remote(T* local, std::int32_t pe) const {
    const auto distance = static_cast<std::int64_t>(pe - my_pe_) << log2_stride_;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + static_cast<std::uintptr_t>(distance));
  }

  /// remote() for callers that are not sure: null unless `local` points into this PE's mapped heap and `pe` is a PE
  /// that can be reached by load and store.
  template <class T>
  [[nodiscard]] PGAS_HD T* ptr(T* local, std::int32_t pe) const {
    const bool reachable = pe >= domain_first_ && pe - domain_first_ < domain_size_;
    return reachable && offset(local) < control_->heap_bytes ? remote(local, pe) : nullptr;
  }

  /// Bytes from the start of this PE's slot. Huge for a pointer below the slot.
  [[nodiscard]] PGAS_HD std::uint64_t offset(const volatile void* local) const {
    return reinterpret_cast<std::uintptr_t>(local) - my_slot_;
  }

  /// Whether device operations check their arguments (`PGAS_CHECKS=1`).
  [[nodiscard]] PGAS_HD bool checks() const { return checks_ != 0; }

  // Plain members, filled by the host library; programs use the functions above.
  std::uint32_t abi_ = 0;  ///< detail::abi_version << 16 | sizeof(context)
  std::int32_t my_pe_ = 0;
  std::int32_t n_pes_ = 0;
  std::int32_t domain_first_ = 0;
  std::int32_t domain_size_ = 0;
  std::uint16_t log2_stride_ = 0;
  std::uint16_t checks_ = 0;
  std::uintptr_t my_slot_ = 0;                ///< start of this PE's slot
  detail::control_block* control_ = nullptr;  ///< as kernels of this PE see it
};
static_assert(sizeof(context) <= 128 && std::is_trivially_copyable_v<context>);

}  // namespace pgas
