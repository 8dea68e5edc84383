/// @file
/// The one-shot all-reduce of kernels that the host enqueues. Every member stores its elements in all members' staging
/// memory; after one barrier, each member reduces the elements in its own staging memory, in the order of the members.
/// Used by `all_reduce_algorithm.hpp`.
///
/// NCCL calls the algorithm "AGxLL" (src/device/symmetric/all_reduce.cuh). NCCL uses LL packets, and this header uses
/// plain stores and a barrier.
///
/// Each block works independently, on its own elements, in its own staging memory with two halves. A block has a
/// barrier with the blocks of the same index on all members (block_barrier()). The block switches to the other half at
/// each barrier, so no operand is overwritten before it is reduced. A block stores to a half only after all members
/// have passed the barrier that follows the last read of the half.
#pragma once

#include "pgas/device/impl/reduce/lockstep_blocks.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// The distance of `p` from the preceding 16-byte boundary, in bytes.
[[nodiscard]] PGAS_FN std::size_t offset_in_word(const void* p) { return reinterpret_cast<std::uintptr_t>(p) & 15; }

/// Whether a reduction by a grid of lockstep blocks fits into the staging memory. The result is the same on all
/// members.
template <class T>
[[nodiscard]] PGAS_FN bool fits_oneshot(const team_view& team, const T* src, const partition& all) {
  if (!has_oneshot_staging(team) || all.count == 0) return false;
  return all.each * sizeof(T) + offset_in_word(src) <= std::size_t{1} << log2_oneshot_bytes(team.n_pes());
}

/// One block's stores and reduction.
struct oneshot_job {
  const std::byte* src;
  std::byte* dst;
  std::size_t bytes;
  std::byte* staging;  ///< member 0's part, by its address on this PE
  peer_map peers;
  std::int32_t members;
  std::int32_t me;
  std::uint32_t log2;
  /// whether the elements are whole 16-byte words. In this case only, this PE reads its own operands from the source.
  /// In all other cases, this PE reads its own operands from the staging memory
  bool words;

  /// A member's part of the staging memory.
  [[nodiscard]] PGAS_FN std::byte* staging_of(std::int32_t member) const {
    return staging + (static_cast<std::size_t>(member) << log2);
  }
};
/// Whether the elements consist of whole 16-byte words.
template <class T>
[[nodiscard]] PGAS_FN bool whole_words(const T* dst, const T* src, std::size_t count) {
  return 16 % sizeof(T) == 0 && offset_in_word(dst) == 0 && offset_in_word(src) == 0 && count * sizeof(T) % 16 == 0;
}

/// One thread's share of the stores. Each word is loaded once and stored at all members. In the staging memory, the
/// elements have the same offset from a 16-byte boundary as in the source.
PGAS_OUTLINE_IN_UNIT void oneshot_store(oneshot_job job, slice thread) {
  constexpr std::uint32_t batch = 2;  // limited by the registers of a thread in a block of 512 threads, for two members
  if (!job.words) {
    for (std::int32_t k = 1; k <= job.members; ++k)
      put_congruent(job.peers.at(job.staging_of(job.me), member_behind(job.me, k, job.members)), job.src, job.bytes,
                    thread);
    return;
  }
  const std::uint32_t hop = thread.size * 16;
  for (std::size_t at = thread.rank * 16; at < job.bytes; at += batch * hop) {
    vec16 word[batch] = {};
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      if (at + i * hop < job.bytes) word[i] = load16<space::any>(job.src + (at + i * hop));
    }
    for (std::int32_t k = 1; k < job.members; ++k) {
      std::byte* const remote = job.peers.at(job.staging_of(job.me), member_behind(job.me, k, job.members)) + at;
      PGAS_UNROLL
      for (std::uint32_t i = 0; i < batch; ++i) {
        if (at + i * hop < job.bytes) store16<space::heap>(remote + i * hop, word[i]);
      }
    }
  }
}

/// One thread's share of the reduction of whole words, several members at the same time.
template <class T, class Op>
PGAS_OUTLINE void oneshot_reduce_words(Op op, oneshot_job job, slice thread) {
  using A = accumulator_of<Op, T>;
  using access = word_access<T>;
  constexpr std::int32_t batch = 4;
  constexpr std::uint32_t depth = 2;
  const std::uint32_t hop = thread.size * 16;
  for (std::size_t at = thread.rank * 16; at < job.bytes; at += depth * hop) {
    lanes<A, access::width> sum[depth]{};
    for (std::int32_t base = 0; base < job.members; base += batch) {
      vec16 in[batch][depth]{};
      PGAS_UNROLL
      for (std::int32_t b = 0; b < batch; ++b) {
        if (base + b >= job.members) break;
        const std::byte* const from = base + b == job.me ? job.src : job.staging_of(base + b);
        PGAS_UNROLL
        for (std::uint32_t d = 0; d < depth; ++d) {
          if (at + d * hop < job.bytes) in[b][d] = access::load(from + (at + d * hop));
        }
      }
      PGAS_UNROLL
      for (std::int32_t b = 0; b < batch; ++b) {
        if (base + b >= job.members) break;
        PGAS_UNROLL
        for (std::uint32_t d = 0; d < depth; ++d) reduce_lanes<access, T>(op, sum[d], in[b][d], base + b == 0);
      }
    }
    PGAS_UNROLL
    for (std::uint32_t d = 0; d < depth; ++d) {
      if (at + d * hop < job.bytes) access::store(job.dst + (at + d * hop), reduced<access, T>(sum[d]));
    }
  }
}

/// An all-reduce for which fits_oneshot() holds. @param all block_partition()
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void oneshot_reduce(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            const partition& all, const Op& op) {
  const auto block = g.part();
  const auto which = static_cast<std::int32_t>(block.block_rank());
  const team_view own = team.of_block(block.block_rank());
  const std::uint64_t turn = load_relaxed(&member_state(ctx, own, other_member(own, 0))->waited) & 1;
  const std::size_t begin = all.start(which);
  const std::size_t n = all.start(which + 1) - begin;
  const oneshot_job job{reinterpret_cast<const std::byte*>(src + begin),
                        reinterpret_cast<std::byte*>(dst + begin),
                        n * sizeof(T),
                        reinterpret_cast<std::byte*>(ctx.my_slot_ + team.staging_offset_) +
                            (static_cast<std::uint32_t>(which) * 2 + turn) * oneshot_staging::block_bytes +
                            offset_in_word(src + begin),
                        direct_peer_map(ctx, team),
                        team.n_pes(),
                        team.my_pe(),
                        log2_oneshot_bytes(team.n_pes()),
                        whole_words(dst + begin, src + begin, n)};
  oneshot_store(job, slice_of(block));
  block_barrier(ctx, block, team, operation::reduce);
  if constexpr (16 % sizeof(T) == 0) {
    if (job.words) return oneshot_reduce_words<T>(op, job, slice_of(block));
  }
  reduce_elements<reduce_result::whole, T>(
      op, reduce_job{job.staging, job.dst, n, {nullptr, 0, 1, job.log2}, job.members, 0, 1}, slice_of(block));
}

}  // namespace pgas::detail
