/// @file
/// The context of a team whose members are all a store away: what a compiler knows then, it leaves out.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"

namespace pgas {

/// A context whose type says that all members of its team are reached by load and store, at evenly spaced addresses:
/// every operation takes it, and compiles to the access alone, without a test and without the code of the other routes.
/// Made by world::direct_context() and team::direct_context() on the host, which throw where that does not hold.
///
/// Arguments are not checked, not with PGAS_CHECKS=1 either: a program that is to be checked takes context. It is an
/// ordering domain of its own, as any context: its fence(), quiet() and put_signal() don't wait for operations on
/// proxied PEs by other contexts. Collectives with it are of teams whose members are all members of its own; barrier()
/// and sync() without a team are of its team.
///
/// *Callers* as context. *Memory* a plain value of as many bytes; what a kernel does not use costs it nothing. Valid
/// until the world is left.
class direct_context {
 public:
  direct_context() = default;
  /// For the library's own use: of a context for whose team the above holds.
  PGAS_HD explicit direct_context(const context& of) : of_(of) {}

  /// The context as operations see it.
  PGAS_HD operator context() const {
    context known = of_;
    known.flags_ = 0;
    known.routes_ = nullptr;
    known.team_.members_ = nullptr;
    return known;
  }

  /// This PE's number in the team.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return of_.my_pe(); }
  /// How many PEs the team has.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return of_.n_pes(); }
  /// The team whose numbers operations take.
  [[nodiscard]] PGAS_HD team_view team() const { return context(*this).team(); }

  /// True: for code that takes either context.
  [[nodiscard]] PGAS_FN bool reaches(std::int32_t) const { return true; }

  /// PE `pe`'s address of this PE's `local`. *Memory* `local` must point into this PE's slot.
  template <class T>
  [[nodiscard]] PGAS_FN T* remote(T* local, pe_or_peer pe) const {
    return context(*this).remote(local, pe);
  }
  /// remote() with checks: null unless `local` points into this PE's mapped heap and `pe` is a member.
  template <class T>
  [[nodiscard]] PGAS_FN T* ptr(T* local, std::int32_t pe) const {
    return context(*this).ptr(local, pe);
  }
  /// Bytes from the start of this PE's slot. Huge for a pointer below the slot.
  [[nodiscard]] PGAS_HD std::uint64_t offset(const volatile void* local) const { return of_.offset(local); }

  /// PE `pe`, looked up once: for many operations on it.
  [[nodiscard]] PGAS_FN direct_peer peer(std::int32_t pe) const {
    direct_peer found;
    found.pe_ = pe;
    found.distance_ = context(*this).peer(pe).distance_;
    return found;
  }

 private:
  context of_;
};
static_assert(sizeof(direct_context) == sizeof(context) && std::is_trivially_copyable_v<direct_context>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
