/// @file
/// CUDA's interprocess events. Used by the ipc_event of the host library.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace pgas::detail {

/// CUDA's handle of an interprocess event.
using event_handle = std::array<std::byte, 64>;

/// An interprocess event that the library has made or opened, or that the program has made. The destructor destroys the
/// event unless the program has made it. *Callers* any thread. *Errors* device_failed.
class device_event {
 public:
  device_event() = default;
  virtual ~device_event() = default;
  device_event(const device_event&) = delete;
  device_event& operator=(const device_event&) = delete;

  /// The `cudaEvent_t`.
  [[nodiscard]] virtual void* native() const noexcept = 0;
  [[nodiscard]] virtual event_handle handle() const = 0;
  virtual void record(void* stream) = 0;
  /// *Errors* capturing if the stream is being captured. Without this check CUDA would refuse the event and invalidate
  /// the capture.
  /// @param what a word for the message: "recorded" or "awaited"
  virtual void refuse_capture(void* stream, const char* what) const = 0;
};

/// *Errors* device_unavailable, device_failed.
[[nodiscard]] std::unique_ptr<device_event> make_device_event(int ordinal);
/// Wraps an event of the program. The program destroys the event. *Errors* invalid_argument if the event was not made
/// for other processes.
[[nodiscard]] std::unique_ptr<device_event> adopt_device_event(int ordinal, void* event);
/// Opens an event of another process. A process cannot open its own event. *Errors* handle_invalid if the driver
/// refuses the handle.
[[nodiscard]] std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle);

}  // namespace pgas::detail
