/// @file
/// Words in pages of host memory that streams of several processes write and wait for. The words need no world. The
/// timeline and the ipc_event of the host library use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace pgas::detail {

/// Words of 64 bits in pages of host memory, for the streams and kernels of one device. *Callers* any thread. *Errors*
/// device_failed, with the driver's name of the error.
class stream_words {
 public:
  stream_words() = default;
  virtual ~stream_words() = default;
  stream_words(const stream_words&) = delete;
  stream_words& operator=(const stream_words&) = delete;

  /// The address of a word for kernels of the device.
  [[nodiscard]] virtual std::uint64_t* address(std::uint64_t* word) const noexcept = 0;
  /// Enqueues a write of a word on the stream. *Order* a PE that acquires the value sees earlier work of the stream.
  /// @param stream a stream of the application. Null is CUDA's default stream; on the host it is the calling thread,
  /// which writes immediately.
  /// @param keep an object. If the device can detect the write, as the host can, the object stays alive until the word
  /// has been written.
  virtual void write(void* stream, std::uint64_t* word, std::uint64_t value, std::shared_ptr<const void> keep) = 0;
  /// Makes the stream wait until a word is at least `value`, in signed arithmetic of 64 bits. *Order* acquires.
  /// @param check called as in await_word() if the host executes the wait; an exception of `check` becomes the stream's
  /// error
  virtual void wait(void* stream, std::uint64_t* word, std::uint64_t value, std::function<void()> check) = 0;
  /// Whether a wait of a stream runs on the device and calls no check. If true, only a value of the word ends the wait.
  [[nodiscard]] virtual bool wait_on_device() const noexcept = 0;
};

/// Waits until `*word >= value`: polls, then yields, then sleeps. *Order* acquires.
/// *Errors* those of `check`.
/// @param check called about once per millisecond, and at the end
void await_word(const std::uint64_t* word, std::uint64_t value, const std::function<void()>& check);

/// Makes words for streams of the host heap. The words may have any address.
[[nodiscard]] std::unique_ptr<stream_words> make_cpu_stream_words();
/// Makes words for streams of a GPU.
/// @param ordinal the number of the GPU in the CUDA runtime
/// @param pages whole pages, which stay mapped
/// *Errors* device_unavailable if this process does not see the GPU, or if the GPU has no stream memory operations of
/// 64 bits.
[[nodiscard]] std::unique_ptr<stream_words> make_cuda_stream_words(int ordinal, std::span<std::byte> pages);

}  // namespace pgas::detail
