/// @file
/// The teams of a PE, by the memory of their states: which collective a wait for a word there is part of. Used by
/// wait_report.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/control/control_group.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// *Callers* any thread.
class team_list {
 public:
  /// What a wait of a kernel is for, in the state of a team.
  struct place {
    control_group::identity team;
    std::vector<int> members;  ///< as the world numbers them
    std::int32_t channel;
    bool of_host;  ///< a collective that the host has enqueued
    int sender;    ///< who has to send the packet, -1 where the wait is for none
    /// Equal for waits for the same message, whatever the epoch; one thread of a collective waits for a message. None
    /// for words that several threads may wait for.
    std::optional<std::uint64_t> message;
  };

  /// @param key of the entry @param members as the world numbers them
  void add(const void* key, control_group::identity id, const team_view& team, std::span<const int> members);
  /// Nothing happens where there is no such entry.
  void remove(const void* key) noexcept;
  /// None where the word is not in the state of a team.
  [[nodiscard]] std::optional<place> find(const failure_record& wait) const;

 private:
  struct entry {
    control_group::identity id;
    team_view team;
    std::vector<int> members;
  };
  [[nodiscard]] static std::optional<place> find_in(const entry& one, const failure_record& wait);

  mutable std::mutex mutex_;
  std::map<const void*, entry> teams_;
};

}  // namespace pgas::detail
