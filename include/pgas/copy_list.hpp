/// @file
/// Lists of copies: one call copies many blocks. put_list() and get_list() take a list, in kernels (device/list.hpp),
/// from the host (rma.hpp) and on streams (stream_rma.hpp). copy_blocks() copies a list between memory that this
/// process has mapped, for example memory opened by a ticket (device/list.hpp, copy_blocks.hpp).
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// @brief One block of a list.
///
/// In a put, `to` is this PE's address of the symmetric memory. In a get, `from` is this PE's address of the symmetric
/// memory. The address that is not symmetric points to memory of this PE. Addresses and sizes need no alignment;
/// multiples of 16 bytes are the fastest.
struct copy_block {
  void* to = nullptr;          ///< the destination
  const void* from = nullptr;  ///< the source
  std::size_t bytes = 0;       ///< may be 0
};

/// @brief One side of a list of pages: page k is at `base + k * stride`.
///
/// @tparam Byte void for the destination, const void for the source
/// @tparam Index a signed integer of 32 or 64 bits
template <class Byte, class Index>
struct page_side {
  Byte* base = nullptr;          ///< the start of page 0
  std::size_t stride = 0;        ///< bytes from the start of a page to the start of the next
  const Index* index = nullptr;  ///< entry i: the number of the page, not negative; null: page i
};

/// @brief A list of blocks to copy: an array of copy_block, or a set of pages that two arrays of indices select.
///
/// The object contains addresses only. The copies read the arrays when they run, also at each launch of a CUDA graph.
/// The arrays and the local memory of the blocks must not change until all threads of the group have returned (calls in
/// kernels), until quiet() (calls of the host), or until the stream has executed the call. With the heap on a GPU,
/// calls of the host and calls on a stream read arrays in pageable memory before they return.
///
/// The destinations of a list must not overlap. The copies have no order among themselves. The size of the first block
/// determines how many threads copy each block, so the first block of an array should have a typical size.
///
/// *Memory* kernels read the arrays from GPU memory, or more slowly from pinned host memory. Calls of the host and
/// calls on a stream also take arrays in pageable memory, which the stream first copies to the GPU; a CUDA graph cannot
/// capture such a call. On the host heap, the arrays can be in any memory.
class copy_list {
 public:
  /// @brief An empty list.
  copy_list() = default;
  /// @brief The list of the `count` blocks at `blocks`.
  PGAS_HD copy_list(const copy_block* blocks, std::size_t count) : blocks_(blocks), count_(count) {}
  /// @brief The list of `count` pages of `bytes` bytes.
  ///
  /// Entry i copies page `from.index[i]` of `from` to page `to.index[i]` of `to`.
  template <class To, class From>
  PGAS_HD copy_list(const page_side<void, To>& to, const page_side<const void, From>& from, std::size_t bytes,
                    std::size_t count)
      : count_(count),
        bytes_(bytes),
        to_{static_cast<std::byte*>(to.base), to.stride, to.index, sizeof(To)},
        from_{const_cast<std::byte*>(static_cast<const std::byte*>(from.base)), from.stride, from.index, sizeof(From)},
        pages_(1) {
    static_assert(is_index<To> && is_index<From>, "use signed indices of 32 or 64 bits");
  }

  /// @brief The number of blocks.
  [[nodiscard]] PGAS_HD std::size_t size() const { return count_; }
  /// @brief Whether the list consists of pages.
  [[nodiscard]] PGAS_HD bool has_pages() const { return pages_ != 0; }
  /// @brief The number of bytes of each page; 0 for an array of blocks.
  [[nodiscard]] PGAS_HD std::size_t page_bytes() const { return bytes_; }
  /// @brief Block `i`.
  ///
  /// *Callers* code that can read the arrays.
  [[nodiscard]] PGAS_HD copy_block operator[](std::size_t i) const {
    if (pages_ == 0) return blocks_[i];
    return {to_.page(i), from_.page(i), bytes_};
  }

  /// @brief For the library's internal use: one side of the pages.
  struct side {
    std::byte* base = nullptr;    ///< as in page_side
    std::size_t stride = 0;       ///< as in page_side
    const void* index = nullptr;  ///< as in page_side
    std::size_t index_bytes = 0;  ///< bytes of an index

    /// @brief The address of entry `i`.
    [[nodiscard]] PGAS_HD std::byte* page(std::size_t i) const {
      auto number = static_cast<std::int64_t>(i);
      if (index != nullptr)
        number = index_bytes == sizeof(std::int32_t) ? static_cast<const std::int32_t*>(index)[i]
                                                     : static_cast<const std::int64_t*>(index)[i];
      return base + number * static_cast<std::int64_t>(stride);
    }
  };
  /// @brief For the library's internal use: the array of blocks.
  [[nodiscard]] PGAS_HD const copy_block* blocks() const { return blocks_; }
  /// @brief For the library's internal use: the destinations of the pages.
  [[nodiscard]] PGAS_HD const side& to_pages() const { return to_; }
  /// @brief For the library's internal use: the sources of the pages.
  [[nodiscard]] PGAS_HD const side& from_pages() const { return from_; }
  /// @brief For the library's internal use: the same list with its arrays at other addresses.
  [[nodiscard]] copy_list with_arrays(const copy_block* blocks, const void* to_index, const void* from_index) const {
    copy_list moved = *this;
    moved.blocks_ = blocks;
    moved.to_.index = to_index;
    moved.from_.index = from_index;
    return moved;
  }

 private:
  template <class Index>
  static constexpr bool is_index = std::is_integral_v<Index>&& std::is_signed_v<Index> &&
                                   (sizeof(Index) == 4 || sizeof(Index) == 8);

  const copy_block* blocks_ = nullptr;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  side to_;
  side from_;
  std::size_t pages_ = 0;  ///< 1: pages
};
// Programs and the library share these layouts.
static_assert(sizeof(copy_block) == 24 && std::is_trivially_copyable_v<copy_block>);
static_assert(sizeof(copy_list) == 96 && std::is_trivially_copyable_v<copy_list>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
