// Copies of every kind with every scope, with different element types, counts, alignments, strides and teams, and
// guards around the destinations; single values of every size; threads of a warp that copy separately; and calls with
// wrong arguments.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

enum class kind { put, get, put_signal, iput, iget, ibput, ibget };

struct copy_call {
  kind what;
  bool nbi;
  scope by;
  std::size_t count;
  std::ptrdiff_t dst_stride;
  std::ptrdiff_t src_stride;
  std::size_t block_size;

  [[nodiscard]] bool gets() const { return what == kind::get || what == kind::iget || what == kind::ibget; }
  [[nodiscard]] bool strided() const { return what > kind::put_signal; }
  [[nodiscard]] bool blocked() const { return what == kind::ibput || what == kind::ibget; }
};

/// Each member puts to the next member, or gets from it.
template <class T>
struct copy_body {
  test_team team;
  sym<T> dst;
  sym<T> src;
  sym<signal_t> sig;
  copy_call c;

  template <class Group>
  PGAS_FN void by_group(const context& ctx, const Group& g) const {
    const std::int32_t pe = next_member(ctx);
    T* const to = dst.at(ctx);
    const T* const from = src.at(ctx);
    switch (c.what) {
      case kind::put: return c.nbi ? put_nbi(ctx, g, to, from, c.count, pe) : put(ctx, g, to, from, c.count, pe);
      case kind::get: return c.nbi ? get_nbi(ctx, g, to, from, c.count, pe) : get(ctx, g, to, from, c.count, pe);
      case kind::put_signal:
        return c.nbi ? put_signal_nbi(ctx, g, to, from, c.count, sig.at(ctx), 5, signal_op::set, pe)
                     : put_signal(ctx, g, to, from, c.count, sig.at(ctx), 5, signal_op::add, pe);
      case kind::iput:
        return c.nbi ? iput_nbi(ctx, g, to, from, c.dst_stride, c.src_stride, c.count, pe)
                     : iput(ctx, g, to, from, c.dst_stride, c.src_stride, c.count, pe);
      case kind::iget:
        return c.nbi ? iget_nbi(ctx, g, to, from, c.dst_stride, c.src_stride, c.count, pe)
                     : iget(ctx, g, to, from, c.dst_stride, c.src_stride, c.count, pe);
      case kind::ibput:
        return c.nbi ? ibput_nbi(ctx, g, to, from, c.dst_stride, c.src_stride, c.block_size, c.count, pe)
                     : ibput(ctx, g, to, from, c.dst_stride, c.src_stride, c.block_size, c.count, pe);
      case kind::ibget:
        return c.nbi ? ibget_nbi(ctx, g, to, from, c.dst_stride, c.src_stride, c.block_size, c.count, pe)
                     : ibget(ctx, g, to, from, c.dst_stride, c.src_stride, c.block_size, c.count, pe);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.block_rank() != 0) return;
    with_scope(c.by, block, [&](const auto& g) { by_group(ctx, g); });
  }
};

/// The data that PE `pe` should have, computed element by element without the library.
template <class T>
std::vector<T> copied(const copy_call& c, std::size_t elements, std::size_t dst_first, std::size_t src_first,
                      const std::vector<T>& source) {
  std::vector<T> expected = guarded<T>::untouched(elements);
  const std::ptrdiff_t dst_stride = c.strided() ? c.dst_stride : 1;
  const std::ptrdiff_t src_stride = c.strided() ? c.src_stride : 1;
  for (std::size_t i = 0; i < c.count; ++i) {
    for (std::size_t j = 0; j < (c.blocked() ? c.block_size : 1); ++j) {
      const auto step = static_cast<std::ptrdiff_t>(i);
      expected[dst_first + static_cast<std::size_t>(step * dst_stride) + j] =
          source[src_first + static_cast<std::size_t>(step * src_stride) + j];
    }
  }
  return expected;
}

/// The number of elements that a side spans, and the index of its first element.
struct extent {
  std::size_t elements;
  std::size_t first;
};
extent extent_of(const copy_call& c, std::ptrdiff_t stride) {
  if (c.count == 0) return {1, 0};
  if (!c.strided()) return {c.count, 0};
  const std::size_t reach = (c.count - 1) * static_cast<std::size_t>(stride < 0 ? -stride : stride);
  return {reach + (c.blocked() ? c.block_size : 1), stride < 0 ? reach : 0};
}

