/// @file
/// Static data as symmetric memory: operations of OpenSHMEM take addresses of global and static variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The writable data of the program and of the shared libraries, of those that are linked to libpgas_shmem: whole pages
/// of .data and .bss, without RELRO. On the host heap a memory file replaces these pages, at the same addresses and
/// with the same contents, and is registered with the heap.
///
/// *Memory* the pages stay shared until the process ends. A forked child has copies, as of other data, of up to
/// largest_copy; with more it shares its parent's. Libraries that are opened later, thread-local data and the malloc
/// heap are not included.
class static_data {
 public:
  static_data() = default;
  static_data(const static_data&) = delete;
  static_data& operator=(const static_data&) = delete;

  /// The properties that differ for another program, as text.
  [[nodiscard]] std::string program();
  /// Collective: makes static data symmetric in this world, if its heap is in host memory and all PEs run the same
  /// program; else translate() throws with the reason. No other thread may write to static data meanwhile.
  void join(world& w, bool same_program);
  /// Called before the world is left.
  void leave() noexcept;

  /// The address in the heap of static data; other pointers are returned unchanged.
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

  /// Bytes in use. A fork copies them before it returns, so that more would delay each fork for a second.
  static constexpr std::size_t largest_copy = std::size_t{1} << 30;

 private:
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t offset;   ///< in the file
    std::uint64_t shape;  ///< differs for another program
  };

  void find_ranges();
  void replace_pages();
  void add(world& w);
  void copy_at_fork();
  void copy_for_child() noexcept;
  void replace_in_child() noexcept;
  [[nodiscard]] const void* in_heap(std::uintptr_t address, const range& of) const;

  std::vector<range> ranges_;
  std::size_t file_bytes_ = 0;
  detail::unique_fd file_;  ///< with the pages, once they are replaced
  std::byte* alias_ = nullptr;
  std::string why_not_;
};

}  // namespace pgas::compat
