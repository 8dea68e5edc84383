/// @file
/// Allocates ranges of a space that only grows. Works with offsets alone. The same calls give the same results on every
/// PE, so symmetric allocations need no communication.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace pgas::detail {

/// Best fit, with the lowest offset among blocks of equal size. Freed neighbours are joined immediately. Every
/// operation takes logarithmic time, except a search that finds no block. Such a search visits all blocks that are
/// large enough but not aligned.
class offset_allocator {
 public:
  /// A request after rounding.
  struct request {
    std::size_t bytes;      ///< a multiple of 16; from 512 on, a multiple of 512
    std::size_t alignment;  ///< a power of two
  };
  static constexpr std::size_t small_alignment = 16;
  /// the alignment of requests of at least 512 bytes
  static constexpr std::size_t line_alignment = 512;
  static constexpr std::size_t large_alignment = std::size_t{2} << 20;  ///< the alignment of requests of at least 2 MiB
  static constexpr std::size_t largest_request = std::size_t{1} << 62;  ///< the limit of sizes and of alignments

  /// Rounds a request as the heap does. *Units* bytes, from 1 to largest_request; alignment a power of two in the same
  /// range.
  [[nodiscard]] static request rounded(std::size_t bytes, std::size_t alignment) noexcept;

  /// The offset that allocate() would return; empty if the request does not fit.
  [[nodiscard]] std::optional<std::size_t> find(request wanted) const;
  [[nodiscard]] std::optional<std::size_t> allocate(request wanted);
  /// Frees the allocation at `offset`. False if no live allocation starts there.
  bool free(std::size_t offset);
  /// The start of the live allocation that contains `offset`.
  [[nodiscard]] std::optional<std::size_t> allocation_around(std::size_t offset) const;
  /// The size in bytes of the live allocation that starts at `offset`, after rounding; 0 if no allocation starts at the
  /// offset.
  [[nodiscard]] std::size_t allocation_bytes(std::size_t offset) const;

  /// Adds a free range at the end.
  void grow(std::size_t bytes) { add(size_, bytes); }
  /// Adds a free range at any offset. A space that uses this function must not use grow().
  void add(std::size_t offset, std::size_t bytes);
  /// The minimum number of bytes that grow() must add for the request to fit. The new bytes join a free range at the
  /// end of the space. Returns the largest std::size_t if the computation overflows.
  [[nodiscard]] std::size_t growth_needed(request wanted) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t allocations() const noexcept { return live_.size(); }
  [[nodiscard]] std::size_t largest_free() const noexcept { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using by_size = std::set<std::pair<std::size_t, std::size_t>>;  // pairs of bytes and offset

  [[nodiscard]] by_size::const_iterator choose(request wanted) const;
  /// Adds a free range and merges it with free neighbours.
  void join_free(std::size_t offset, std::size_t bytes);
  void insert_free(std::size_t offset, std::size_t bytes);
  void erase_free(std::map<std::size_t, std::size_t>::iterator block);

  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::map<std::size_t, std::size_t> free_;  ///< the size of each free block, by offset
  by_size by_size_;                          ///< the free blocks in the order of their sizes
  std::map<std::size_t, std::size_t> live_;  ///< the size of each live allocation, by offset
};

}  // namespace pgas::detail