template <class T>
void try_copy(pe_set& pes, const test_team& team, const team_shape& shape, grid_shape grid, const copy_call& c,
              std::size_t dst_shift, std::size_t src_shift) {
  const extent to = extent_of(c, c.dst_stride);
  const extent from = extent_of(c, c.src_stride);
  guarded<T> dst(pes, to.elements, dst_shift);
  guarded<T> src(pes, from.elements, src_shift);
  const auto sig = pes.allocate<signal_t>(1);
  std::vector<std::vector<T>> data;
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    data.push_back(random_elements<T>(pe, from.elements));
    src.write(pe, data.back());
  }
  pes.run(grid, copy_body<T>{team, dst.place() + to.first, src.place() + from.first, sig, c});
  const auto n = static_cast<int>(shape.members.size());
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    std::vector<T> expected = guarded<T>::untouched(to.elements);
    for (int i = 0; i < n; ++i) {
      if (shape.members[static_cast<std::size_t>(i)] != pe) continue;
      const int source = shape.members[static_cast<std::size_t>(c.gets() ? (i + 1) % n : (i + n - 1) % n)];
      expected = copied(c, to.elements, to.first, from.first, data[static_cast<std::size_t>(source)]);
      signal_t seen = 0;
      pes.read(pe, sig, &seen, 1);
      EXPECT_EQ(seen, c.what == kind::put_signal ? 5u : 0u);
    }
    ASSERT_TRUE(same_bits(dst.read(pe), expected) && dst.guards_hold(pe) && src.guards_hold(pe))
        << "kind " << static_cast<int>(c.what) << (c.nbi ? "_nbi" : "") << ", scope " << static_cast<int>(c.by) << ", "
        << c.count << " of " << sizeof(T) << " bytes, strides " << c.dst_stride << " and " << c.src_stride << ", block "
        << c.block_size << ", shifts " << dst_shift << " and " << src_shift << ", PE " << pe << ", " << shape.name
        << ", " << grid.threads << " threads";
  }
}

constexpr kind all_kinds[] = {kind::put, kind::get, kind::put_signal, kind::iput, kind::iget, kind::ibput, kind::ibget};

/// All kinds and scopes with one type. Each combination of the other parameters occurs with some kinds and scopes.
template <class T>
void copies_of() {
  const std::vector<team_shape> shapes = team_shapes();
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    pe_set pes(shapes[s].n_pes, {.heap_bytes = std::size_t{32} << 20});
    const test_team team = make_team(pes, shapes[s].members, shapes[s].as_list);
    std::uint32_t turn = 0;
    for (const grid_shape& grid : blocks()) {
      for (const kind what : all_kinds) {
        for (const scope by : all_scopes) {
          for (const std::size_t count : sizes{0, 1, 17, 333, 1025}) {
            if (++turn % shapes.size() != s) continue;
            const std::uint32_t r = mix(turn, sizeof(T));
            copy_call c{what, r % 2 != 0, by, count, 1, 1, 1};
            if (c.blocked()) {
              c.block_size = sizes{1, 2, 5, 100}.begin()[r / 2 % 4];
              c.count = (count + c.block_size - 1) / c.block_size;
            }
            const auto least = static_cast<std::ptrdiff_t>(c.block_size);
            c.dst_stride = (r / 8 % 2 == 0 ? 1 : -1) * (least + static_cast<std::ptrdiff_t>(r / 16 % 3));
            c.src_stride = (r / 64 % 2 == 0 ? 1 : -1) * (least + static_cast<std::ptrdiff_t>(r / 128 % 3));
            const std::size_t shifts[] = {0, r / 1024 % 7};
            ASSERT_NO_FATAL_FAILURE(try_copy<T>(pes, team, shapes[s], grid, c, shifts[r / 512 % 2], r / 8192 % 5));
          }
        }
      }
    }
  }
}

TEST(rma, copies_of_1_byte) { copies_of<unsigned char>(); }
TEST(rma, copies_of_3_bytes) { copies_of<packet<3, 1>>(); }
TEST(rma, copies_of_12_bytes) { copies_of<packet<12, 4>>(); }
TEST(rma, copies_of_8_bytes) { copies_of<std::uint64_t>(); }
TEST(rma, copies_of_16_bytes) { copies_of<packet<16, 16>>(); }

