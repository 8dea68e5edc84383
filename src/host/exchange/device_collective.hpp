/// @file
/// A thread's wait for a collective on a device. The control plane ends the wait if a member never takes part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/deadline.hpp"
#include "host/exchange/control_group.hpp"
#include "host/exchange/group_exchange.hpp"

namespace pgas::detail {

/// During the lifetime of the object, the calling thread waits for the next collective that it enqueues on its device.
/// The world fails if a member leaves without having enqueued this collective. If this PE and the leaving member both
/// know their counts of collectives, the world fails immediately. If not, the world fails after PGAS_JOIN_TIMEOUT. A
/// member that has enqueued the collective may leave, because the work on its streams continues.
class device_collective {
 public:
  /// @param name must outlive the object
  device_collective(const control_group& group, const char* name);
  ~device_collective();
  device_collective(const device_collective&) = delete;
  device_collective& operator=(const device_collective&) = delete;

 private:
  friend class exchange_service;
  /// A member that leaves without having enqueued the collective. `certain` is false if this PE or the member does not
  /// know its count of collectives.
  struct missing_member {
    int pe;
    bool certain;
  };
  [[nodiscard]] std::optional<missing_member> missing(const std::map<control_group::identity, group_exchange>& groups,
                                                      int me) const;

  exchange_service& exchanges_;
  const control_group::identity group_;
  const char* const name_;
  std::optional<std::uint64_t> number_;            ///< the collective, counted from 1; empty after a capture
  std::optional<clock::time_point> leaves_since_;  ///< the time at which the reader saw that a member leaves
};

}  // namespace pgas::detail
