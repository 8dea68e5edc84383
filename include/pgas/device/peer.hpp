/// @file
/// A PE that has been looked up once: what stands where an operation takes a PE's number.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// A PE whose address was computed once, by context::peer(). It stands where operations of that context, or of a copy
/// of it, take the PE's number; an operation then adds its distance to an address, whatever the team. A plain value;
/// valid as long as the context.
class peer {
 public:
  /// Its number in the team of the context that it comes from.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }

  // Plain members, filled by context::peer().
  std::int32_t pe_ = 0;
  std::uint32_t slow_ = 0;       ///< not 0: what the operation is to do is found anew, as for a number
  std::uintptr_t distance_ = 0;  ///< bytes from this PE's slot to that PE's
};

/// The same from direct_context::peer(), for operations of that: a PE that load and store reach.
class direct_peer {
 public:
  /// Its number in the team of the context that it comes from.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }

  // Plain members, filled by direct_context::peer().
  std::int32_t pe_ = 0;
  std::uintptr_t distance_ = 0;  ///< bytes from this PE's slot to that PE's
};

/// A PE as operations take it: its number in the context's team, or a peer. Made by the call itself.
class pe_or_peer {
 public:
  /// A PE by its number in the context's team.
  PGAS_HD pe_or_peer(std::int32_t pe) : pe_(pe), is_(by_number) {}
  /// A peer of the same context.
  PGAS_HD pe_or_peer(const peer& found)
      : pe_(found.pe_), is_(found.slow_ == 0 ? by_distance : by_slow_path), distance_(found.distance_) {}
  /// The same of a direct_context.
  PGAS_HD pe_or_peer(const direct_peer& found) : pe_(found.pe_), is_(by_distance), distance_(found.distance_) {}

  /// Its number in the context's team.
  [[nodiscard]] PGAS_HD std::int32_t pe() const { return pe_; }
  /// For the library's own use: whether distance() is known, and load and store are all that is to be done.
  [[nodiscard]] PGAS_HD bool is_found() const { return is_ == by_distance; }
  /// For the library's own use: whether it is known that they are not.
  [[nodiscard]] PGAS_HD bool is_slow() const { return is_ == by_slow_path; }
  /// For the library's own use: bytes from this PE's slot to that PE's.
  [[nodiscard]] PGAS_HD std::uintptr_t distance() const { return distance_; }

 private:
  enum reached : std::uint32_t { by_number, by_distance, by_slow_path };

  std::int32_t pe_;
  reached is_;
  std::uintptr_t distance_ = 0;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
