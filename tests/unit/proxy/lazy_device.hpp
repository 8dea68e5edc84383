/// @file
/// A device that executes work only when it is synchronized, as a GPU may. Code that reads a result too early reads old
/// bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "unit/heap/faulty_device.hpp"

namespace pgas::testing {

/// *Callers* one thread at a time. All streams are the same stream.
class lazy_device final : public unit_test::faulty_device {
 public:
  std::size_t waits = 0;    ///< the number of synchronize() calls
  std::size_t copies = 0;   ///< the number of enqueued copies
  std::size_t updates = 0;  ///< the number of enqueued batches
  /// for each update of the batches: whether it is fenced
  std::vector<bool> fenced;
  /// Devices that are made from now on report this order of remote writes.
  static inline detail::remote_writes order = detail::remote_writes::visible;
  std::string done;  ///< the first letter of each call: Copy, Update, Flush
  std::function<void()> before_work = [] {};

  ~lazy_device() override { work(); }

  void copy(void* to, const void* from, std::size_t bytes, detail::stream_handle stream) override {
    ++copies;
    done += 'C';
    queue_.emplace_back([=, this] { faulty_device::copy(to, from, bytes, stream); });
  }
  void update(std::span<detail::batched_atomic> list, detail::stream_handle stream) override {
    ++updates;
    done += 'U';
    for (const detail::batched_atomic& each : list) fenced.push_back(each.fenced);
    queue_.emplace_back([=, this] { faulty_device::update(list, stream); });
  }
  detail::remote_writes order_of_remote_writes(bool) const noexcept override { return order_; }
  void flush_remote_writes(bool) override { done += 'F'; }
  void synchronize(detail::stream_handle stream) override {
    ++waits;
    before_work();
    work();
    faulty_device::synchronize(stream);
  }
  void destroy_stream(detail::stream_handle stream) noexcept override {
    work();
    faulty_device::destroy_stream(stream);
  }

 private:
  void work() {
    for (; !queue_.empty(); queue_.pop_front()) queue_.front()();
  }

  const detail::remote_writes order_ = order;
  std::deque<std::function<void()>> queue_;
};

}  // namespace pgas::testing
