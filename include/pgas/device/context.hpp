/// @file
/// The device-side handle of a world: a small struct that is passed by value. There are no device globals, so programs
/// need no `-rdc` and can use any number of shared libraries, modules and worlds.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/failure_record.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/peer.hpp"
#include "pgas/device/peer_routes.hpp"

namespace pgas {

namespace detail {

/// abi_version changes whenever the layout or the meaning of a shared struct changes. The structs that kernels of a
/// program share with the library are pgas::context, team_view, detail::grid_place, detail::grid_state, and the structs
/// in detail/failure_record.hpp, detail/team_state_layout.hpp and detail/proxy_ring.hpp.
inline constexpr std::uint32_t abi_version = 14;

/// The distance in slots from this PE's slot to the slot of member `pe` of a team. Used if arithmetic can't compute the
/// distance: the team is a list, some PEs are proxied and have no slot, or the slots are not evenly spaced. For a
/// proxied PE the result is routes::proxied plus the PE's number in the world.
[[nodiscard]] PGAS_FN std::int32_t listed_slots(const routes* table, const std::int32_t* members, std::int32_t start,
                                                std::int32_t stride, std::int32_t pe, std::int32_t world_pe) {
  const std::int32_t target_pe = members == nullptr ? start + pe * stride : members[pe];
  if (table == nullptr) return target_pe - world_pe;
  const std::int32_t slots = table->slots[target_pe];
  return slots == routes::proxied ? routes::proxied + target_pe : slots;
}

/// The location of a direct PE: the distance from this PE's slot to that PE's slot. by_long_route() passes the location
/// to its otherwise() callback. The otherwise() callback returns true if it has performed the operation with memory
/// that the block has lent. A callback that never uses lent memory returns nothing.
struct by_lent_memory {
  std::uintptr_t distance;
};

/// Tells the otherwise() callback of by_long_route() to check the arguments, if checks are on.
struct checked_arguments {};

/// Reasons why an operation may need more than arithmetic and an access. Each reason is a bit of context::flags_.
/// Operations test all bits together.
struct slow_path {
  static constexpr std::uint32_t checks = 1;
  static constexpr std::uint32_t list = 2;  ///< the team is a list
  /// some PEs are proxied, or slots are not evenly spaced: use the table of routes
  static constexpr std::uint32_t proxy = 4;
  /// blocks may lend shared memory to the library; if the bit is set, `copy_` points into a lending_context
  static constexpr std::uint32_t lent = 8;
};

}  // namespace detail

/// @brief Device-side handle of a world: this PE's number and the addresses of all PEs' parts of the heap. The context
/// of the world, which world::context() returns, is also valid for memory that is allocated later. team::context()
/// returns a context that takes the PE numbers of a team.
///
/// Each context has its own order of operations: fence() and quiet() of one context do not order operations of another
/// context. A context is valid until the PE leaves the world.
///
/// *Callers* any thread on the GPU. Host code can query PEs and teams. Host code compiled by a C++ compiler can also
/// compute addresses, except on a GPU heap if some PEs are proxied or the heap is shared by cuda_ipc.
class context {
 public:
  /// @brief This PE's number in the context's team, which is the world unless team::context() returned the context.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return team_.my_pe_; }
  /// @brief The number of PEs of the context's team.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return team_.n_pes_; }

  /// @brief The team whose PE numbers the operations of this context take.
  [[nodiscard]] PGAS_HD const team_view& team() const { return team_; }
  /// @brief The team of all PEs.
  [[nodiscard]] PGAS_HD team_view world() const { return row_of(0, n_world_, detail::internal_area::world_state); }
  /// @brief The PEs whose heaps this PE can access by loads and stores, including this PE.
  [[nodiscard]] PGAS_FN team_view domain() const {
    return routes_ == nullptr ? row_of(0, n_world_, detail::internal_area::domain_state(n_world_)) : routes_->domain;
  }
  /// @brief Whether PE `pe` is in the domain.
  ///
  /// PEs outside the domain are proxied: the same operations work, but are slower.
  [[nodiscard]] PGAS_FN bool reaches(std::int32_t pe) const { return !has_proxied() || is_direct(team_.world_pe(pe)); }

