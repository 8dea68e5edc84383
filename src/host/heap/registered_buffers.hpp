/// @file
/// Registered buffers: external memory as symmetric memory of a group's members.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/control/collective_step.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/segment_sharing.hpp"
#include "host/heap/team_segment_map.hpp"
#include "pgas/registration.hpp"

namespace pgas::detail {

/// Buffers that the members of a group made, mapped a second time into their slots. An owner that needs its buffer no
/// more sets a flag. Each exchange() tells the other members of the flags set since the last one, so that all learn at
/// the same call that nobody needs a buffer. *Callers* collective over the group, one thread at a time.
class registered_buffers {
 public:
  using released_flag = std::shared_ptr<std::atomic<bool>>;

  /// All of them outlive it.
  registered_buffers(const control_group& members, segment_sharing& sharing, const heap_parameters& parameters,
                     team_segment_map& segments)
      : group_(members), sharing_(sharing), parameters_(parameters), team_segments_(segments) {}

  /// The second address of [pointer, pointer + bytes), until remove(), or until all members have set their flags.
  /// @param released set by any thread; null: this PE never releases it. @param preferred the address that it gets
  /// where the slots have it free
  /// *Errors* those of register_symmetric().
  [[nodiscard]] void* add(void* pointer, std::size_t bytes, released_flag released = nullptr,
                          const void* preferred = nullptr);
  /// *Errors* invalid_free, the same on all members.
  void remove(void* alias);
  /// pgas::collect_released().
  std::size_t collect();
  /// exchange() of the members, in which they also tell one another what they have released. What all have
  /// released is unmapped when it returns. It writes mine.released.
  [[nodiscard]] std::vector<step_result> exchange(step_result& mine);
  /// Unmaps all. Members wait for one another before.
  void clear() noexcept;

  /// Whether there are none, which all members answer alike.
  [[nodiscard]] bool empty() const noexcept { return buffers_.empty(); }
  [[nodiscard]] registration_usage usage() const;

 private:
  struct buffer {
    std::size_t bytes = 0;
    released_flag released;
    std::vector<bool> released_by;  ///< member by member, as all members know
  };
  [[nodiscard]] std::byte* own_slot() const noexcept { return sharing_.own_slot(group_); }
  [[nodiscard]] std::vector<std::uint64_t> newly_released() const;
  void end_where_all_released();
  [[nodiscard]] error no_addresses(std::size_t bytes) const;

  const control_group& group_;
  segment_sharing& sharing_;
  const heap_parameters& parameters_;
  team_segment_map& team_segments_;
  std::map<std::size_t, buffer> buffers_;  ///< by offset, the same on all members
};

}  // namespace pgas::detail