TEST(rma, copies_of_pages_and_a_mebibyte_and_3) {
  const team_shape shape{"3 of 4 in any order", 4, {2, 3, 0}};
  for (const kind what : all_kinds) {
    pe_set pes(shape.n_pes, {.heap_bytes = std::size_t{32} << 20});
    const test_team team = make_team(pes, shape.members);
    for (const std::size_t bytes : sizes{4096, (std::size_t{1} << 20) + 3}) {
      copy_call c{what, false, scope::block, bytes, 2, 3, 1};
      if (c.blocked()) c = {what, false, scope::block, bytes / 4096, 4099, 4100, 4096};
      ASSERT_NO_FATAL_FAILURE(try_copy<unsigned char>(pes, team, shape, blocks().back(), c, 3, 3));
      ASSERT_NO_FATAL_FAILURE(try_copy<unsigned char>(pes, team, shape, blocks().back(), c, 0, 5));
    }
  }
}

/// p and g with values of one type. Every thread has a cell on the next member.
template <class T>
PGAS_OUTLINE void exchange_value(context ctx, std::byte* place, std::uint32_t rank, findings found) {
  T* const cell = reinterpret_cast<T*>(place) + rank;
  T value;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    reinterpret_cast<unsigned char*>(&value)[i] =
        static_cast<unsigned char>(mix(rank, static_cast<std::uint32_t>(ctx.my_pe()), static_cast<std::uint32_t>(i)));
  p(ctx, cell, value, next_member(ctx));
  quiet(ctx);
  found.check(ctx, sizeof(T) * 100 + alignof(T), same_bytes(g(ctx, cell, next_member(ctx)), value));
}

/// Every size from 1 to 16 with the smallest alignment, and larger alignments with some sizes.
struct values_body {
  static constexpr std::size_t room = 16 * 1024;

  test_team team;
  sym<std::byte> cells;
  findings found;

  template <std::size_t Alignment, std::size_t... Bytes>
  PGAS_FN void exchange_all(const context& ctx, std::uint32_t rank, std::size_t first,
                            std::index_sequence<Bytes...>) const {
    std::size_t which = first;
    (exchange_value<packet<(Bytes + 1) * Alignment, Alignment>>(ctx, cells.at(ctx) + which++ * room, rank, found), ...);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    const std::uint32_t rank = global_rank(block);
    exchange_all<1>(ctx, rank, 0, std::make_index_sequence<16>{});
    exchange_all<2>(ctx, rank, 16, std::make_index_sequence<8>{});
    exchange_all<4>(ctx, rank, 24, std::make_index_sequence<4>{});
    exchange_all<8>(ctx, rank, 28, std::make_index_sequence<2>{});
    exchange_all<16>(ctx, rank, 30, std::make_index_sequence<1>{});
  }
};

TEST(rma, values_of_every_size) {
  for (const team_shape& shape : team_shapes()) {
    pe_set pes(shape.n_pes);
    const values_body body{make_team(pes, shape.members, shape.as_list),
                           pes.allocate<std::byte>(31 * values_body::room), make_findings(pes)};
    for (const grid_shape& grid : grids()) pes.run(grid, body);
    expect_nothing_found(pes, body.found);
  }
}

/// Every thread makes a separate copy with another size and alignment. Some threads copy from their stacks, and some do
/// not copy. The lanes of a warp run in any order.
struct everyone_alone {
  static constexpr std::size_t cell = 2048;
  static constexpr std::size_t most = 1900;

  test_team team;
  sym<char> dst;
  sym<char> src;
  std::uint32_t seed;
  bool get_it;

  struct request {
    std::size_t bytes;
    std::size_t to;
    std::size_t from;
    bool from_stack;
  };
  /// With every fourth seed, all threads copy the same number of bytes with good alignment.
  PGAS_HD static request request_of(std::uint32_t thread, std::uint32_t seed) {
    const std::uint32_t r = mix(thread, seed);
    const std::size_t place = thread * cell;
    if (seed % 4 == 0) return {64 + seed * 16, place, place, false};
    const std::size_t bytes = r % 8 == 0 ? 0 : r % 8 == 1 ? r / 8 % 64 : 64 + r / 8 % (r % 8 < 5 ? 200 : most - 64);
    const std::size_t to = place + r / 64 % 16;
    const bool same = r / 1024 % 4 != 0;  // with different alignments, the data has to be shifted
    return {bytes, to, same ? to : place + r / 4096 % 16, r / 65536 % 16 == 0 && bytes < 128};
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    const std::uint32_t thread = global_rank(block);
    const request r = request_of(thread, seed);
    if (seed % 4 == 3 && mix(thread, seed, 1) % 3 == 0) return;
    const std::int32_t pe = next_member(ctx);
    char* const to = dst.at(ctx) + r.to;
    const char* const from = src.at(ctx) + r.from;
    if (r.from_stack) {
      char mine[128];
      if (get_it) {
        get(ctx, mine, from, r.bytes, pe);
        for (std::size_t i = 0; i < r.bytes; ++i) to[i] = mine[i];
      } else {
        for (std::size_t i = 0; i < r.bytes; ++i) mine[i] = from[i];
        put(ctx, to, mine, r.bytes, pe);
        for (char& c : mine) c = 0;
      }
    } else if (get_it) {
      get_nbi(ctx, to, from, r.bytes, pe);
    } else if (mix(thread, seed, 2) % 2 == 0) {
      put(ctx, to, from, r.bytes, pe);
    } else {
      put_nbi(ctx, to, from, r.bytes, pe);
    }
  }
};

