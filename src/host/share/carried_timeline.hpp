/// @file
/// The timeline that a ticket of memory carries, on the side of the processes that have opened it: they wait for what
/// was recorded last, and need not know its values.
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

/// *Callers* any thread. In a child of fork() only the destructor, which does nothing there.
class carried_timeline {
 public:
  /// @param used_on where the memory is mapped to be used
  /// *Errors* as opened_memory::open().
  carried_timeline(const ticket& which, memory_place used_on, const deadline& limit);

  void wait(void* stream);
  void wait_host(const deadline& limit) { wait_host(limit.left()); }
  void wait_host(std::chrono::milliseconds timeout);
  /// *Errors* peer_lost where waits of streams have ended without their value.
  void check() const;

 private:
  /// The awaited value: before the first record the memory is not ready.
  [[nodiscard]] std::uint64_t awaited() const;
  /// For streams. The timeline's page is registered with CUDA only if streams use it.
  [[nodiscard]] timeline_state& for_streams();

  const std::string who_;  ///< the exporter, for messages
  const memory_place used_on_;
  const std::shared_ptr<timeline_state> on_host_;
  std::mutex mutex_;  ///< guards on_device_
  std::shared_ptr<timeline_state> on_device_;
};

}  // namespace pgas::detail
