/// @file
/// CUDA's interprocess events. Used by the ipc_event of the host library.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace pgas::detail {

/// CUDA's handle of an interprocess event.
using event_handle = std::array<std::byte, 64>;

/// An interprocess event: made here, of the program, or opened. What was made or opened is destroyed with the object.
/// *Callers* any thread. *Errors* device_failed.
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
  /// *Errors* capturing where the stream is being captured: CUDA's own refusal of such an event would end the capture.
  /// @param what "recorded", "awaited"; for the message
  virtual void refuse_capture(void* stream, const char* what) const = 0;
};

/// *Errors* device_unavailable, device_failed.
[[nodiscard]] std::unique_ptr<device_event> make_device_event(int ordinal);
/// An event of the program, which destroys it. *Errors* invalid_argument where it was not made for other processes.
[[nodiscard]] std::unique_ptr<device_event> adopt_device_event(int ordinal, void* event);
/// An event of another process; its own process can't open it. *Errors* handle_invalid where the driver refuses the
/// handle.
[[nodiscard]] std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle);

}  // namespace pgas::detail
