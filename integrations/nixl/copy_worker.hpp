/// @file
/// The thread of the backend that executes transfers, so that posting a transfer never waits for a copy.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend_aux.h"
#include "gpu_stream.hpp"
#include "mailbox.hpp"
#include "pgas/copy_list.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::nixl {

/// A message that is sent after the last byte of a transfer.
struct notification {
  std::shared_ptr<remote_mailbox> to;
  std::string text;
};

/// A request of NIXL: one list of copies.
class transfer final : public nixlBackendReqH {
 public:
  std::vector<copy_block> blocks;                              ///< addresses of the process that copies
  memory_place place;                                          ///< the device that copies
  std::vector<std::shared_ptr<const opened_memory>> mappings;  ///< keep the other agent's memory mapped for the blocks
  std::optional<notification> message;                         ///< of the next execution

  /// NIXL_IN_PROG from copy_worker::post() until the transfer has ended. The worker then no longer uses the object.
  [[nodiscard]] nixl_status_t status() const noexcept { return status_.load(std::memory_order_acquire); }

 private:
  friend class copy_worker;
  std::atomic<nixl_status_t> status_{NIXL_ERR_NOT_POSTED};
  // The following members belong to the worker's thread.
  gpu_stream* stream_ = nullptr;
  std::uint64_t end_ = 0;  ///< the value of the stream's timeline after the copies
};

/// Executes transfers in the order in which they are posted. Copies of host memory run in the thread of the worker;
/// copies of GPU memory run on a stream of the GPU, one after another.
///
/// *Callers* any thread.
class copy_worker {
 public:
  /// @param agent the sender of notifications
  explicit copy_worker(std::string agent);
  /// Transfers that have not ended get the status NIXL_ERR_CANCELED.
  ~copy_worker();
  copy_worker(const copy_worker&) = delete;
  copy_worker& operator=(const copy_worker&) = delete;

  /// Starts a transfer. *Memory* the transfer must not be destroyed before release() has returned true.
  void post(transfer& work);
  /// Cancels a transfer that has not begun; otherwise waits until it has ended.
  /// @return false if the transfer does not end within `limit`
  [[nodiscard]] bool release(transfer& work, std::chrono::seconds limit);

 private:
  void run();
  void begin(transfer& work);
  /// Ends the transfer if its copies and its message are complete or have failed. @return whether the transfer has
  /// ended
  [[nodiscard]] bool advance(transfer& work);
  /// NIXL_IN_PROG, or the status with which the transfer ends. *Errors* as gpu_stream::has_reached() and
  /// remote_mailbox::post().
  [[nodiscard]] nixl_status_t outcome(transfer& work);
  void end(transfer& work, nixl_status_t status);

  const std::string agent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<transfer*> posted_;
  bool ending_ = false;
  // The following members belong to the worker's thread.
  std::vector<transfer*> running_;
  std::map<int, gpu_stream> streams_;
  std::thread thread_;
};

}  // namespace pgas::nixl
