/// @file
/// Makes static data symmetric memory, because operations of OpenSHMEM accept addresses of global and static variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The writable data of the program and of shared libraries that are linked to libpgas_shmem: whole pages of .data and
/// .bss, without RELRO. On the host heap, a mapping of a memory file with the same contents replaces these pages at the
/// same addresses. The memory file is registered with the heap.
///
/// *Memory* the pages stay shared until the process ends. If the pages have at most largest_copy bytes, a forked child
/// gets copies of the pages, as it gets copies of all other data. If the pages have more bytes, the child shares the
/// pages of its parent. Libraries that are opened later, thread-local data and the malloc heap are not included.
class static_data {
 public:
  static_data() = default;
  static_data(const static_data&) = delete;
  static_data& operator=(const static_data&) = delete;

  /// The properties of the program as text; they differ between different programs.
  [[nodiscard]] std::string program();
  /// Makes static data symmetric in this world if the heap is in host memory and all PEs run the same program.
  /// Otherwise translate() throws with the reason. Collective. No other thread may write to static data during the
  /// call.
  void join(world& w, bool same_program);
  /// Called before the world is left.
  void leave() noexcept;

  /// The heap address of static data. Other pointers are returned unchanged.
  /// *Errors* outside_heap for static data that is not symmetric.
  [[nodiscard]] const void* translate(const volatile void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (const range& area : ranges_)
      if (address - area.begin < area.bytes) return in_heap(address, area);
    return const_cast<const void*>(pointer);
  }
  /// Whether the pointer points to static data.
  [[nodiscard]] bool contains(const void* pointer) const noexcept;
  /// Whether static data is symmetric now.
  [[nodiscard]] bool symmetric() const noexcept { return alias_ != nullptr; }

  /// The largest size that a fork copies. The copy is made before fork() returns, and a larger copy would take about a
  /// second.
  static constexpr std::size_t largest_copy = std::size_t{1} << 30;

 private:
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t offset;   ///< the offset in the file
    std::uint64_t shape;  ///< a number that is different in another program
  };

  void find_ranges();
  void replace_pages();
  void add(world& w);
  void copy_at_fork();
  void copy_for_child() noexcept;
  void replace_in_child() noexcept;
  [[nodiscard]] const void* in_heap(std::uintptr_t address, const range& area) const;

  std::vector<range> ranges_;
  std::size_t file_bytes_ = 0;
  detail::unique_fd file_;  ///< the file with the pages; empty until the pages are replaced
  std::byte* alias_ = nullptr;
  std::string why_not_;
};

}  // namespace pgas::compat
