#include "host/proxy/memory_access.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/both_backends/execute_operation.hpp"
#include "device/owned_device_memory.hpp"

namespace pgas::detail {

namespace {

/// Calls f(constant size, offset) for the naturally aligned words, of up to 8 bytes, that make up [at, at + bytes).
template <class F>
void for_each_word(const std::byte* at, std::size_t bytes, const F& f) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  std::size_t done = 0;
  const auto item = [&](auto size) {
    f(size, done);
    done += size;
  };
  const std::integral_constant<std::size_t, 1> byte;
  const std::integral_constant<std::size_t, 2> two;
  const std::integral_constant<std::size_t, 4> four;
  const std::integral_constant<std::size_t, 8> eight;
  if ((address + done) % 2 != 0 && bytes - done >= 1) item(byte);
  if ((address + done) % 4 != 0 && bytes - done >= 2) item(two);
  if ((address + done) % 8 != 0 && bytes - done >= 4) item(four);
  while ((address + done) % 8 == 0 && bytes - done >= 8) item(eight);
  if (bytes - done >= 4 && (address + done) % 4 == 0) item(four);
  if (bytes - done >= 2 && (address + done) % 2 == 0) item(two);
  if (bytes - done >= 1) item(byte);
}

/// Accesses memory by loads and stores, as kernels on the CPU do.
class host_memory_access final : public memory_access {
 public:
  void write(void* to, const void* from, const block_list& blocks) override {
    auto* block = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    fence_release();
    for (std::size_t i = 0; i < blocks.count; ++i, block += blocks.step, source += blocks.bytes) {
      for_each_word(block, blocks.bytes, [&](auto size, std::size_t at) {
        using bits = typename word<decltype(size)::value>::type;
        bits value;
        std::memcpy(&value, source + at, sizeof value);
        store_relaxed(reinterpret_cast<bits*>(block + at), value);
      });
    }
  }

  void read(void* to, const void* from, const block_list& blocks) override {
    auto* target = static_cast<std::byte*>(to);
    const auto* block = static_cast<const std::byte*>(from);
    for (std::size_t i = 0; i < blocks.count; ++i, block += blocks.step, target += blocks.bytes) {
      for_each_word(block, blocks.bytes, [&](auto size, std::size_t at) {
        using bits = typename word<decltype(size)::value>::type;
        const bits value = load_relaxed(reinterpret_cast<const bits*>(block + at));
        std::memcpy(target + at, &value, sizeof value);
      });
    }
    fence_acquire();
  }

  void update(const batched_atomic& what, std::byte* old) override {
    // To set a signal, a store is sufficient. It is also faster than an exchange. An exchange first waits for the
    // stores of earlier data, which miss the cache, and only then requests the cache line of the signal.
    if (what.how == atomic_update::set && old == nullptr) return write(what.at, &what.value, {size_of(what.as)});
    batched_atomic mine = what;
    execute_updates(&mine, 1);
    if (old != nullptr) std::memcpy(old, &mine.old, sizeof mine.old);
  }

  void complete() override { fence_release(); }
  [[nodiscard]] bool pending() const noexcept override { return false; }
  [[nodiscard]] bool host_accessible() const noexcept override { return true; }
};

}  // namespace

std::unique_ptr<memory_access> make_host_memory_access() { return std::make_unique<host_memory_access>(); }

namespace {

/// Mapped memory and its size.
class sized_block {
 public:
  sized_block(device& backend, std::size_t bytes) : bytes_(bytes), memory_(backend, bytes) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::byte* on_host() const noexcept { return static_cast<std::byte*>(memory_.on_host()); }
  [[nodiscard]] void* on_device() const noexcept { return memory_.on_device(); }
  [[nodiscard]] bool contains(const void* at) const noexcept {
    return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(on_host()) < bytes_;
  }

 private:
  const std::size_t bytes_;
  const mapped_block memory_;
};

/// A stream. It is destroyed before the memory that its work uses.
class own_stream {
 public:
  explicit own_stream(device& backend) : device_(backend), stream_(backend.create_urgent_stream()) {}
  ~own_stream() { device_.destroy_stream(stream_); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;

  [[nodiscard]] stream_handle get() const noexcept { return stream_; }

 private:
  device& device_;
  const stream_handle stream_;
};

/// Accesses memory by copies of a device. All work is enqueued on one stream and therefore runs in order. The data
/// stays in pinned memory until the stream has been synchronized. When the pinned memory is full, the stream is
/// synchronized immediately.
class device_memory_access final : public memory_access {
 public:
  device_memory_access(device& backend, const pinned_sizes& sizes, bool for_peers)
      : device_(backend),
        for_peers_(for_peers),
        remote_writes_(backend.order_of_remote_writes(for_peers)),
        staging_(backend, sizes.staging_bytes),
        list_(backend, sizes.updates * sizeof(batched_atomic)),
        buffers_(backend, sizes.buffer_bytes),
        most_updates_(sizes.updates),
        stream_(backend) {
    results_.reserve(most_updates_);
  }

