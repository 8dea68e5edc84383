/// @file
/// A thread's wait for a collective that a device executes: the control plane ends it where a member never takes part.
#pragma once

#include <cstdint>
#include <optional>

#include "common/deadline.hpp"
#include "host/control/control_group.hpp"

namespace pgas::detail {

/// During its life the calling thread waits for the next collective that it enqueues on its device. The world fails
/// when a member leaves that has not enqueued this collective: at once where both have counted their collectives, else
/// PGAS_JOIN_TIMEOUT later. A member that has enqueued it may leave: the work on its streams goes on.
class device_collective {
 public:
  /// @param name has to live as long
  device_collective(const control_group& group, const char* name);
  ~device_collective();
  device_collective(const device_collective&) = delete;
  device_collective& operator=(const device_collective&) = delete;

 private:
  friend struct control_plane_state;
  control_plane_state& state_;
  const control_group::identity group_;
  const char* const name_;
  std::optional<std::uint64_t> number_;            ///< of the collective, from 1; none: this PE has captured some
  std::optional<clock::time_point> leaves_since_;  ///< when the reader has seen that a member leaves
};

}  // namespace pgas::detail
