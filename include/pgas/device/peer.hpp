/// @file
/// Handles of PEs. A handle caches the route to a PE. Operations take a handle in place of a PE number.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// @brief The handle of a PE, created by context::peer().
///
/// Operations of the context that created the handle, or of a copy of this context, accept the handle in place of the
/// PE number. An operation adds the cached distance to an address. Handles work for teams of any kind. A handle is a
/// plain value, and is valid as long as the context.
class peer {
 public:
  /// @brief The number of the PE in the team of the context that created the handle.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }

  // Public data members that context::peer() fills.
  std::int32_t pe_ = 0;
  std::uint32_t slow_ = 0;       ///< not 0: operations look up the route at each call, as for a PE number
  std::uintptr_t distance_ = 0;  ///< the distance from this PE's slot to the slot of the PE, in bytes
};

/// @brief The handle of a PE, created by direct_context::peer(), for operations of the direct_context.
///
/// The PE is load/store accessible.
class direct_peer {
 public:
  /// @brief The number of the PE in the team of the context that created the handle.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }

  // Public data members that direct_context::peer() fills.
  std::int32_t pe_ = 0;
  std::uintptr_t distance_ = 0;  ///< the distance from this PE's slot to the slot of the PE, in bytes
};

/// @brief The parameter type of operations: a PE number in the context's team, or a handle.
///
/// Calls convert implicitly.
class pe_or_peer {
 public:
  /// @brief A PE by its number in the context's team.
  PGAS_HD pe_or_peer(std::int32_t pe) : pe_(pe), is_(by_number) {}
  /// @brief A handle that was created by the context of the operation, or by a copy of that context.
  PGAS_HD pe_or_peer(const peer& found)
      : pe_(found.pe_), is_(found.slow_ == 0 ? by_distance : by_slow_path), distance_(found.distance_) {}
  /// @brief A handle that a direct_context has created.
  PGAS_HD pe_or_peer(const direct_peer& found) : pe_(found.pe_), is_(by_distance), distance_(found.distance_) {}

  /// @brief The PE's number in the context's team.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }
  /// @brief For the library: whether distance() is known, so that the operation needs only loads and stores.
  [[nodiscard]] PGAS_HD bool is_found() const { return is_ == by_distance; }
  /// @brief For the library: whether the operation is known to need more than loads and stores.
  [[nodiscard]] PGAS_HD bool is_slow() const { return is_ == by_slow_path; }
  /// @brief For the library: bytes from this PE's slot to that PE's slot.
  [[nodiscard]] PGAS_HD std::uintptr_t distance() const { return distance_; }

 private:
  enum reached : std::uint32_t { by_number, by_distance, by_slow_path };

  std::int32_t pe_;
  reached is_;
  std::uintptr_t distance_ = 0;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
