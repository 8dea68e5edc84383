/// @file
/// The second contract of backends: words that streams of several processes write and await, and interprocess events.
/// Neither needs a world; a device is named by its number. Used by the timeline and the ipc_event of the host library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace pgas::detail {

/// A 64-bit word in host memory that several processes map, as the streams and kernels of one device use it.
/// *Callers* any thread. *Errors* device_failed, with the driver's error by name.
class stream_word {
 public:
  stream_word() = default;
  virtual ~stream_word() = default;
  stream_word(const stream_word&) = delete;
  stream_word& operator=(const stream_word&) = delete;

  /// The word as kernels of the device address it.
  [[nodiscard]] virtual std::uint64_t* address() const noexcept = 0;
  /// Sets the word when the stream gets there. *Order* whoever acquires the value sees earlier work of the stream.
  /// @param stream the application's own: null is CUDA's default stream; on the host the calling thread, at once.
  /// @param keep lives until the word has been written, where the device can tell (on the host)
  virtual void write(void* stream, std::uint64_t value, std::shared_ptr<const void> keep) = 0;
  /// Holds the stream until the word is at least `value`, in signed arithmetic of 64 bits. *Order* acquires.
  /// @param check called where the host waits, as by await_word(); its exception is the stream's error
  virtual void wait(void* stream, std::uint64_t value, std::function<void()> check) = 0;
  /// Whether a wait of a stream runs on the device, which calls no check: only a value of the word ends it.
  [[nodiscard]] virtual bool waits_on_device() const noexcept = 0;
};

/// Returns when `*word >= value`: polls, then yields, then sleeps. *Order* acquires. *Errors* those of `check`.
/// @param check called about once in a millisecond, and at the end
void await_word(const std::uint64_t* word, std::uint64_t value, const std::function<void()>& check);

/// The word for streams of the host heap.
[[nodiscard]] std::unique_ptr<stream_word> make_cpu_stream_word(std::uint64_t* word);
/// The word for streams of a GPU.
/// @param ordinal as the CUDA runtime counts @param pages the whole pages around the word; they stay mapped
/// *Errors* device_unavailable where there is no such GPU, or it has no stream memory operations of 64 bits.
[[nodiscard]] std::unique_ptr<stream_word> make_cuda_stream_word(int ordinal, std::span<std::byte> pages,
                                                                 std::uint64_t* word);

/// The bytes of a GPU's UUID.
using gpu_uuid = std::array<std::byte, 16>;
/// *Errors* device_unavailable where there is no such GPU.
[[nodiscard]] gpu_uuid uuid_of_gpu(int ordinal);
/// The number that the GPU has in this process, if it sees it. *Errors* device_unavailable without a driver.
[[nodiscard]] std::optional<int> find_gpu(const gpu_uuid& uuid);

/// CUDA's handle of an interprocess event.
using event_handle = std::array<std::byte, 64>;

/// An interprocess event, made here or opened. Destroyed with the object.
/// *Callers* any thread. *Errors* device_failed; capturing where the stream is being captured: a graph would keep the
/// event's state of now, or CUDA refuses.
class device_event {
 public:
  device_event() = default;
  virtual ~device_event() = default;
  device_event(const device_event&) = delete;
  device_event& operator=(const device_event&) = delete;

  [[nodiscard]] virtual event_handle handle() const = 0;
  virtual void record(void* stream) = 0;
  /// Holds the stream until the event's last record, made in whichever process, has been reached.
  virtual void wait(void* stream) = 0;
  /// Whether the last record has been reached.
  [[nodiscard]] virtual bool reached() const = 0;
  /// Ends waits for records that will not be reached: records the event now, in a stream of its own.
  virtual void release_waits() = 0;
};

/// *Errors* device_unavailable, device_failed.
[[nodiscard]] std::unique_ptr<device_event> make_device_event(int ordinal);
/// An event of another process; its own process can't open it. *Errors* handle_invalid where the driver refuses the
/// handle.
[[nodiscard]] std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle);

}  // namespace pgas::detail
