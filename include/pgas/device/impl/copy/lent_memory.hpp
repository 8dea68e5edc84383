/// @file
/// Shared memory that a block lends to the library for its copies. With lent memory, put() and get() of the block, of
/// its warps and of its threads use the GPU's copy unit, through the ring of a bulk_copier that one thread at a time
/// uses. NVSHMEM's function nvshmemx_give_smem lends this memory. Programs of pgas use a bulk_copier instead.
///
/// Only a context with slow_path::lent looks for lent memory, in out-of-line code, so other contexts execute no
/// additional instruction. A lock protects the ring. No thread waits for the lock: a thread that can't take the lock
/// copies by loads and stores.
#pragma once

#include "pgas/detail/isa/ptx_block.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/copy/bulk_copy.hpp"
#include "pgas/device/impl/sync/block_table.hpp"

namespace pgas::detail {

/// A context in memory with operations that look for lent memory. context::copy_ points to a lending_context if
/// slow_path::lent is set.
struct lending_context : context {
  block_table* blocks = nullptr;
};

/// The pointer, moved by `distance` bytes.
template <class T>
[[nodiscard]] PGAS_FN T* moved(T* p, std::uintptr_t distance) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + distance);
}

/// The layout of lent memory: the ring's barriers (bulk_ring), the words of this struct, and the stages, in this order.
struct lent_memory {
  /// The minimum size. NVSHMEM requires lent memory of this size even if the memory stages no data.
  static constexpr std::size_t least_bytes = 1136;

  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no address

  static constexpr std::uint32_t lock_at = 64;
  static constexpr std::uint32_t parities_at = 68;
  static constexpr std::uint32_t ticket_at = 72;
  static constexpr std::uint32_t bytes_at = 80;
  static_assert(bytes_at + 4 <= bulk_ring::header_bytes && bulk_ring::stages * 8 <= lock_at);
};

#if defined(PGAS_HAS_BULK_COPIES)
/// Returns the memory that the calling block has lent, from the block's entry. Returns lent_memory::none if another
/// block has taken over the entry, or if the entry remains from an earlier launch. The entry is valid if the memory
/// contains the ticket of the entry.
[[nodiscard]] PGAS_FN std::uint32_t lent_by_entry(const block_entry& own) {
  const std::uint64_t ticket = own.ticket;
  const std::uint32_t lent = own.lent;
  const bool proven = is_shared_of_block(lent, bulk_ring::header_bytes) &&
                      load_shared<std::uint64_t>(lent + lent_memory::ticket_at) == ticket;
  return proven ? lent : lent_memory::none;
}

/// Ends the lending of the calling block. The barriers in the lent memory become ordinary memory again. *Callers* one
/// thread of the block.
PGAS_FN void end_lending(const block_entry& own) {
  const std::uint32_t lent = lent_by_entry(own);
  if (lent == lent_memory::none) return;
  for (std::uint32_t i = 0; i < bulk_ring::stages; ++i) mbarrier_end(barrier_of({lent, 0, 0}, i));
  store_shared(lent + lent_memory::ticket_at, std::uint64_t{0});
}
#endif

/// Lends the memory [shared, shared + bytes) to the library. This memory replaces memory that the block has lent
/// earlier. The block lends nothing if the memory is too small or is not shared memory, or if the GPU has no copy unit.
/// *Callers* all threads of a block. *Memory* only the library uses the memory until take_back().
template <class Block>
PGAS_FN void lend([[maybe_unused]] block_table* table, const Block& block, [[maybe_unused]] void* shared,
                  [[maybe_unused]] std::size_t bytes) {
  block.sync();  // after this sync, the program no longer uses the memory
#if defined(PGAS_HAS_BULK_COPIES)
  if (block.thread_rank() == 0 && table != nullptr) {
    const bool taken = bytes >= lent_memory::least_bytes && is_shared(shared);
    const std::uint64_t key = block_table::own_key();
    block_entry* const own = taken ? table->find_or_make(key) : table->find(key);
    if (own != nullptr) end_lending(*own);
    if (own != nullptr && !taken) block_table::drop(own, key);
    if (own != nullptr && taken) {
      const std::uint32_t given = shared_address(shared);
      const std::uint32_t lent = (given + 127) / 128 * 128;
      const std::uint64_t ticket = table->next_ticket();
      own->lent = lent;
      own->ticket = ticket;
      for (std::uint32_t i = 0; i < bulk_ring::stages; ++i) mbarrier_init(barrier_of({lent, 0, 0}, i), 1);
      unlock_shared(lent + lent_memory::lock_at);
      store_shared(lent + lent_memory::parities_at, std::uint32_t{0});
      store_shared(lent + lent_memory::bytes_at, static_cast<std::uint32_t>(bytes) - (lent - given));
      store_shared(lent + lent_memory::ticket_at, ticket);
    }
  }
#endif
  block.sync();
}

/// Ends the lending and returns the memory to the program. *Callers* all threads of a block, also of a block that has
/// lent nothing. *Order* as for copies by threads: quiet() completes the block's copies at their targets.
template <class Block>
PGAS_FN void take_back([[maybe_unused]] block_table* table, const Block& block) {
  block.sync();  // after this sync, no thread copies through the ring
#if defined(PGAS_HAS_BULK_COPIES)
  if (block.thread_rank() == 0 && table != nullptr) {
    const std::uint64_t key = block_table::own_key();
    block_entry* const own = table->find(key);
    if (own != nullptr) {
      end_lending(*own);
      block_table::drop(own, key);
    }
  }
#endif
  block.sync();
}

#if defined(PGAS_HAS_BULK_COPIES)

