// Collectives that move data: every kind with every scope, different element sizes, counts, alignments and teams, with
// guards around the destinations. Also tests the errors that checks report.
#include "teams.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

enum class moving { broadcast, fcollect, collect, alltoall, alltoalls };
constexpr moving all_movings[] = {moving::broadcast, moving::fcollect, moving::collect, moving::alltoall,
                                  moving::alltoalls};

/// An element that is moved in three words.
struct triple {
  std::uint64_t w[3];
};

/// The number of elements of member `member` in a collect.
PGAS_HD constexpr std::size_t slice_of(std::size_t count, std::int32_t member) {
  return count == 0 ? 0 : mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(count)) % (count + 1);
}

struct call_of_move {
  moving what;
  scope who;
  std::size_t count;
  std::int32_t root;
  std::ptrdiff_t dst_stride;
  std::ptrdiff_t src_stride;
  bool in_place;
};

template <class T>
struct move_body {
  test_team team;
  sym<T> dst;
  sym<T> src;
  call_of_move call;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const team_view t = team.view(ctx);
    if (block.block_rank() != 0 || t.my_pe() < 0) return;
    const auto me = static_cast<std::size_t>(t.my_pe());
    std::size_t offset = me * call.count;
    if (call.what == moving::broadcast) offset = 0;
    if (call.what == moving::collect) {
      offset = 0;
      for (std::int32_t i = 0; i < t.my_pe(); ++i) offset += slice_of(call.count, i);
    }
    T* const to = dst.at(ctx);
    const T* const from = call.in_place ? to + offset : src.at(ctx);
    with_scope(call.who, block, [&](const auto& g) {
      switch (call.what) {
        case moving::broadcast: return broadcast(ctx, g, t, to, from, call.count, call.root);
        case moving::fcollect: return fcollect(ctx, g, t, to, from, call.count);
        case moving::collect: return collect(ctx, g, t, to, from, slice_of(call.count, t.my_pe()));
        case moving::alltoall: return alltoall(ctx, g, t, to, from, call.count);
        case moving::alltoalls: return alltoalls(ctx, g, t, to, from, call.dst_stride, call.src_stride, call.count);
      }
    });
  }
};

template <class T>
T random_element(int pe, std::size_t i) {
  T value;
  auto* const bytes = reinterpret_cast<unsigned char*>(&value);
  for (std::size_t b = 0; b < sizeof(T); ++b)
    bytes[b] = static_cast<unsigned char>(mix(static_cast<std::uint32_t>(pe), static_cast<std::uint32_t>(i * 32 + b)));
  return value;
}

/// Runs one call on the PEs of `shape` and compares every PE's destination with the expected data.
template <class T>
void try_move(const team_shape& shape, grid_shape grid, call_of_move call, std::size_t dst_shift,
              std::size_t src_shift) {
  const std::size_t n = shape.members.size();
  const bool strided = call.what == moving::alltoalls;
  const std::size_t dst_elements = call.what == moving::broadcast
                                       ? call.count
                                       : n * call.count * static_cast<std::size_t>(strided ? call.dst_stride : 1);
  const std::size_t src_elements = n * call.count * static_cast<std::size_t>(strided ? call.src_stride : 1);
  pe_set pes(shape.n_pes, {.heap_bytes = (std::size_t{1} << 20) + (dst_elements + src_elements) * sizeof(T)});
  const test_team team = make_team(pes, shape.members, shape.as_list);
  guarded<T> dst(pes, dst_elements, dst_shift);
  guarded<T> src(pes, src_elements, src_shift);

  const auto member_count = [&](std::size_t m) {
    return call.what == moving::collect ? slice_of(call.count, static_cast<std::int32_t>(m)) : call.count;
  };
  std::vector<std::vector<T>> sources(n);
  std::size_t place = 0;
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t i = 0; i < src_elements; ++i) sources[m].push_back(random_element<T>(shape.members[m], i));
    if (!call.in_place) {
      src.write(shape.members[m], sources[m]);
    } else if (call.what != moving::broadcast || static_cast<std::int32_t>(m) == call.root) {
      const std::size_t at = call.what == moving::broadcast ? 0 : place;
      pes.write(shape.members[m], dst.place() + at, sources[m].data(), member_count(m));
    }
    place += member_count(m);
  }
  pes.run(grid, move_body<T>{team, dst.place(), src.place(), call});

  for (int pe = 0; pe < shape.n_pes; ++pe) {
    std::vector<T> expected = guarded<T>::untouched(dst_elements);
    for (std::size_t me = 0; me < n; ++me) {
      if (shape.members[me] != pe) continue;
      std::size_t at = 0;
      for (std::size_t m = 0; m < n; ++m) {
        for (std::size_t i = 0; i < member_count(m); ++i) {
          if (call.what == moving::broadcast) {
            expected[i] = sources[static_cast<std::size_t>(call.root)][i];
          } else if (call.what == moving::alltoall) {
            expected[m * call.count + i] = sources[m][me * call.count + i];
          } else if (strided) {
            expected[(m * call.count + i) * static_cast<std::size_t>(call.dst_stride)] =
                sources[m][(me * call.count + i) * static_cast<std::size_t>(call.src_stride)];
          } else {
            expected[at + i] = sources[m][i];
          }
        }
        at += member_count(m);
      }
    }
    EXPECT_TRUE(same_bits(dst.read(pe), expected))
        << shape.name << ", PE " << pe << ", kind " << static_cast<int>(call.what) << ", scope "
        << static_cast<int>(call.who) << ", " << call.count << " of " << sizeof(T) << " bytes, shifts " << dst_shift
        << " and " << src_shift << ", in place " << call.in_place;
    EXPECT_TRUE(dst.guards_hold(pe)) << shape.name << ", PE " << pe;
  }
}

