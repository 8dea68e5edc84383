/// @file
/// Memory that the program made, mapped a second time into windows of all PEs.
#pragma once

#include <cstddef>
#include <set>

#include "host/control/control_group.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "host/heap/team_segments.hpp"

namespace pgas::detail {

/// The registrations of a world. *Callers* collective over all PEs, one thread at a time.
class user_buffers {
 public:
  user_buffers(const control_group& everyone, const allocator_resources& ground, team_segments& where)
      : group_(everyone), ground_(ground), team_segments_(where) {}

  /// The second address of [pointer, pointer + bytes). *Errors* those of register_symmetric().
  [[nodiscard]] void* add(void* pointer, std::size_t bytes);
  /// *Errors* invalid_free, the same on all PEs.
  void remove(void* alias);

 private:
  [[nodiscard]] std::byte* my_slot() const noexcept { return ground_.reach.slot(group_.world_pe(group_.my_pe())); }

  const control_group& group_;
  const allocator_resources& ground_;
  team_segments& team_segments_;
  std::set<std::size_t> offsets_;
};

}  // namespace pgas::detail
