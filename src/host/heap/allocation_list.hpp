/// @file
/// The live allocations of a heap, for reports that describe an address.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace pgas::detail {

/// A live allocation.
struct allocation {
  /// The number of earlier allocations, the same on all PEs; in the heap of a world, allocation 0 belongs to the
  /// library.
  std::uint64_t number;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< the requested size, before rounding
};

/// "64 bytes into allocation 3 of 4096 bytes".
[[nodiscard]] inline std::string describe(const allocation& around, std::uint64_t offset) {
  if (around.number == 0) return "of the pgas library";
  if (offset == around.offset)
    return fmt::format("the start of allocation {} of {} bytes", around.number, around.bytes);
  return fmt::format("{} bytes into allocation {} of {} bytes", offset - around.offset, around.number, around.bytes);
}

/// The allocations of all members of a group. *Callers* any thread.
class allocation_list {
 public:
  void add(std::uint64_t offset, std::uint64_t bytes);
  /// Has no effect if no allocation starts at `offset`.
  void remove(std::uint64_t offset) noexcept;
  void clear() noexcept;
  /// The allocation that contains `offset`.
  [[nodiscard]] std::optional<allocation> around(std::uint64_t offset) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, allocation> by_offset_;
  std::uint64_t made_ = 0;
};

}  // namespace pgas::detail
