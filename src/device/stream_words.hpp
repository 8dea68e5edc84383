/// @file
/// Words in pages of host memory that streams of several processes write and await. They need no world. Used by the
/// timeline and the ipc_event of the host library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace pgas::detail {

/// Pages of host memory with words of 64 bits, as the streams and kernels of one device use them.
/// *Callers* any thread. *Errors* device_failed, with the driver's error by name.
class stream_words {
 public:
  stream_words() = default;
  virtual ~stream_words() = default;
  stream_words(const stream_words&) = delete;
  stream_words& operator=(const stream_words&) = delete;

  /// A word of the pages as kernels of the device address it.
  [[nodiscard]] virtual std::uint64_t* address(std::uint64_t* word) const noexcept = 0;
  /// Sets a word when the stream gets there. *Order* a PE that acquires the value sees earlier work of the stream.
  /// @param stream the application's own: null is CUDA's default stream; on the host the calling thread, at once.
  /// @param keep lives until the word has been written, where the device can tell (on the host)
  virtual void write(void* stream, std::uint64_t* word, std::uint64_t value, std::shared_ptr<const void> keep) = 0;
  /// Holds the stream until a word is at least `value`, in signed arithmetic of 64 bits. *Order* acquires.
  /// @param check called where the host waits, as by await_word(); its exception is the stream's error
  virtual void wait(void* stream, std::uint64_t* word, std::uint64_t value, std::function<void()> check) = 0;
  /// Whether a wait of a stream runs on the device, which calls no check: only a value of the word ends it.
  [[nodiscard]] virtual bool wait_on_device() const noexcept = 0;
};

/// Returns when `*word >= value`: polls, then yields, then sleeps. *Order* acquires. *Errors* those of `check`.
/// @param check called about once in a millisecond, and at the end
void await_word(const std::uint64_t* word, std::uint64_t value, const std::function<void()>& check);

/// For streams of the host heap; the words may lie anywhere.
[[nodiscard]] std::unique_ptr<stream_words> make_cpu_stream_words();
/// For streams of a GPU.
/// @param ordinal as the CUDA runtime counts @param pages whole pages, which stay mapped
/// *Errors* device_unavailable where there is no such GPU, or it has no stream memory operations of 64 bits.
[[nodiscard]] std::unique_ptr<stream_words> make_cuda_stream_words(int ordinal, std::span<std::byte> pages);

}  // namespace pgas::detail