  /// @brief The address of PE `pe`'s copy of this PE's `local`.
  ///
  /// The function computes the address by arithmetic, without a memory access, unless this context's team is an
  /// irregular list, some PEs are proxied, or the heap is shared by cuda_ipc.
  ///
  /// *Memory* `local` must point into this PE's slot.
  ///
  /// @return An address for direct loads and stores; null unless reaches(pe).
  template <class T>
  [[nodiscard]] PGAS_FN T* remote(T* local, pe_or_peer pe) const {
    if (pe.is_found()) return moved_by(local, pe.distance());
    std::int32_t slots = slots_in_row(pe.pe());
    if ((flags_ & (detail::slow_path::list | detail::slow_path::proxy)) != 0) PGAS_UNLIKELY {
      slots = listed_slots(pe.pe());
      if (slots < detail::routes::proxied / 2) PGAS_UNLIKELY
        return nullptr;
    }
    return moved(local, slots);
  }

  /// @brief The handle of PE `pe`, for repeated operations on that PE.
  [[nodiscard]] PGAS_FN pgas::peer peer(std::int32_t pe) const {
    pgas::peer found;
    found.pe_ = pe;
    std::int32_t slots = slots_in_row(pe);
    if (flags_ != 0) PGAS_UNLIKELY {
      // With checks on, operations check `pe` later. Until an operation has checked `pe`, an invalid `pe` must not
      // index a table.
      if (!checks()) slots = listed_slots(pe);
      found.slow_ = checks() || slots < detail::routes::proxied / 2 ? 1 : 0;
    }
    found.distance_ = distance_of(slots);
    return found;
  }

  /// @brief Like remote(), with checks: null unless `local` points into this PE's mapped heap and `pe` is a direct PE.
  ///
  /// Memory of a team exists on its members only; this function does not check the membership.
  template <class T>
  [[nodiscard]] PGAS_FN T* ptr(T* local, std::int32_t pe) const {
    if (pe < 0 || pe >= n_pes()) return nullptr;
    const std::int32_t target_pe = team_.world_pe(pe);
    const std::uint64_t at = offset(local);
    const bool mapped =
        at < control_->heap_bytes || (at >= control_->team_segments_begin && at < control_->team_segments_end);
    return is_direct(target_pe) && mapped ? world_remote(local, target_pe) : nullptr;
  }

  /// @brief The offset of `local` from the start of this PE's slot, in bytes.
  ///
  /// The result is very large for a pointer below the slot.
  [[nodiscard]] PGAS_HD std::uint64_t offset(const volatile void* local) const {
    return reinterpret_cast<std::uintptr_t>(local) - my_slot_;
  }

  /// @brief Whether device operations check their arguments (`PGAS_CHECKS=1`).
  [[nodiscard]] PGAS_HD bool checks() const { return (flags_ & detail::slow_path::checks) != 0; }

