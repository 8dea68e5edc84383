/// @file
/// Memory that the program made, mapped a second time into windows of all PEs.
#pragma once

#include <cstddef>
#include <set>

#include "host/heap/symmetric_allocator.hpp"
#include "host/heap/team_segments.hpp"
#include "host/control/control_group.hpp"

namespace pgas::detail {

/// The registrations of a world. *Callers* collective over all PEs, one thread at a time.
class registrations {
 public:
  registrations(const link_group& everyone, const arena_ground& ground, windows& where)
      : group_(everyone), ground_(ground), windows_(where) {}

  /// The second address of [pointer, pointer + bytes). *Errors* those of register_symmetric().
  [[nodiscard]] void* add(void* pointer, std::size_t bytes);
  /// *Errors* invalid_free, the same on all PEs.
  void remove(void* alias);

 private:
  [[nodiscard]] std::byte* my_slot() const noexcept { return ground_.reach.slot(group_.world_pe(group_.my_pe())); }

  const link_group& group_;
  const arena_ground& ground_;
  windows& windows_;
  std::set<std::size_t> offsets_;
};

}  // namespace pgas::detail
