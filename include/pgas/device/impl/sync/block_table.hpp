/// @file
/// Information that running blocks have given the library, accessible from anywhere in the block: a hash table in this
/// PE's memory with launch and block as the key. Each entry belongs to one block; syncs of the block order accesses to
/// its other words.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// The information of one block.
struct block_entry {
  std::uint64_t key = 0;         ///< of the block; 0: the entry is free
  std::uint64_t region = 0;      ///< the handle of its region; 0: none
  std::uint64_t ticket = 0;      ///< also in the lent memory, as proof that the memory belongs to this block
  std::uint32_t hints = 0;       ///< of the region
  std::uint32_t lent = 0;        ///< shared memory that it has lent: an address in the shared window
  std::uint32_t lent_bytes = 0;  ///< 0: none
  std::uint32_t unused = 0;
};
static_assert(sizeof(block_entry) == 40);

/// The entries of all blocks of a PE's kernels. *Memory* initially zero; GPU memory on GPU heaps.
struct block_table {
  /// More entries than a GPU has resident blocks: 32 on each multiprocessor.
  static constexpr std::uint32_t entries = 6144;
  /// Blocks of one launch have adjacent entries, so an entry is found at once. Entries of two launches may collide.
  static constexpr std::uint32_t probes = 16;

  std::uint64_t tickets = 0;  ///< number of tickets issued so far
  std::uint64_t unused[7] = {};
  block_entry at[entries];

  /// The key of the calling thread's block. One launch of 2^32 has the key 0, which no entry has.
  [[nodiscard]] PGAS_FN static std::uint64_t own_key() {
    return (std::uint64_t{place_launch()} + 1) << 32 | place_block();
  }

  /// The entry of a block; null if it has none. *Callers* threads of that block.
  [[nodiscard]] PGAS_FN block_entry* find(std::uint64_t key) {
    for (std::uint32_t i = 0; i < probes; ++i) {
      block_entry* const candidate = probe(key, i);
      if (key != 0 && load_relaxed(&candidate->key) == key) return candidate;
    }
    return nullptr;
  }
  /// The entry of a block, created if it does not exist; null if no entry near its position is free. *Callers* one
  /// thread of that block at a time; a sync of the block before other threads look for it.
  [[nodiscard]] PGAS_FN block_entry* find_or_make(std::uint64_t key) {
    block_entry* own = find(key);
    for (std::uint32_t i = 0; i < probes && own == nullptr && key != 0; ++i) {
      block_entry* const candidate = probe(key, i);
      if (compare_exchange(&candidate->key, std::uint64_t{0}, key) == 0) own = candidate;
    }
    fence_acquire();  // accesses by the entry's previous block come before
    return own;
  }
  /// Frees the entry if it holds no information any more. *Callers* as find_or_make(), after a sync of the block.
  PGAS_FN static void drop_if_empty(block_entry* entry) {
    if (entry->region != 0 || entry->lent_bytes != 0) return;
    fence_release();
    store_relaxed(&entry->key, std::uint64_t{0});
  }
  /// A number that no other entry has and that program data is unlikely to contain.
  [[nodiscard]] PGAS_FN std::uint64_t next_ticket() {
    return (fetch<rmw::add>(&tickets, std::uint64_t{1}) + 1) * 0x9e3779b97f4a7c15u;
  }

 private:
  [[nodiscard]] PGAS_FN block_entry* probe(std::uint64_t key, std::uint32_t i) {
    const auto launch = static_cast<std::uint32_t>(key >> 32);
    return at + (launch * 2654435769u + static_cast<std::uint32_t>(key) + i) % entries;
  }
};

}  // namespace pgas::detail