  /// @brief For the library's internal use: remote() with the PE's number in the world, for a context of any team.
  template <class T>
  [[nodiscard]] PGAS_FN T* world_remote(T* local, std::int32_t world_pe) const {
    return moved(local, has_proxied() ? routes_->slots[world_pe] : world_pe - world_pe_);
  }
  /// @brief For the library's internal use: performs an operation on PE `pe`'s copy of `local`.
  ///
  /// Calls direct(this context, address) for a direct PE, and proxied(this context, local, the PE's number in the
  /// world) for a proxied PE. The slow path first calls check(this context, local, pe). The path to `direct` has one
  /// test; all other code is out of line. The callbacks capture by value, because addresses of the caller's variables
  /// would force these variables into memory. The callbacks do not capture the context or other values that they
  /// receive as arguments, because each value that is passed to out-of-line code occupies registers.
  template <class T, class Check, class Direct, class Proxied>
  PGAS_FN auto by_route(T* local, pe_or_peer pe, Check check, Direct direct, Proxied proxied) const {
    if (pe.is_found()) return direct(*this, moved_by(local, pe.distance()));
    if (pe.is_slow() || flags_ != 0) PGAS_UNLIKELY
      return slow_path_call(copy_, local, pe.pe(), check, direct, proxied);
    return direct(*this, moved(local, slots_in_row(pe.pe())));
  }
  /// @brief Like by_route(), for operations that return nothing and have a long direct form.
  ///
  /// Only the direct form is inline. One callback, otherwise(this context, what), contains all other code, because all
  /// other cases need the same arguments. `what` is a detail::checked_arguments, the number of a proxied PE, or a
  /// detail::by_lent_memory.
  /// @tparam Rolled prevents the compiler from unrolling a loop around the call; used for calls of single threads. (A
  /// call of a warp or a block contains a barrier, which has the same effect.)
  template <bool Rolled = false, class T, class Direct, class Otherwise>
  PGAS_FN void by_long_route(T* local, pe_or_peer pe, Direct direct, Otherwise otherwise) const {
    T* address = moved_by(local, pe.is_found() ? pe.distance() : distance_of(slots_in_row(pe.pe())));
    if (!pe.is_found() && (pe.is_slow() || flags_ != 0)) PGAS_UNLIKELY {
      const std::uintptr_t distance = find_route(copy_, pe.pe(), otherwise);
      if (distance == no_distance) return;
      if (Rolled && distance == thread_ends) detail::end_thread();
      address = moved_by(local, distance);
    }
    direct(*this, address);
  }
  /// @brief Like by_route(), for arguments that have already been checked.
  template <class T, class Direct, class Proxied>
  PGAS_FN auto by_route(T* local, pe_or_peer pe, Direct direct, Proxied proxied) const {
    return by_route(
        local, pe, [](const context&, T*, std::int32_t) {}, direct, proxied);
  }
  /// @brief For the library's internal use: by_route() with the PE's number in the world, for checked arguments.
  template <class T, class Direct, class Proxied>
  PGAS_FN auto by_world_route(T* local, std::int32_t world_pe, const Direct& direct, const Proxied& proxied) const {
    std::int32_t slots = world_pe - world_pe_;
    if (has_proxied()) PGAS_UNLIKELY {
      slots = detail::listed_slots(routes_, nullptr, 0, 1, world_pe, world_pe_);
      if (slots < detail::routes::proxied / 2) PGAS_UNLIKELY
        return proxied(world_pe);
    }
    return direct(moved(local, slots));
  }
  /// @brief For the library's internal use: whether operations must use the table of routes. If not, no PE is proxied.
  [[nodiscard]] PGAS_FN bool has_proxied() const { return (flags_ & detail::slow_path::proxy) != 0; }
  /// @brief For the library's internal use: reaches() with the PE's number in the world.
  [[nodiscard]] PGAS_FN bool is_direct(std::int32_t world_pe) const {
    return !has_proxied() || routes_->slots[world_pe] != detail::routes::proxied;
  }

  // Data members that the host library fills. These members are public for the library only: programs use the functions
  // above.
  std::uint32_t abi_ = 0;      ///< detail::context_layout
  std::int32_t world_pe_ = 0;  ///< this PE's number in the world
  std::int32_t n_world_ = 0;
  std::int32_t bias_ = 0;  ///< team_.start_ - world_pe_
  std::uint32_t log2_stride_ = 0;
  std::uint32_t flags_ = 0;                   ///< detail::slow_path
  std::uintptr_t my_slot_ = 0;                ///< start of this PE's slot
  detail::control_block* control_ = nullptr;  ///< the control block's address for kernels of this PE
  const detail::routes* routes_ = nullptr;    ///< null if all PEs are direct and the slots are evenly spaced
  team_view team_;
  /// @brief A copy of this context in memory, for out-of-line code: a pointer takes fewer registers than a context
  const context* copy_ = nullptr;

