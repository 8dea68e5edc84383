#include <algorithm>
#include <cstring>

#include "device/device.hpp"
#include "host/proxy/memory.hpp"

namespace pgas::detail {

namespace {

/// Memory that a device copies from and to, by way of a pinned buffer, on a stream of its own. Writes are only
/// enqueued; each has its own place in the buffer until the stream has been waited for.
class device_proxy_memory final : public proxy_memory {
 public:
  explicit device_proxy_memory(device& backend)
      : device_(backend), stream_(backend.create_stream()), staging_(allocate(backend, stream_)) {}

  ~device_proxy_memory() override {
    device_.free_mapped(staging_);
    device_.destroy_stream(stream_);
  }

  void write(void* to, const void* from, const block_list& blocks) override {
    const auto* source = static_cast<const std::byte*>(from);
    for (std::size_t i = 0; i < blocks.count; ++i) {
      auto* const block = static_cast<std::byte*>(to) + static_cast<std::ptrdiff_t>(i) * blocks.step;
      for (std::size_t done = 0; done < blocks.bytes;) {
        const std::size_t piece = take_place(block + done, blocks.bytes - done);
        std::memcpy(here() + used_, source, piece);
        device_.copy(block + done, here() + used_, piece, stream_);
        used_ += piece;
        source += piece;
        done += piece;
      }
    }
  }

  void read(void* to, const void* from, const block_list& blocks) override {
    auto* target = static_cast<std::byte*>(to);
    std::size_t start = used_;
    const auto fetch = [&] {
      device_.synchronize(stream_);
      std::memcpy(target, here() + start, used_ - start);
      target += used_ - start;
      used_ = start = 0;
    };
    for (std::size_t i = 0; i < blocks.count; ++i) {
      const auto* const block = static_cast<const std::byte*>(from) + static_cast<std::ptrdiff_t>(i) * blocks.step;
      for (std::size_t done = 0; done < blocks.bytes;) {
        if (used_ == staging_bytes) fetch();
        const std::size_t piece = std::min(blocks.bytes - done, staging_bytes - used_);
        device_.copy(here() + used_, block + done, piece, stream_);
        used_ += piece;
        done += piece;
      }
    }
    fetch();
  }

  std::uint64_t update(void* at, atomic_update how, word_kind as, std::uint64_t value,
                       std::uint64_t condition) override {
    // A GPU's copy comes after those before it on the stream, moves the word whole, and needs no multiprocessor:
    // waiting kernels may have them all.
    if (how == atomic_update::set && device_.properties().kind != heap_kind::host) {
      write(at, &value, {size_of(as)});
      return 0;
    }
    complete();
    return device_.fetch(update_request(at, how, as, value, condition));
  }

  void complete() override {
    if (used_ == 0) return;
    device_.synchronize(stream_);
    used_ = 0;
  }

  [[nodiscard]] bool host_accessible() const noexcept override { return false; }

 private:
  static constexpr std::size_t staging_bytes = std::size_t{1} << 20;

  static mapped_memory allocate(device& backend, stream_handle stream) {
    try {
      return backend.allocate_mapped(staging_bytes);
    } catch (...) {
      backend.destroy_stream(stream);
      throw;
    }
  }

  [[nodiscard]] std::byte* here() const noexcept { return static_cast<std::byte*>(staging_.host); }

  /// Makes room for up to `bytes` on their way to `to`, aligned as they are there so that words stay whole; how many
  /// there is room for.
  [[nodiscard]] std::size_t take_place(const std::byte* to, std::size_t bytes) {
    constexpr std::size_t word = 16;
    const std::size_t phase = reinterpret_cast<std::uintptr_t>(to) % word;
    const auto aligned = [&] { return used_ + (phase + word - used_ % word) % word; };
    if (aligned() >= staging_bytes) complete();
    used_ = aligned();
    return std::min(bytes, staging_bytes - used_);
  }

  device& device_;
  const stream_handle stream_;
  const mapped_memory staging_;
  std::size_t used_ = 0;  ///< by copies that may be under way
};

}  // namespace

std::unique_ptr<proxy_memory> make_device_proxy_memory(device& backend) {
  return std::make_unique<device_proxy_memory>(backend);
}

}  // namespace pgas::detail
