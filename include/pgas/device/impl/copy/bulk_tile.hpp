/// @file
/// Asynchronous copies between a tile in the block's shared memory and a peer's memory (`device/bulk.hpp`): one
/// instruction of the GPU's copy unit for each row. The calling thread copies row ends that are not a multiple of 16
/// bytes, and rows that the unit can't copy.
#pragma once

#include "pgas/detail/isa/ptx_bulk_add.hpp"
#include "pgas/device/impl/copy/bulk_copy.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"

namespace pgas::detail {

/// Rows of equal length at regular distances, all in elements.
struct tile_rows {
  std::ptrdiff_t dst_stride;
  std::ptrdiff_t src_stride;
  std::size_t length;
  std::size_t count;
};

#if defined(PGAS_HAS_BULK_COPIES)

/// The part of a row that the copy unit copies: `bytes` bytes, after `head` bytes and before `tail` bytes that the
/// thread copies. Both addresses of the part are multiples of 16.
struct carried_part {
  std::uint32_t head;
  std::uint32_t bytes;  ///< 0: nothing
  std::uint32_t tail;
};
[[nodiscard]] PGAS_FN carried_part part_of(const void* remote, const void* tile, std::size_t bytes) {
  constexpr std::size_t least = 64;  // the thread itself copies shorter parts
  const auto at = reinterpret_cast<std::uintptr_t>(tile);
  const auto apart = reinterpret_cast<std::uintptr_t>(remote) ^ at;
  if (bytes < least || (apart & 15) != 0 || !is_shared(tile) || !is_global(remote)) return {0, 0, 0};
  const auto head = static_cast<std::uint32_t>((0 - at) & 15);
  const std::uint32_t rest = static_cast<std::uint32_t>(bytes) - head;
  return {head, rest & ~15u, rest & 15u};
}

#endif

/// Starts a put of one row. If the copy unit can't copy the row, the row has been read on return.
template <class T>
PGAS_FN void start_put(const context& ctx, bulk_ring* ring, T* remote, const T* tile, std::size_t count) {
#if defined(PGAS_HAS_BULK_COPIES)
  const std::size_t bytes = count * sizeof(T);
  const carried_part part = part_of(remote, tile, bytes);
  if (part.bytes != 0) {
    auto* const to = reinterpret_cast<std::byte*>(remote);
    const auto* const from = reinterpret_cast<const std::byte*>(tile);
    if constexpr (unit_of<T> < 16)
      copy_ends<direction::put, unit_of<T>>(to, from, bytes, part.head, part.tail, slice{0, 1});
    bulk_store(to + part.head, shared_address(from + part.head), part.bytes);
    return;
  }
#endif
  copy_by_ring<direction::put>(ctx, ring, remote, tile, count);
}

/// Starts a get of one row. The mbarrier `on` counts the arriving bytes. @return The number of bytes that the thread
/// has written by stores. The caller must count these bytes at the mbarrier.
template <class T>
[[nodiscard]] PGAS_FN std::uint32_t start_get([[maybe_unused]] mbarrier_word on, T* tile, const T* remote,
                                              std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
#if defined(PGAS_HAS_BULK_COPIES)
  const carried_part part = part_of(remote, tile, bytes);
  if (part.bytes != 0) {
    auto* const to = reinterpret_cast<std::byte*>(tile);
    const auto* const from = reinterpret_cast<const std::byte*>(remote);
    bulk_load(shared_address(to + part.head), from + part.head, part.bytes, on);
    if constexpr (unit_of<T> < 16)
      copy_ends<direction::get, unit_of<T>>(to, from, bytes, part.head, part.tail, slice{0, 1});
    return part.head + part.tail;
  }
#endif
  copy<direction::get>(this_thread{}, tile, remote, count);
  return static_cast<std::uint32_t>(bytes);
}

/// Adds the elements by individual atomic operations.
template <class T>
PGAS_FN void add_singly(T* remote, const T* tile, std::size_t count) {
  PGAS_ROLLED
  for (std::size_t i = 0; i < count; ++i) reduce<rmw::add>(remote + i, tile[i]);
}

/// Starts the addition of one row.
template <class T>
PGAS_FN void start_add(T* remote, const T* tile, std::size_t count) {
#if defined(PGAS_HAS_BULK_COPIES)
  const carried_part part = part_of(remote, tile, count * sizeof(T));
  if (part.bytes != 0) {
    const std::size_t first = part.head / sizeof(T);
    const std::size_t last = part.tail / sizeof(T);
    bulk_add<T>(remote + first, shared_address(tile + first), part.bytes);
    add_singly(remote, tile, first);
    add_singly(remote + (count - last), tile + (count - last), last);
    return;
  }
#endif
  add_singly(remote, tile, count);
}

/// Makes this thread's earlier accesses visible to the bulk copies that the thread starts next.
PGAS_FN void before_bulk() {
#if defined(PGAS_HAS_BULK_COPIES)
  fence_proxy_async_shared();
  fence_proxy_async_global();
#endif
}
/// Commits the copies started so far as one group, for which flush() and similar functions wait.
PGAS_FN void after_bulk() {
#if defined(PGAS_HAS_BULK_COPIES)
  bulk_commit();
#endif
}

/// Waits until all copies of this thread are complete. Afterwards, the copies count as stores of this thread.
PGAS_FN void bulk_copies_made() {
#if defined(PGAS_HAS_BULK_COPIES)
  bulk_stores_made();
#endif
}

/// Calls row(destination, source) for each row.
template <class To, class From, class Row>
PGAS_FN void for_each_row(To* dst, From* src, const tile_rows& rows, const Row& row) {
  PGAS_ROLLED
  for (std::size_t i = 0; i < rows.count; ++i) {
    row(dst, src);
    dst += rows.dst_stride;
    src += rows.src_stride;
  }
}

template <class T>
PGAS_FN void put_rows(const context& ctx, bulk_ring* ring, T* remote, const T* tile, const tile_rows& rows) {
  before_bulk();
  for_each_row(remote, tile, rows, [&](T* to, const T* from) { start_put(ctx, ring, to, from, rows.length); });
  after_bulk();
}
template <class T>
PGAS_FN void get_rows(mbarrier_word on, T* tile, const T* remote, const tile_rows& rows) {
  before_bulk();
  std::uint32_t own = 0;
  for_each_row(tile, remote, rows, [&](T* to, const T* from) { own += start_get(on, to, from, rows.length); });
  if (own != 0) mbarrier_complete(on, own);
}
template <class T>
PGAS_FN void add_rows(T* remote, const T* tile, const tile_rows& rows) {
  before_bulk();
  for_each_row(remote, tile, rows, [&](T* to, const T* from) { start_add(to, from, rows.length); });
  after_bulk();
}

/// Adds rows through the proxy: one command for each element. @param about the operation, PE and offset of the first
/// element's command
template <class T>
PGAS_COLD void proxied_add_rows(proxy_queue queue, op_info about, const T* tile, tile_rows rows) {
  PGAS_ROLLED
  for (; rows.count > 0; --rows.count) {
    PGAS_ROLLED
    for (std::size_t k = 0; k < rows.length; ++k) {
      proxied_update(queue, about, atomic_update::add, datatype_for<T>(), std::uint64_t{bits_as<word_of<T>>(tile[k])});
      about.offset += sizeof(T);
    }
    tile += rows.src_stride;
    about.offset += static_cast<std::uint64_t>(rows.dst_stride - static_cast<std::ptrdiff_t>(rows.length)) * sizeof(T);
  }
}

/// The shape, in bytes, of a tile that one command copies. `local` and `remote` are the distances between rows, in
/// elements, on this PE and on the other PE.
template <class T>
[[nodiscard]] PGAS_FN strided_range range_of(const tile_rows& rows, std::ptrdiff_t local, std::ptrdiff_t remote) {
  return strided_range_of<T>(rows.length, rows.count, local, remote);
}

}  // namespace pgas::detail