 private:
  /// @brief The distance from this PE's slot to PE `pe`'s slot, counted in slots. Valid if the slots are evenly spaced.
  ///
  /// Uses unsigned arithmetic: before the check, `pe` might be out of range, and signed arithmetic could overflow.
  [[nodiscard]] PGAS_HD std::int32_t slots_in_row(std::int32_t pe) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(pe) * static_cast<std::uint32_t>(team_.stride_) +
                                     static_cast<std::uint32_t>(bias_));
  }
  [[nodiscard]] PGAS_FN std::int32_t listed_slots(std::int32_t pe) const {
    return detail::listed_slots(routes_, team_.members_, team_.start_, team_.stride_, pe, world_pe_);
  }
  [[nodiscard]] PGAS_HD std::uintptr_t distance_of(std::int32_t slots) const {
    return static_cast<std::uintptr_t>(static_cast<std::intptr_t>(slots)) << log2_stride_;
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T* moved_by(T* local, std::uintptr_t distance) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance);
  }
  template <class T>
  [[nodiscard]] PGAS_HD T* moved(T* local, std::int32_t slots) const {
    return moved_by(local, distance_of(slots));
  }
  /// @brief An operation that by_route() can't perform inline. Like slow_operation, the struct is in the local memory
  /// of its thread.
  template <class T, class Check, class Direct, class Proxied>
  struct slow_word {
    const context* copy;
    T* local;
    std::int32_t pe;
    Check check;
    Direct direct;
    Proxied proxied;
  };
  /// @brief The rest of by_route(), for two cases: the arguments must be checked, or the route must be looked up in the
  /// table of routes or in the list of members.
  ///
  /// The function reads the context from memory. If the context were passed by value, its 14 words would be loaded
  /// before the caller's loops and occupy registers.
  template <class T, class Check, class Direct, class Proxied>
  PGAS_COLD static auto slow_path_call(const context* copy, T* local, std::int32_t pe, Check check, Direct direct,
                                       Proxied proxied) {
    slow_word<T, Check, Direct, Proxied> in_memory{copy, local, pe, check, direct, proxied};
    const slow_word<T, Check, Direct, Proxied>* const word = detail::opaque(&in_memory);
    word->check(*word->copy, word->local, word->pe);
    const std::int32_t slots = word->copy->listed_slots(word->pe);
    if (slots < detail::routes::proxied / 2)
      return word->proxied(*word->copy, word->local, slots - detail::routes::proxied);
    return word->direct(*word->copy, word->copy->moved(word->local, slots));
  }
  /// @brief An operation that by_long_route() can't perform inline. The struct is in the local memory of its thread.
  ///
  /// A value that stays in a register across the calls of find_route() would increase the register count of the kernel.
  template <class Otherwise>
  struct slow_operation {
    const context* copy;
    std::int32_t pe;
    Otherwise otherwise;
  };
  /// @brief The result of find_route() if the proxy or lent memory has done the whole operation. The value is never a
  /// distance, because distances are multiples of the page size.
  static constexpr std::uintptr_t no_distance = 1;
  /// @brief A value that find_route() never returns.
  ///
  /// The compiler cannot know that the value never occurs. A test for the value gives the caller's loop a second exit.
  /// The compiler then does not unroll the loop, and the loop keeps no multiples of its strides in registers.
  static constexpr std::uintptr_t thread_ends = 2;
  /// @brief Checks the arguments and finds the route.
  ///
  /// @return The distance from this PE's slot to the slot of a direct PE, or no_distance.
  template <class Otherwise>
  [[nodiscard]] PGAS_COLD static std::uintptr_t find_route(const context* copy, std::int32_t pe, Otherwise otherwise) {
    slow_operation<Otherwise> in_memory{copy, pe, otherwise};
    const slow_operation<Otherwise>* const branch = detail::opaque(&in_memory);
    branch->otherwise(*branch->copy, detail::checked_arguments{});
    const std::int32_t slots = branch->copy->listed_slots(branch->pe);
    if (slots < detail::routes::proxied / 2) {
      branch->otherwise(*branch->copy, slots - detail::routes::proxied);
      return no_distance;
    }
    const std::uintptr_t distance = branch->copy->distance_of(slots);
    if constexpr (std::is_same_v<decltype(branch->otherwise(*branch->copy, detail::by_lent_memory{})), bool>) {
      if ((branch->copy->flags_ & detail::slow_path::lent) != 0 &&
          branch->otherwise(*branch->copy, detail::by_lent_memory{distance}))
        return no_distance;
    }
    return distance;
  }
  /// @brief The team of the `n` consecutive PEs from `first` on.
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
/// The value of context::abi_. The functions that return contexts, and launch(), compare the value of the program's
/// headers with the value of the library.
inline constexpr std::uint32_t context_layout = abi_version << 16 | static_cast<std::uint32_t>(sizeof(context));
}  // namespace detail

namespace detail {

/// Sets the team of a context, and the data members that depend on the team and on the routes.
PGAS_HD void set_team(context& ctx, const team_view& team) {
  ctx.team_ = team;
  ctx.bias_ = team.start_ - ctx.world_pe_;
  ctx.flags_ = (ctx.flags_ & slow_path::checks) | (team.members_ != nullptr ? slow_path::list : 0) |
               (ctx.routes_ != nullptr ? slow_path::proxy : 0);
}

}  // namespace detail

}  // namespace pgas

#include "pgas/detail/names_end.inc"
