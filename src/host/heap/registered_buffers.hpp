/// @file
/// Registered buffers: memory of the program as symmetric memory of a group's members.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/exchange/collective_step.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/segment_exchange.hpp"
#include "host/heap/team_segment_map.hpp"
#include "pgas/registration.hpp"

namespace pgas::detail {

/// Buffers of the members of a group, mapped a second time into their slots. An owner sets a flag when it no longer
/// needs its buffer. Each agree() reports the flags that were set after the previous agree(), so that all members learn
/// in the same call that a buffer is free. *Callers* collective over the group, one thread at a time.
class registered_buffers {
 public:
  using released_flag = std::shared_ptr<std::atomic<bool>>;

  /// All arguments must outlive the object.
  registered_buffers(const control_group& members, segment_exchange& exchange, const heap_parameters& parameters,
                     team_segment_map& segments)
      : group_(members), exchange_(exchange), parameters_(parameters), team_segments_(segments) {}

  /// Maps [pointer, pointer + bytes) a second time and returns the second address. The mapping ends with remove(), or
  /// when all members have set their flags.
  /// @param released set by any thread; null: this PE never releases the buffer
  /// @param preferred the address to use if it is free in the slots
  /// *Errors* those of register_symmetric().
  [[nodiscard]] void* add(void* pointer, std::size_t bytes, released_flag released = nullptr,
                          const void* preferred = nullptr);
  /// *Errors* invalid_free, the same on all members.
  void remove(void* alias);
  /// Implements pgas::collect_released().
  std::size_t collect();
  /// A collective step of the members that exports no segment, and that also reports released buffers. Buffers that all
  /// members have released are unmapped when the function returns.
  [[nodiscard]] step_agreement agree(const step_result& mine);
  /// Unmaps all buffers. The caller synchronises the members before this call.
  void clear() noexcept;

  /// Whether no buffer is registered. The result is the same on all members.
  [[nodiscard]] bool empty() const noexcept { return buffers_.empty(); }
  [[nodiscard]] registration_usage usage() const;

 private:
  struct buffer {
    std::size_t bytes = 0;
    released_flag released;
    std::vector<bool> released_by;  ///< indexed by member; the same on all members
  };
  [[nodiscard]] std::byte* own_slot() const noexcept { return exchange_.own_slot(group_); }
  [[nodiscard]] std::vector<std::uint64_t> newly_released() const;
  void end_where_all_released();
  [[nodiscard]] error no_addresses(std::size_t bytes) const;

  const control_group& group_;
  segment_exchange& exchange_;
  const heap_parameters& parameters_;
  team_segment_map& team_segments_;
  std::map<std::size_t, buffer> buffers_;  ///< buffers by offset, the same on all members
};

}  // namespace pgas::detail