call_of_move make_call(moving what, scope who, std::size_t count, std::int32_t root = 0) {
  return {what, who, count, root, 1, 1, false};
}

TEST(collective, every_team_and_scope) {
  for (const team_shape& shape : team_shapes()) {
    for (const moving what : all_movings) {
      for (const scope who : all_scopes) {
        const auto root = static_cast<std::int32_t>(shape.members.size() / 2);
        try_move<std::uint32_t>(shape, blocks().back(), make_call(what, who, 37, root), 1, 2);
      }
    }
  }
}

TEST(collective, every_count) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const moving what : all_movings) {
      for (const std::size_t count : sizes{0, 1, 2, 31, 1024, 4099}) {
        for (const grid_shape& grid : blocks())
          try_move<std::uint8_t>(shape, grid, make_call(what, scope::block, count, 1), count % 3, 5);
        try_move<triple>(shape, blocks().back(), make_call(what, scope::block, count), 0, 1);
      }
    }
  }
}

TEST(collective, a_mebibyte_and_3) {
  for (const moving what : all_movings) {
    try_move<std::uint8_t>({"3 in reverse order", 3, {2, 1, 0}}, blocks().back(),
                           make_call(what, scope::block, (std::size_t{1} << 20) + 3, 2), 0, 0);
  }
}

TEST(collective, teams_across_domains) {
  for (const team_shape& shape :
       {team_shape{"world of 5", 5, {0, 1, 2, 3, 4}}, {"interleaved", 6, {4, 0, 5, 2, 1, 3}}}) {
    for (const moving what : all_movings) {
      for (const std::int32_t root : {0, 3})
        try_move<std::uint8_t>(shape, blocks().back(), make_call(what, scope::block, 20'003, root), 3, 1);
    }
  }
}

TEST(collective, every_alignment) {
  for (const moving what : all_movings) {
    for (std::size_t shift = 0; shift < 16; ++shift)
      try_move<std::uint8_t>(few_team_shapes()[0], blocks().back(), make_call(what, scope::block, 100, 1), shift,
                             shift * 7 % 16);
  }
}

TEST(collective, in_place) {
  for (const team_shape& shape : team_shapes()) {
    for (const moving what : {moving::broadcast, moving::fcollect, moving::collect}) {
      call_of_move call = make_call(what, scope::block, 501);
      call.in_place = true;
      try_move<std::uint32_t>(shape, blocks().back(), call, 0, 0);
    }
  }
}

TEST(collective, strides) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const std::ptrdiff_t dst_stride : {1, 2, 5}) {
      for (const std::ptrdiff_t src_stride : {1, 3}) {
        call_of_move call = make_call(moving::alltoalls, scope::block, 77);
        call.dst_stride = dst_stride;
        call.src_stride = src_stride;
        try_move<std::uint8_t>(shape, blocks().back(), call, 3, 0);
        try_move<triple>(shape, blocks().back(), call, 0, 0);
        call.who = scope::thread;
        try_move<std::uint32_t>(shape, blocks().front(), call, 0, 1);
      }
    }
  }
}

TEST(collective, every_root) {
  for (std::int32_t root = 0; root < 4; ++root) {
    try_move<std::uint32_t>({"4 in reverse order", 4, {3, 2, 1, 0}}, blocks().back(),
                            make_call(moving::broadcast, scope::warp, 9, root), 0, 0);
  }
}

/// The root's source is outside the root's heap where that is possible. The other members have no source.
struct broadcast_from_elsewhere_body {
  test_team team;
  sym<std::uint8_t> dst;
  sym<std::uint8_t> src;
  std::size_t count;
  bool in_place;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const team_view t = team.view(ctx);
    const std::uint8_t* from = nullptr;
    if (t.my_pe() == 0) {
      from = in_place ? dst.at(ctx) : src.at(ctx);
      if (!in_place && ctx.is_direct(1)) from = ctx.world_remote(from, 1);
    }
    broadcast(ctx, block, t, dst.at(ctx), from, count, 0);
  }
};

TEST(collective, large_broadcasts_read_the_roots_source_only) {
  const std::size_t count = 200'003;
  std::vector<std::uint8_t> data;
  for (std::size_t i = 0; i < count; ++i) data.push_back(random_element<std::uint8_t>(0, i));
  for (const bool in_place : {false, true}) {
    pe_set pes(3, {.heap_bytes = std::size_t{2} << 20});
    const test_team team = make_team(pes, {0, 1, 2}, false);
    const sym<std::uint8_t> dst = pes.allocate<std::uint8_t>(count);
    const sym<std::uint8_t> src = pes.allocate<std::uint8_t>(count);
    if (in_place) pes.write(0, dst, data.data(), count);
    for (const int pe : {0, 1}) pes.write(pe, src, data.data(), count);
    pes.run(blocks().back(), broadcast_from_elsewhere_body{team, dst, src, count, in_place});
    for (int pe = 0; pe < 3; ++pe) {
      std::vector<std::uint8_t> found(count);
      pes.read(pe, dst, found.data(), count);
      EXPECT_EQ(found, data) << "PE " << pe << ", in place " << in_place;
    }
  }
}

}  // namespace
