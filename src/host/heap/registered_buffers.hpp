/// @file
/// Registered buffers: external memory as symmetric memory.
#pragma once

#include <cstddef>
#include <set>

#include "host/control/control_group.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/heap/team_segment_map.hpp"

namespace pgas::detail {

/// Buffers that the program made, mapped a second time into the slots of all PEs. *Callers* collective over all PEs,
/// one thread at a time.
class registered_buffers {
 public:
  /// All of them outlive it.
  registered_buffers(const control_group& everyone, segment_sharing& sharing, const heap_parameters& parameters,
                     team_segment_map& segments)
      : group_(everyone), sharing_(sharing), parameters_(parameters), team_segments_(segments) {}

  /// The second address of [pointer, pointer + bytes). *Errors* those of register_symmetric().
  [[nodiscard]] void* add(void* pointer, std::size_t bytes);
  /// *Errors* invalid_free, the same on all PEs.
  void remove(void* alias);

 private:
  [[nodiscard]] std::byte* own_slot() const noexcept { return sharing_.own_slot(group_); }

  const control_group& group_;
  segment_sharing& sharing_;
  const heap_parameters& parameters_;
  team_segment_map& team_segments_;
  std::set<std::size_t> offsets_;
};

}  // namespace pgas::detail