TEST(rma, each_thread_copies_alone) {
  for (const grid_shape& grid : grids()) {
    const team_shape shape{"3 of 4 in any order", 4, {2, 3, 0}};
    const std::uint32_t threads = grid.blocks * grid.threads;
    const std::size_t total = threads * everyone_alone::cell;
    pe_set pes(4, {.heap_bytes = 2 * total + (std::size_t{1} << 20)});
    const test_team team = make_team(pes, shape.members);
    const auto dst = pes.allocate<char>(total);
    const auto src = pes.allocate<char>(total);
    std::vector<std::vector<char>> data;
    for (int pe = 0; pe < 4; ++pe) {
      data.push_back(random_elements<char>(pe, total));
      pes.write(pe, src, data.back().data(), total);
    }
    for (std::uint32_t seed = 0; seed < 16; ++seed) {
      const bool get_it = seed / 4 % 2 != 0;
      for (int pe = 0; pe < 4; ++pe) pes.fill(pe, dst, 0x5a, total);
      pes.run(grid, everyone_alone{team, dst, src, seed, get_it});
      for (int i = 0; i < 3; ++i) {
        const auto& source =
            data[static_cast<std::size_t>(shape.members[static_cast<std::size_t>((i + (get_it ? 1 : 2)) % 3)])];
        std::vector<char> expected(total, 0x5a);
        for (std::uint32_t t = 0; t < threads; ++t) {
          if (seed % 4 == 3 && mix(t, seed, 1) % 3 == 0) continue;
          const everyone_alone::request r = everyone_alone::request_of(t, seed);
          std::memcpy(expected.data() + r.to, source.data() + r.from, r.bytes);
        }
        std::vector<char> seen(total);
        pes.read(shape.members[static_cast<std::size_t>(i)], dst, seen.data(), total);
        ASSERT_TRUE(seen == expected) << "seed " << seed << ", member " << i << ", " << grid.threads << " threads";
      }
    }
  }
}

/// One strided call of PE 0 with one error.
struct bad_copy {
  sym<std::uint64_t> good;
  std::uint64_t end;
  int fault;  // 0: no error
  bool get_it;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    std::uint64_t local[8] = {};
    auto* at = good.at(ctx);
    std::int32_t pe = 1;
    std::ptrdiff_t stride = 2;
    std::size_t count = 4;
    std::size_t size = 1;
    if (fault == 1) pe = 2;
    if (fault == 2) pe = -1;
    // the last element lies beyond the heap
    if (fault == 3) at = reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + end) - 6;
    if (fault == 4) stride = -static_cast<std::ptrdiff_t>(end / 8);  // elements lie before the heap
    if (fault == 5) at = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(at) + 4);  // misaligned
    if (fault == 6) count = ~std::size_t{0};
    if (fault == 7) size = ~std::size_t{0} / 2;
    if (fault == 8) stride = std::ptrdiff_t{1} << 62;
    if (get_it) {
      ibget(ctx, local, at, 1, stride, size, count, pe);
    } else {
      ibput(ctx, at, local, stride, 1, size, count, pe);
    }
  }
};

TEST(rma, checks_catch_bad_strides) {
  for (const bool get_it : {false, true}) {
    for (int fault = 0; fault <= 8; ++fault) {
      SCOPED_TRACE(testing::Message() << "fault " << fault << (get_it ? ", get" : ", put"));
      pe_options options{.checks = true};
      pe_set pes(2, options);
      const bad_copy body{pes.allocate<std::uint64_t>(8), options.heap_bytes, fault, get_it};
      if (fault == 0) {
        pes.run({1, 2}, body);
        continue;
      }
      const detail::failure why = fault <= 2   ? detail::failure::pe_out_of_range
                                  : fault == 5 ? detail::failure::misaligned
                                               : detail::failure::outside_heap;
      expect_caught(pes, body, get_it ? detail::operation::iget : detail::operation::iput, why);
    }
  }
}

}  // namespace