  void write(void* to, const void* from, const block_list& blocks) override {
    launch_updates();
    const auto* source = static_cast<const std::byte*>(from);
    for_each_block(to, blocks, [&](std::byte* block) {
      for (std::size_t done = 0; done < blocks.bytes;) {
        const std::size_t chunk = reserve_staging(block + done, blocks.bytes - done);
        std::memcpy(staging_.on_host() + used_, source, chunk);
        device_.copy(block + done, staging_.on_host() + used_, chunk, stream_.get());
        used_ += chunk;
        source += chunk;
        done += chunk;
      }
    });
  }

  void read(void* to, const void* from, const block_list& blocks) override {
    launch_updates();
    auto* target = static_cast<std::byte*>(to);
    const bool straight = buffers_.contains(to);
    for_each_block(const_cast<void*>(from), blocks, [&](const std::byte* block) {
      for (std::size_t done = 0; done < blocks.bytes;) {
        std::size_t chunk = blocks.bytes - done;
        if (straight) {
          device_.copy(target, block + done, chunk, stream_.get());
          reads_straight_ = true;
        } else {
          chunk = reserve_staging(block + done, chunk);
          device_.copy(staging_.on_host() + used_, block + done, chunk, stream_.get());
          reads_.push_back({target, used_, chunk});
          used_ += chunk;
        }
        target += chunk;
        done += chunk;
      }
    });
  }

  void update(const batched_atomic& what, std::byte* old) override {
    // A copy by the GPU follows the earlier work of the stream and writes the word by a single access. The copy needs
    // no multiprocessor, so it also runs while waiting kernels occupy all multiprocessors.
    const bool copies = device_.properties().kind != heap_kind::host;
    if (copies && what.how == atomic_update::set && old == nullptr && launched_ == results_.size())
      return write(what.at, &what.value, {size_of(what.as)});
    if (results_.size() == most_updates_) complete();
    batched_atomic& mine = updates()[results_.size()];
    mine = what;
    mine.fetches = old != nullptr;
    results_.push_back(old);
  }

  void complete() override {
    if (!pending()) return;
    launch_updates();
    device_.synchronize(stream_.get());
    for (const staged_read& each : reads_) std::memcpy(each.to, staging_.on_host() + each.place, each.bytes);
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (results_[i] != nullptr) std::memcpy(results_[i], &updates()[i].old, sizeof(batched_atomic::old));
    reads_.clear();
    results_.clear();
    launched_ = used_ = 0;
    reads_straight_ = false;
  }

  [[nodiscard]] bool pending() const noexcept override { return used_ != 0 || reads_straight_ || !results_.empty(); }
  [[nodiscard]] bool host_accessible() const noexcept override { return false; }
  [[nodiscard]] bool transports_may_write() const noexcept override { return remote_writes_ != remote_writes::never; }
  void admit_transport_writes() override {
    if (remote_writes_ == remote_writes::after_flush) device_.flush_remote_writes(for_peers_);
  }
  [[nodiscard]] std::span<std::byte> buffers() noexcept override { return {buffers_.on_host(), buffers_.bytes()}; }

 private:
  struct staged_read {
    std::byte* to;
    std::size_t place;
    std::size_t bytes;
  };

  template <class F>
  static void for_each_block(void* first, const block_list& blocks, const F& f) {
    for (std::size_t i = 0; i < blocks.count; ++i)
      f(static_cast<std::byte*>(first) + static_cast<std::ptrdiff_t>(i) * blocks.step);
  }

  [[nodiscard]] batched_atomic* updates() const noexcept { return reinterpret_cast<batched_atomic*>(list_.on_host()); }

  /// Enqueues the batched updates. Called before later work is enqueued.
  void launch_updates() {
    if (launched_ == results_.size()) return;
    auto* const list = static_cast<batched_atomic*>(list_.on_device());
    device_.update({list + launched_, results_.size() - launched_}, stream_.get());
    launched_ = results_.size();
  }

  /// Reserves room for up to `bytes` of the data at `place`, with the same alignment as `place`, so that no word is
  /// split. Returns the number of bytes reserved.
  [[nodiscard]] std::size_t reserve_staging(const std::byte* place, std::size_t bytes) {
    constexpr std::size_t word = 16;
    const std::size_t phase = reinterpret_cast<std::uintptr_t>(place) % word;
    const auto aligned = [&] { return used_ + (phase + word - used_ % word) % word; };
    if (aligned() >= staging_.bytes()) complete();
    used_ = aligned();
    return std::min(bytes, staging_.bytes() - used_);
  }

  device& device_;
  const bool for_peers_;
  const remote_writes remote_writes_;
  const sized_block staging_;
  const sized_block list_;
  const sized_block buffers_;
  const std::size_t most_updates_;
  const own_stream stream_;
  std::size_t used_ = 0;  ///< bytes of staging_ that copies in flight may use
  bool reads_straight_ = false;
  std::vector<staged_read> reads_;
  std::vector<std::byte*> results_;  ///< for each update of the list, the address that receives the old value
  std::size_t launched_ = 0;         ///< the number of updates that have been enqueued
};

}  // namespace

std::unique_ptr<memory_access> make_device_memory_access(device& backend, const pinned_sizes& sizes, bool for_peers) {
  return std::make_unique<device_memory_access>(backend, sizes, for_peers);
}

}  // namespace pgas::detail
