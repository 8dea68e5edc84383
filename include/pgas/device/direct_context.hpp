/// @file
/// A context for teams whose members are all load/store accessible. The compiler removes the proxy paths.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"

namespace pgas {

/// @brief A context that guarantees, by its type, that all members of its team are load/store accessible at evenly
/// spaced addresses.
///
/// Operations with this context compile to the access only, without tests and without code for other routes. The host
/// functions world::direct_context() and team::direct_context() create a direct_context, and throw if a member is not
/// load/store accessible or the addresses are not evenly spaced.
///
/// Operations do not check arguments, even with PGAS_CHECKS=1; use context to check a program. As for every context,
/// fence(), quiet() and put_signal() with this context do not wait for operations of other contexts on proxied PEs.
/// Collectives with this context take teams whose members all belong to the context's team. barrier() and sync()
/// without a team argument use the context's team.
///
/// *Callers* as context.
/// *Memory* a plain value with the size of a context; data members that a kernel does not use cost nothing. The object
/// is valid until the PE leaves the world.
class direct_context {
 public:
  direct_context() = default;
  /// @brief Constructs the object from a context. All members of the context's team must be load/store accessible at
  /// evenly spaced addresses. For the library's internal use.
  PGAS_HD explicit direct_context(const context& from) : context_(from) {}

  /// @brief Converts to the context that operations receive.
  PGAS_HD operator context() const {
    context known = context_;
    known.flags_ = 0;
    known.routes_ = nullptr;
    known.team_.members_ = nullptr;
    return known;
  }

  /// @brief This PE's number in the team.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return context_.my_pe(); }
  /// @brief The number of PEs of the team.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return context_.n_pes(); }
  /// @brief The team: operations take PE numbers of this team.
  [[nodiscard]] PGAS_HD team_view team() const { return context(*this).team(); }

  /// @brief Always true, for code that accepts either type of context.
  [[nodiscard]] PGAS_FN bool reaches(std::int32_t) const { return true; }

  /// @brief The address of PE `pe`'s copy of this PE's `local`.
  ///
  /// *Memory* `local` must point into this PE's slot.
  template <class T>
  [[nodiscard]] PGAS_FN T* remote(T* local, pe_or_peer pe) const {
    return context(*this).remote(local, pe);
  }
  /// @brief Like remote(), with checks: null unless `local` points into this PE's mapped heap and `pe` is a member.
  template <class T>
  [[nodiscard]] PGAS_FN T* ptr(T* local, std::int32_t pe) const {
    return context(*this).ptr(local, pe);
  }
  /// @brief The offset of `local` from the start of this PE's slot, in bytes.
  ///
  /// The result is very large for a pointer below the slot.
  [[nodiscard]] PGAS_HD std::uint64_t offset(const volatile void* local) const { return context_.offset(local); }

  /// @brief The handle of PE `pe`, for repeated operations on that PE.
  [[nodiscard]] PGAS_FN direct_peer peer(std::int32_t pe) const {
    direct_peer found;
    found.pe_ = pe;
    found.distance_ = context(*this).peer(pe).distance_;
    return found;
  }

 private:
  context context_;
};
static_assert(sizeof(direct_context) == sizeof(context) && std::is_trivially_copyable_v<direct_context>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
