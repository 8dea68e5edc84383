/// @file
/// One reduction of any kind as a body, and the test that runs it. All tests of reductions use it.
#pragma once

#include "reduce_reference.hpp"

namespace pgas_test {

enum class reduction_kind { reduce, to_root, scatter, inclusive, exclusive };
inline constexpr reduction_kind all_reduction_kinds[] = {reduction_kind::reduce, reduction_kind::to_root,
                                                         reduction_kind::scatter, reduction_kind::inclusive,
                                                         reduction_kind::exclusive};

struct reduction_call {
  reduction_kind what;
  std::size_t count;
  std::int32_t root = 0;
  bool in_place = false;
  scope who = scope::block;
};

template <class Op, class T, class G>
PGAS_FN void call_reduction(const context& ctx, const G& g, const team_view& t, const reduction_call& call, T* to,
                            const T* from) {
  switch (call.what) {
    case reduction_kind::reduce: return reduce(ctx, g, t, to, from, call.count, Op{});
    case reduction_kind::to_root: return reduce_to_root(ctx, g, t, to, from, call.count, Op{}, call.root);
    case reduction_kind::scatter: return reduce_scatter(ctx, g, t, to, from, call.count, Op{});
    case reduction_kind::inclusive: return inclusive_scan(ctx, g, t, to, from, call.count, Op{});
    case reduction_kind::exclusive: return exclusive_scan(ctx, g, t, to, from, call.count, Op{});
  }
}

template <class Op, class T, bool AllScopes>
struct reduction_body {
  test_team team;
  sym<T> dst;
  sym<T> src;
  reduction_call call;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const team_view t = team.view(ctx);
    if (block.block_rank() != 0 || t.my_pe() < 0) return;
    T* to = dst.at(ctx);
    const T* from = src.at(ctx);
    if (call.in_place) {
      from = to;
      if (call.what == reduction_kind::scatter) to += static_cast<std::size_t>(t.my_pe()) * call.count;
    }
    if constexpr (AllScopes) {
      with_scope(call.who, block, [&](const auto& g) { call_reduction<Op>(ctx, g, t, call, to, from); });
    } else {
      call_reduction<Op>(ctx, block, t, call, to, from);
    }
  }
};

/// Runs one reduction on the PEs of `shape` and checks every element on every PE.
template <class Op, class T, bool AllScopes = false>
void try_reduction(const team_shape& shape, grid_shape grid, const reduction_call& call, std::size_t dst_shift = 0,
                   std::size_t src_shift = 0) {
  const std::size_t n = shape.members.size();
  const bool scatter = call.what == reduction_kind::scatter;
  const std::size_t elements = scatter ? n * call.count : call.count;  // elements of a source
  const std::size_t held = scatter && call.in_place ? elements : call.count;
  pe_set pes(shape.n_pes, {.heap_bytes = (std::size_t{1} << 20) + 2 * elements * sizeof(T)});
  const test_team team = make_team(pes, shape.members, shape.as_list);
  guarded<T> dst(pes, held, dst_shift);
  guarded<T> src(pes, elements, src_shift);
  std::vector<std::vector<T>> sources(n);
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t i = 0; i < elements; ++i)
      sources[m].push_back(random_number<T>(static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(i)));
    (call.in_place ? dst : src).write(shape.members[m], sources[m]);
  }
  pes.run(grid, reduction_body<Op, T, AllScopes>{team, dst.place(), src.place(), call});

  // Reductions combine elements domain by domain. Scans combine elements from the first member to the last.
  std::vector<std::size_t> order;
  const bool scans = call.what == reduction_kind::inclusive || call.what == reduction_kind::exclusive;
  const auto domain_of = [&](std::size_t m) { return scans ? 0 : shape.members[m] / pes.domain(); };
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t k = m; k < n; ++k) {
      if (domain_of(k) == domain_of(m) && std::find(order.begin(), order.end(), k) == order.end()) order.push_back(k);
    }
  }

  std::vector<T> first;  // the result of the first member, which must be the same on all members
  std::size_t wrong = 0;
  for (int pe = 0; pe < shape.n_pes; ++pe) {
    const auto member =
        static_cast<std::size_t>(std::find(shape.members.begin(), shape.members.end(), pe) - shape.members.begin());
    const std::vector<T> got = dst.read(pe);
    EXPECT_TRUE(dst.guards_hold(pe)) << shape.name << ", PE " << pe;
    const bool written =
        member < n && (call.what != reduction_kind::to_root || static_cast<std::int32_t>(member) == call.root);
    if (!written) {
      if (!call.in_place || member >= n) {
        EXPECT_TRUE(same_bits(got, guarded<T>::untouched(held))) << shape.name << ", PE " << pe;
      }
      continue;
    }
    const std::size_t skip = scatter ? member * call.count : 0;  // the offset in the sources
    const std::size_t at = scatter && call.in_place ? skip : 0;  // the offset in the destination
    std::size_t operands = n;
    if (call.what == reduction_kind::inclusive) operands = member + 1;
    if (call.what == reduction_kind::exclusive) operands = member;
    for (std::size_t i = 0; i < call.count; ++i) {
      std::vector<T> column;
      for (std::size_t m = 0; m < operands; ++m) column.push_back(sources[order[m]][skip + i]);
      const bool right =
          column.empty() ? is_neutral<Op, T>(got[at + i], sources[0][i]) : is_result<Op, T>(column, got[at + i]);
      if (!right) ++wrong;
    }
    if (call.what == reduction_kind::reduce) {
      if (first.empty()) first = got;
      EXPECT_TRUE(same_bits(first, got)) << shape.name << ", PE " << pe << " differs from the first member";
    }
  }
  EXPECT_EQ(wrong, 0u) << shape.name << ", kind " << static_cast<int>(call.what) << ", scope "
                       << static_cast<int>(call.who) << ", " << call.count << " of " << sizeof(T) << " bytes, shifts "
                       << dst_shift << " and " << src_shift << ", in place " << call.in_place;
}

/// All kinds of one operation on one type, with a few teams, counts and alignments.
template <class Op, class T>
void try_operation() {
  for (const team_shape& shape :
       {team_shape{"world of 2", 2, {0, 1}}, team_shape{"5 of 7 in any order", 7, {6, 0, 3, 2, 5}}}) {
    for (const reduction_kind what : all_reduction_kinds) {
      const std::size_t odd = 512 / sizeof(T) + 3;
      try_reduction<Op, T>(shape, blocks().back(), {what, odd, 1}, 0, 0);
      try_reduction<Op, T>(shape, blocks().front(), {what, odd, 0}, 1, 1);
      try_reduction<Op, T>(shape, blocks().back(), {what, 5, 1}, 1, 0);
      try_reduction<Op, T>(shape, blocks().back(), {what, odd, 1, true}, 1, 1);
    }
  }
}

}  // namespace pgas_test
