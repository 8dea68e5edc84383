/// @file
/// The timeline that is part of a memory ticket, for the process that opens the ticket. The process waits for the last
/// recorded value, and need not know this value.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "common/deadline.hpp"
#include "host/share/ticket.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

class timeline_state;

/// *Callers* any thread. A child of fork() may only call the destructor, which does nothing in the child.
class carried_timeline {
 public:
  /// @param used_on the place where this process uses the memory *Errors* as opened_memory::open().
  carried_timeline(const ticket& which, memory_place used_on, const deadline& limit);

  void wait(void* stream);
  void wait_host(const deadline& limit) { wait_host(limit.left()); }
  void wait_host(std::chrono::milliseconds timeout);
  /// *Errors* peer_lost if a wait of a stream has ended before the awaited value was recorded.
  void check() const;

 private:
  /// The value for which a wait waits: the last recorded value. If no value has been recorded, the memory is not ready,
  /// and the value is 1.
  [[nodiscard]] std::uint64_t awaited() const;
  /// The timeline for streams. The timeline's page is registered with CUDA only if streams use the timeline.
  [[nodiscard]] timeline_state& for_streams();

  const std::string who_;  ///< the name of the exporter, for messages
  const memory_place used_on_;
  const std::shared_ptr<timeline_state> on_host_;
  std::mutex mutex_;  ///< guards on_device_
  std::shared_ptr<timeline_state> on_device_;
};

}  // namespace pgas::detail
