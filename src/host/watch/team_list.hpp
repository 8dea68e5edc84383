/// @file
/// The teams of a PE and the memory of their states. Finds the collective to which a wait for a word in a state
/// belongs. Used by wait_report.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/exchange/control_group.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// *Callers* any thread.
class team_list {
 public:
  /// The purpose of a kernel's wait for a word in the state of a team.
  struct place {
    control_group::identity team;
    std::vector<int> members;  ///< by their numbers in the world
    std::int32_t channel;
    bool of_host;  ///< the host has enqueued the collective
    int sender;    ///< the PE that must send the packet; -1 if the wait is not for a packet
    /// Identifies the awaited message, regardless of the epoch. In a collective, only one thread waits for a message.
    /// Empty for a word for which several threads can wait.
    std::optional<std::uint64_t> message;
  };

  /// @param key the key of the entry @param members by their numbers in the world
  void add(const void* key, control_group::identity id, const team_view& team, std::span<const int> members);
  /// Has no effect for an unknown key.
  void remove(const void* key) noexcept;
  /// Empty if the word is not in the state of a team.
  [[nodiscard]] std::optional<place> find(const failure_record& wait) const;

 private:
  struct entry {
    control_group::identity id;
    team_view team;
    std::vector<int> members;
  };
  [[nodiscard]] static std::optional<place> find_in(const entry& item, const failure_record& wait);

  mutable std::mutex mutex_;
  std::map<const void*, entry> teams_;
};

}  // namespace pgas::detail
