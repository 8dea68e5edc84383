/// @file
/// Static data as symmetric memory: OpenSHMEM lets operations take the addresses of global and static variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "pgas/world.hpp"

namespace pgas::capi {

/// The writable data of the program and of the shared libraries that call OpenSHMEM: whole pages of .data and
/// .bss, without what is made read-only after relocation. On the host heap these pages are replaced, at their
/// addresses and with their contents, by a file of memory that all PEs also have in the heap.
///
/// *Memory* the pages stay shared until the process ends: the child of a fork that goes on without exec sees and
/// changes its parent's variables. Data of libraries that are opened later, thread-local data and the heap of malloc
/// are not part.
class static_data {
 public:
  static_data() = default;
  static_data(const static_data&) = delete;
  static_data& operator=(const static_data&) = delete;

  /// Collective: makes static data symmetric in this world, where its heap is in host memory and all PEs run the same
  /// program. No other thread may write to static data meanwhile. Where it cannot be done, translate() says why.
  void join(world& w);
  /// The world goes.
  void leave() noexcept;

  /// The address in the heap of what is at `pointer`; `pointer` itself where that is not static data.
  /// *Errors* outside_heap for static data that is not symmetric.
  [[nodiscard]] const void* translate(const volatile void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (const range& one : ranges_)
      if (address - one.begin < one.bytes) return in_heap(address, one);
    return const_cast<const void*>(pointer);
  }
  /// Whether it is static data.
  [[nodiscard]] bool contains(const void* pointer) const noexcept;
  /// Whether static data is symmetric now.
  [[nodiscard]] bool symmetric() const noexcept { return alias_ != nullptr; }

 private:
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t offset;   ///< in the file
    std::uint64_t shape;  ///< differs where another program was linked
  };

  void find_ranges();
  void replace_pages();
  void add(world& w);
  [[nodiscard]] bool same_everywhere(world& w) const;
  [[nodiscard]] const void* in_heap(std::uintptr_t address, const range& of) const;

  std::vector<range> ranges_;
  std::size_t file_bytes_ = 0;
  detail::unique_fd file_;  ///< of the pages, once they are replaced
  std::byte* alias_ = nullptr;
  std::string why_not_;
};

}  // namespace pgas::capi
