#include <cstring>

#include "device/shared/execute_operation.hpp"
#include "host/proxy/memory_access.hpp"

namespace pgas::detail {

namespace {

/// Calls f(constant size, offset) for the naturally aligned words, of up to 8 bytes, that [at, at + bytes) consists of.
template <class F>
void for_each_word(const std::byte* at, std::size_t bytes, const F& f) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  std::size_t done = 0;
  const auto one = [&](auto size) {
    f(size, done);
    done += size;
  };
  const std::integral_constant<std::size_t, 1> byte;
  const std::integral_constant<std::size_t, 2> two;
  const std::integral_constant<std::size_t, 4> four;
  const std::integral_constant<std::size_t, 8> eight;
  if ((address + done) % 2 != 0 && bytes - done >= 1) one(byte);
  if ((address + done) % 4 != 0 && bytes - done >= 2) one(two);
  if ((address + done) % 8 != 0 && bytes - done >= 4) one(four);
  while ((address + done) % 8 == 0 && bytes - done >= 8) one(eight);
  if (bytes - done >= 4 && (address + done) % 4 == 0) one(four);
  if (bytes - done >= 2 && (address + done) % 2 == 0) one(two);
  if (bytes - done >= 1) one(byte);
}

/// Loads and stores as kernels on the CPU execute them.
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
    // A store is enough for a signal that is set. An exchange would first wait for the earlier data, a cache miss, and
    // only then request its own line.
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

}  // namespace pgas::detail
