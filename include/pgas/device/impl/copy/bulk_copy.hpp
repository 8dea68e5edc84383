/// @file
/// The pipeline of a bulk_copier (`device/bulk.hpp`): TMA loads fill a ring of stages in shared memory, and TMA stores
/// empty the ring. The loads run ahead of the stores (software pipelining). One thread starts all copies and waits only
/// for the stages that it needs. No data passes through registers.
#pragma once

#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/detail/isa/ptx_copy.hpp"
#include "pgas/detail/isa/ptx_mbarrier.hpp"
#include "pgas/device/impl/copy/copy.hpp"
#include "pgas/device/impl/sync/mbarrier_wait.hpp"

namespace pgas::detail {

/// The shared memory of a bulk_copier: one barrier for each stage, then the stages.
struct bulk_ring {
  static constexpr std::uint32_t stages = 8;
  static constexpr std::uint32_t header_bytes = 128;
  static constexpr std::uint32_t least_stage = 256;
  /// The size of a stage if the memory has `bytes` bytes; 0 if the memory is too small to be useful.
  [[nodiscard]] PGAS_HD static constexpr std::uint32_t stage_bytes_of(std::size_t bytes) {
    const std::size_t each = bytes < header_bytes ? 0 : (bytes - header_bytes) / stages / 128 * 128;
    return each < least_stage ? 0 : static_cast<std::uint32_t>(each);
  }

  std::uint32_t address = 0;  ///< shared-window address of the first barrier
  std::uint32_t stage_bytes = 0;
  std::uint32_t parities = 0;  ///< bit i: parity of the phase that the next load of stage i completes
};

#if defined(PGAS_HAS_BULK_COPIES)

/// A range of bytes to copy. Both addresses and the size are multiples of 16.
struct bulk_job {
  std::byte* dst;
  const std::byte* src;
  std::size_t bytes;

  [[nodiscard]] PGAS_FN std::uint32_t piece(std::uint32_t stage_bytes, std::size_t at) const {
    return bytes - at < stage_bytes ? static_cast<std::uint32_t>(bytes - at) : stage_bytes;
  }
};

[[nodiscard]] PGAS_FN std::uint32_t barrier_of(const bulk_ring& ring, std::uint32_t stage) {
  return ring.address + stage * 8;
}
[[nodiscard]] PGAS_FN std::uint32_t stage_of(const bulk_ring& ring, std::uint32_t stage) {
  return ring.address + bulk_ring::header_bytes + stage * ring.stage_bytes;
}
/// Starts the load of one stage.
PGAS_FN void load_stage(const bulk_ring& ring, std::uint32_t stage, const void* from, std::uint32_t bytes) {
  mbarrier_expect(barrier_of(ring, stage), bytes);
  bulk_load(stage_of(ring, stage), from, bytes, barrier_of(ring, stage));
}

/// Waits for the bytes that a barrier expects, and advances to the barrier's next phase.
PGAS_FN void await_stage(const checked_heap& heap, bulk_ring& ring, std::uint32_t stage) {
  await_mbarrier(heap, barrier_of(ring, stage), ring.parities >> stage & 1);
  ring.parities ^= 1u << stage;
}

/// A copy between global memories. Returns when the copy is complete. Half of the ring is stored while the other half
/// is loaded.
PGAS_OUTLINE_IN_UNIT void copy_through(checked_heap heap, bulk_ring* through, bulk_job job) {
  constexpr std::uint32_t stages = bulk_ring::stages;
  constexpr std::uint32_t half = stages / 2;
  bulk_ring ring = *through;
  std::size_t loaded = 0;
  for (std::uint32_t i = 0; i < stages && loaded < job.bytes; ++i) {
    const std::uint32_t piece = job.piece(ring.stage_bytes, loaded);
    load_stage(ring, i, job.src + loaded, piece);
    loaded += piece;
  }
  std::uint32_t stage = 0;
  std::uint32_t stored = 0;  // number of stores, counted up to `half`; each later step also loads a piece
  for (std::size_t at = 0; at < job.bytes; at += ring.stage_bytes) {
    await_stage(heap, ring, stage);
    bulk_store(job.dst + at, stage_of(ring, stage), job.piece(ring.stage_bytes, at));
    bulk_commit();
    if (stored == half && loaded < job.bytes) {
      bulk_stores_read<half>();
      const std::uint32_t piece = job.piece(ring.stage_bytes, loaded);
      load_stage(ring, (stage + half) % stages, job.src + loaded, piece);
      loaded += piece;
    }
    stored += stored == half ? 0 : 1;
    stage = (stage + 1) % stages;
  }
  bulk_stores_made();
  through->parities = ring.parities;
}

/// A copy from or to the block's shared memory.
PGAS_FN void copy_shared(const checked_heap& heap, bulk_ring* through, bulk_job job, bool from_shared) {
  if (from_shared) {
    bulk_store(job.dst, shared_address(job.src), static_cast<std::uint32_t>(job.bytes));
    bulk_commit();
    bulk_stores_made();
    return;
  }
  mbarrier_expect(barrier_of(*through, 0), static_cast<std::uint32_t>(job.bytes));
  bulk_load(shared_address(job.dst), job.src, static_cast<std::uint32_t>(job.bytes), barrier_of(*through, 0));
  await_stage(heap, *through, 0);
}

/// Whether the copy unit can access `p`: global memory or the shared memory of this block.
[[nodiscard]] PGAS_FN bool in_reach(const void* p) { return is_global(p) || is_shared(p); }

/// Whether the copy unit can make the copy, and the copy is large enough. copy_bulk() checks the other conditions.
[[nodiscard]] PGAS_FN bool worth_bulk(const bulk_ring& ring, const void* dst, const void* src, std::size_t bytes) {
  constexpr std::size_t least = 512;
  const auto apart = reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src);
  return bytes >= least && ring.stage_bytes != 0 && (apart & 15) == 0 && in_reach(dst) && in_reach(src);
}

#endif

/// One thread's copy through a ring. Returns when the source has been read. On return, the stores of the copy unit are
/// complete, and the stores of the thread are issued.
template <direction Direction, class T>
PGAS_FN void copy_by_ring([[maybe_unused]] const context& ctx, [[maybe_unused]] bulk_ring* ring, T* dst, const T* src,
                          std::size_t count) {
#if defined(PGAS_HAS_BULK_COPIES)
  auto* const to = reinterpret_cast<std::byte*>(dst);
  const auto* const from = reinterpret_cast<const std::byte*>(src);
  const std::size_t bytes = count * sizeof(T);
  if (worth_bulk(*ring, to, from, bytes)) {
    fence_proxy_async();
    bulk_job job{to, from, bytes};
    if constexpr (unit_of<T> < 16) {
      const auto head = static_cast<std::uint32_t>((0 - reinterpret_cast<std::uintptr_t>(to)) & 15);
      const std::uint32_t tail = static_cast<std::uint32_t>(bytes - head) & 15;
      job = {to + head, from + head, bytes - head - tail};
      copy_ends<Direction, unit_of<T>>(to, from, bytes, head, tail, slice{0, 1});
    }
    const checked_heap heap = checked_heap_of(ctx);
    if (is_shared(to) || is_shared(from)) return copy_shared(heap, ring, job, is_shared(from));
    return copy_through(heap, ring, job);
  }
#endif
  copy<Direction>(this_thread{}, dst, src, count);
}

}  // namespace pgas::detail
