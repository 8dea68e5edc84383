/// @file
/// What a kernel needs to know about its world, in one small struct passed by value. No device globals, so no `-rdc`,
/// any number of shared libraries, modules and worlds.
#pragma once

#include "pgas/device/team.hpp"

namespace pgas {

namespace detail {

/// How many slots member `pe` of an irregular team lies behind this PE's. Out of line: the common case has no memory access.
PGAS_COLD std::int32_t listed_slots(const std::int32_t* members, std::int32_t pe, std::int32_t world_pe) {
  return members[pe] - world_pe;
}

}  // namespace detail

/// Device-side handle: who I am, where everyone's part of the heap is. world::context() makes the one of the world, before
/// or after allocations; team::context() makes others, whose PE numbers are those of a team. Each is an ordering domain of
/// its own: fence() and quiet() of one say nothing about operations of another. Valid until the world is left.
///
/// *Callers* any thread, on the GPU and on the host. Copying is cheap; kernels take it by value.
class context {
 public:
  /// This PE's number in the team of this context: in the world, unless the context was made from another team.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return team_.my_pe_; }
  /// How many PEs that team has.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return team_.n_pes_; }

  /// The team whose numbers this context's operations take.
  [[nodiscard]] PGAS_HD const team_view& team() const { return team_; }
  /// All PEs.
  [[nodiscard]] PGAS_HD team_view world() const {
    return row_of(0, n_world_, detail::internal_area::world_state);
  }
  /// The PEs whose heaps this one can load from and store to directly.
  [[nodiscard]] PGAS_HD team_view domain() const {
    return row_of(domain_first_, domain_size_, detail::internal_area::domain_state(n_world_));
  }

  /// Where PE `pe` has what this PE has at `local`: arithmetic only, no memory access, unless this context's team is an
  /// irregular list.
  /// *Memory* `local` must point into this PE's slot; the result may be loaded and stored directly.
  template <class T>
  [[nodiscard]] PGAS_FN T* remote(T* local, std::int32_t pe) const {
    std::int32_t slots = pe * team_.stride_ + bias_;
    if (team_.members_ != nullptr) PGAS_UNLIKELY
      slots = detail::listed_slots(team_.members_, pe, world_pe_);
    return moved(local, slots);
  }

  /// remote() for callers that are not sure: null unless `local` points into this PE's mapped heap and `pe` is a PE
  /// that can be reached by load and store. Of a team's memory only members have a part; that is not looked up here.
  template <class T>
  [[nodiscard]] PGAS_FN T* ptr(T* local, std::int32_t pe) const {
    if (pe < 0 || pe >= n_pes()) return nullptr;
    const std::int32_t there = team_.world_pe(pe);
    const bool reachable = there >= domain_first_ && there - domain_first_ < domain_size_;
    const std::uint64_t at = offset(local);
    const bool mapped = at < control_->heap_bytes || (at >= control_->windows_begin && at < control_->windows_end);
    return reachable && mapped ? world_remote(local, there) : nullptr;
  }

  /// Bytes from the start of this PE's slot. Huge for a pointer below the slot.
  [[nodiscard]] PGAS_HD std::uint64_t offset(const volatile void* local) const {
    return reinterpret_cast<std::uintptr_t>(local) - my_slot_;
  }

  /// Whether device operations check their arguments (`PGAS_CHECKS=1`).
  [[nodiscard]] PGAS_HD bool checks() const { return checks_ != 0; }

  /// For the library's own use: remote() by the world's numbers, whatever team the context is of.
  template <class T>
  [[nodiscard]] PGAS_HD T* world_remote(T* local, std::int32_t world_pe) const {
    return moved(local, world_pe - world_pe_);
  }

  // Plain members, filled by the host library; programs use the functions above.
  std::uint32_t abi_ = 0;       ///< detail::abi_version << 16 | sizeof(context)
  std::int32_t world_pe_ = 0;   ///< this PE in the world
  std::int32_t n_world_ = 0;
  std::int32_t bias_ = 0;       ///< team_.start_ - world_pe_
  std::int32_t domain_first_ = 0;
  std::int32_t domain_size_ = 0;
  std::uint16_t log2_stride_ = 0;
  std::uint16_t checks_ = 0;
  std::uint32_t reserved_ = 0;
  std::uintptr_t my_slot_ = 0;                ///< start of this PE's slot
  detail::control_block* control_ = nullptr;  ///< as kernels of this PE see it
  team_view team_;

 private:
  template <class T>
  [[nodiscard]] PGAS_HD T* moved(T* local, std::int32_t slots) const {
    const auto distance = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(slots)) << log2_stride_;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance);
  }
  /// The team of `n` neighbours from `first` on.
  [[nodiscard]] PGAS_HD team_view row_of(std::int32_t first, std::int32_t n, std::uint64_t state) const {
    const std::int32_t me = world_pe_ - first;
    team_view row;
    row.start_ = first;
    row.n_pes_ = n;
    row.my_pe_ = me >= 0 && me < n ? me : -1;
    row.n_channels_ = detail::default_channels;
    row.state_offset_ = state;
    return row;
  }
};
static_assert(sizeof(context) <= 128 && std::is_trivially_copyable_v<context>);

namespace detail {

/// Fills what follows from `team`: the numbers that a context takes.
PGAS_HD void set_team(context& ctx, const team_view& team) {
  ctx.team_ = team;
  ctx.bias_ = team.start_ - ctx.world_pe_;
}

}  // namespace detail

}  // namespace pgas