/// Continues a wait for bytes that have not arrived within a millisecond.
PGAS_OUTLINE void await_late_stage(const context* ctx, std::uint32_t barrier, std::uint32_t parity) {
  await_mbarrier(checked_heap_of(*ctx), barrier, parity);
}

/// One thread's copy through lent memory. The struct is in the local memory of its thread, to save registers: a kernel
/// needs the registers of its largest call, even if the kernel lends no memory.
struct lent_copy {
  const context* ctx;
  std::byte* dst;
  const std::byte* src;
  std::size_t bytes;
  bulk_ring ring;
  std::size_t loaded;
  std::size_t stored;

  [[nodiscard]] PGAS_FN std::uint32_t piece(std::size_t at) const {
    return bytes - at < ring.stage_bytes ? static_cast<std::uint32_t>(bytes - at) : ring.stage_bytes;
  }
};

/// Waits for the bytes that a stage of the ring expects, and advances to the next phase of the stage.
PGAS_FN void await_lent_stage(lent_copy* job, std::uint32_t stage) {
  const std::uint32_t parity = job->ring.parities >> stage & 1;
  if (!mbarrier_try_wait(barrier_of(job->ring, stage), parity)) PGAS_UNLIKELY
    await_late_stage(job->ctx, barrier_of(job->ring, stage), parity);
  job->ring.parities ^= 1u << stage;
}

/// A copy between global memories through the stages. The loads are half a ring ahead of the stores.
PGAS_FN void copy_through_lent(lent_copy* job) {
  constexpr std::uint32_t ahead = bulk_ring::stages / 2;
  PGAS_ROLLED
  for (std::uint32_t step = 0; job->bytes > job->stored; ++step) {
    if (job->bytes > job->loaded) {
      bulk_stores_read<static_cast<int>(ahead) - 1>();  // all stores except the latest have read their stage
      load_stage(job->ring, step % bulk_ring::stages, job->src + job->loaded, job->piece(job->loaded));
      job->loaded += job->ring.stage_bytes;
    }
    if (step < ahead) continue;
    const std::uint32_t full = (step - ahead) % bulk_ring::stages;
    await_lent_stage(job, full);
    bulk_store(job->dst + job->stored, stage_of(job->ring, full), job->piece(job->stored));
    bulk_commit();
    job->stored += job->ring.stage_bytes;
  }
}

/// Copies from or to the block's shared memory, or through the stages.
PGAS_FN void copy_with_ring(lent_copy* job) {
  if (is_shared(job->src)) {
    bulk_store(job->dst, shared_address(job->src), static_cast<std::uint32_t>(job->bytes));
    bulk_commit();
  } else if (is_shared(job->dst)) {
    const std::uint32_t barrier = barrier_of(job->ring, 0);
    mbarrier_expect(barrier, static_cast<std::uint32_t>(job->bytes));
    bulk_load(shared_address(job->dst), job->src, static_cast<std::uint32_t>(job->bytes), barrier);
    await_lent_stage(job, 0);
  } else {
    copy_through_lent(job);
  }
  bulk_stores_made();
}

/// One thread's copy through the memory that its block has lent. @return False if the block has lent no memory, another
/// thread uses the memory, the copy is small, or an address or the size is not a multiple of 16. True if the copy is
/// complete.
PGAS_OUTLINE_IN_UNIT bool copy_by_lent_memory(const lending_context* by, std::byte* dst, const std::byte* src,
                                              std::size_t bytes) {
  constexpr std::size_t least = 512;
  const auto any = reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | bytes;
  if (bytes < least || (any & 15) != 0 || !in_reach(dst) || !in_reach(src)) return false;
  lent_copy in_memory{by, dst, src, bytes, {}, 0, 0};
  lent_copy* const job = opaque(&in_memory);
  const block_entry* const own = by->blocks->find(block_table::own_key());
  if (own == nullptr) return false;
  const std::uint32_t lent = lent_by_entry(*own);
  if (lent == lent_memory::none) return false;
  job->ring = {lent, bulk_ring::stage_bytes_of(load_shared<std::uint32_t>(lent + lent_memory::bytes_at)), 0};
  if (is_shared(job->src) ? is_shared(job->dst) : !is_shared(job->dst) && job->ring.stage_bytes == 0) return false;
  if (!try_lock_shared(lent + lent_memory::lock_at)) return false;
  fence_proxy_async();
  job->ring.parities = load_shared<std::uint32_t>(lent + lent_memory::parities_at);
  copy_with_ring(job);
  store_shared(job->ring.address + lent_memory::parities_at, job->ring.parities);
  unlock_shared(job->ring.address + lent_memory::lock_at);
  return true;
}

#endif

/// The copy of a thread, a warp or a block through the memory that the block has lent. @return False if no copy was
/// made. @param here a context that is part of a lending_context
template <class T, class G>
[[nodiscard]] PGAS_FN bool copy_by_lent([[maybe_unused]] const context& here, [[maybe_unused]] const G& g,
                                        [[maybe_unused]] T* dst, [[maybe_unused]] const T* src,
                                        [[maybe_unused]] std::size_t count) {
#if defined(PGAS_HAS_BULK_COPIES)
  if constexpr (single<G> || std::is_same_v<G, warp> || std::is_same_v<G, block>) {
    const bool done = g.thread_rank() == 0 &&
                      copy_by_lent_memory(static_cast<const lending_context*>(&here), reinterpret_cast<std::byte*>(dst),
                                          reinterpret_cast<const std::byte*>(src), count * sizeof(T));
    if constexpr (single<G>) {
      return done;
    } else {
      const bool all = g.any(done);
      g.sync();
      return all;
    }
  }
#endif
  return false;
}

}  // namespace pgas::detail
