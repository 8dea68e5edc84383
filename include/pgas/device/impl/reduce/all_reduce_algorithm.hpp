/// @file
/// The choice of the algorithm for an all-reduce: one table for reduce() in kernels, from the host and on streams. The
/// algorithms have the same names in the literature and in NCCL's src/device/symmetric/all_reduce.cuh.
///
/// The first row that applies is used. The choice depends only on team, size and caller, so every member makes the same
/// choice:
///
/// | algorithm | size | team | route | caller | barriers | header |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | LL one-shot | to 32 KiB / n_pes (host: 8 KiB) | 2 PEs and more | direct | channel 0, host | 0 | ll_reduce |
/// | LL one-shot by blocks | to 256 KiB / n_pes | staged, to 64 PEs | direct | host | 0 | ll_reduce |
/// | one-shot | to 2 MiB / n_pes rounded up to 2^k | staged, to 64 PEs | direct | host | 1 | oneshot_reduce |
/// | hierarchical | from 16 KiB | several domains, one of 2 PEs | direct, proxied | any | 4 | hierarchical_reduce |
/// | two-shot | any | any | direct, proxied (staged) | any | 2 | twoshot_reduce, proxied_reduce |
///
/// "staged" teams are the world, the domain, and teams that were created with staging memory (team_config), if all
/// members are direct. "host" is a kernel of up to 32 blocks that the host enqueues, on GPU heaps. With fewer blocks,
/// the range of the second row ends earlier. LL one-shot accepts only element types without padding. Every algorithm
/// combines the operands of an element in the same order (reduce.hpp, *Order*).
#pragma once

#include "pgas/device/impl/hierarchy/hierarchical_reduce.hpp"
#include "pgas/device/impl/ll/ll_reduce.hpp"
#include "pgas/device/impl/reduce/oneshot_reduce.hpp"
#include "pgas/device/impl/reduce/twoshot_reduce.hpp"

namespace pgas::detail {

/// The table at the top of this file as code: one test for each row.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void all_reduce(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count,
                        const Op& op) {
  if constexpr (ll_reducible<T>) {
    if (fits_ll(ctx, team, ll_units(count * sizeof(T)))) return ll_reduce(ctx, g, team, dst, src, count, op);
  }
  if constexpr (has_lockstep_blocks<G>) {
    const partition blocks = block_partition(src, count, g.part().num_blocks());
    if constexpr (ll_reducible<T>) {
      if (fits_block_packets<T>(ctx, team, blocks)) return ll_reduce_by_blocks(ctx, g, team, dst, src, blocks, op);
    }
    if (fits_oneshot(team, src, blocks)) return oneshot_reduce(ctx, g, team, dst, src, blocks, op);
  }
  if (fits_hierarchy(ctx, team, count * sizeof(T))) PGAS_UNLIKELY {
    const domain_call call = domain_call_of(ctx, team, dst, src, count);
    return hierarchical_reduce<T>(&call, g, op);
  }
  twoshot_reduce<reduce_result::whole>(ctx, g, team, dst, src, count, op, 0, team.n_pes(), operation::reduce);
}

}  // namespace pgas::detail
