/// @file
/// A table of the shared memory that running blocks lend to the library (lent_memory.hpp). Code anywhere in a block can
/// look up the memory that its block lends. The table is a hash table in this PE's memory; the key consists of launch
/// and block. A block can end without taking its memory back. Therefore another block may take over any entry. An entry
/// is valid only if the lent memory contains the entry's ticket.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// An entry of the table: the shared memory that one block lends to the library for copies (lent_memory.hpp).
struct block_entry {
  std::uint64_t key = 0;     ///< key of the block; 0: the entry is free
  std::uint64_t ticket = 0;  ///< ticket that is also in the lent memory
  std::uint32_t lent = 0;    ///< shared-window address of the lent memory
  std::uint32_t unused = 0;
};
static_assert(sizeof(block_entry) == 24);

/// The entries of all blocks of a PE's kernels. *Memory* initially zero; GPU memory on GPU heaps.
struct block_table {
  /// The number of entries. On a GPU, fewer blocks can be resident: at most 32 for each multiprocessor.
  static constexpr std::uint32_t entries = 6144;
  /// The number of entries that a search tries. Blocks of one launch have adjacent entries, so the first try succeeds.
  /// Entries of two launches can collide.
  static constexpr std::uint32_t probes = 16;

  std::uint64_t tickets = 0;  ///< number of tickets issued so far
  std::uint64_t unused[7] = {};
  block_entry at[entries];

  /// The key of the calling thread's block. One launch out of 2^32 has the key 0, and no entry has this key.
  [[nodiscard]] PGAS_FN static std::uint64_t own_key() {
    return (std::uint64_t{place_launch()} + 1) << 32 | place_block();
  }

  /// The entry of a block; null if the block has no entry. *Callers* threads of that block.
  [[nodiscard]] PGAS_FN block_entry* find(std::uint64_t key) {
    for (std::uint32_t i = 0; i < probes; ++i) {
      block_entry* const candidate = probe(key, i);
      if (key != 0 && load_relaxed(&candidate->key) == key) return candidate;
    }
    return nullptr;
  }
  /// The entry of a block, created if the block has no entry; null for key 0. If the search finds no free entry, the
  /// block takes over the first entry of the search. A running block that has lost its entry makes its copies without
  /// the lent memory. *Callers* one thread of the block at a time; the block must sync before other threads look for
  /// the entry.
  [[nodiscard]] PGAS_FN block_entry* find_or_make(std::uint64_t key) {
    block_entry* own = find(key);
    for (std::uint32_t i = 0; i < probes && own == nullptr && key != 0; ++i) {
      block_entry* const candidate = probe(key, i);
      if (compare_exchange(&candidate->key, std::uint64_t{0}, key) == 0) own = candidate;
    }
    if (own == nullptr && key != 0) {
      own = probe(key, 0);
      store_relaxed(&own->key, key);
    }
    fence_acquire();  // orders later accesses after the accesses by the entry's previous block
    return own;
  }
  /// Frees the entry, unless another block has taken over the entry. *Callers* as find_or_make(), after a sync of the
  /// block.
  PGAS_FN static void drop(block_entry* entry, std::uint64_t key) {
    fence_release();
    static_cast<void>(compare_exchange(&entry->key, key, std::uint64_t{0}));
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
