// Lists of copies. The tests use every scope, arrays of blocks, pages with indices of both widths, any sizes and
// alignments, and more and fewer blocks than threads. Lists with a wrong block are tested too.
#include "pgas/device/list.hpp"

#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

enum class how { put, get, put_signal, copy };        // copy: within the memory of this PE
enum class form { blocks, pages, wide_pages, rows };  // rows: pages without indices

/// The blocks of one list. Each block has a cell of the destination and a cell of the source.
struct list_shape {
  how what;
  form as;
  bool nbi;
  scope by;
  std::uint32_t count;
  std::uint32_t most;  ///< bytes of the largest block
  std::uint32_t seed;

  [[nodiscard]] PGAS_HD std::uint32_t cell() const { return most + 32; }
  /// The cells of block i. The destination and the source have the blocks in different orders.
  [[nodiscard]] PGAS_HD std::uint32_t to_cell(std::uint32_t i) const {
    return as == form::rows ? i : (count - 1 - i + seed % count) % count;
  }
  [[nodiscard]] PGAS_HD std::uint32_t from_cell(std::uint32_t i) const {
    return as == form::rows ? i : (i + seed / 7 % count) % count;
  }
  [[nodiscard]] PGAS_HD std::uint32_t bytes(std::uint32_t i) const {
    if (as != form::blocks) return most;
    const std::uint32_t r = mix(i, seed);
    return r % 8 == 0 ? 0 : r % 8 == 1 ? most : r % 8 < 5 ? r / 8 % (most + 1) & ~15u : r / 8 % (most + 1);
  }
  /// Where the block begins in its cell.
  [[nodiscard]] PGAS_HD std::uint32_t to_shift(std::uint32_t i) const {
    return as == form::blocks && mix(i, seed, 1) % 2 != 0 ? mix(i, seed, 2) % 17 : seed % 3 == 0 ? 0 : seed % 16;
  }
  [[nodiscard]] PGAS_HD std::uint32_t from_shift(std::uint32_t i) const {
    return as == form::blocks && mix(i, seed, 3) % 2 != 0 ? mix(i, seed, 4) % 17 : seed % 3 != 2 ? 0 : seed / 16 % 16;
  }
};

/// Each member puts to the next member, or gets from it.
struct list_body {
  test_team team;
  sym<std::byte> dst;
  sym<std::byte> src;
  sym<copy_block> blocks;
  sym<std::int64_t> indices;  // the indices of the destination, followed by the indices of the source
  sym<signal_t> sig;
  list_shape c;

  template <class Index>
  PGAS_FN copy_list pages(const context& ctx) const {
    auto* const index = reinterpret_cast<Index*>(indices.at(ctx));
    const bool listed = c.as != form::rows;
    return {page_side<void, Index>{dst.at(ctx) + c.to_shift(0), c.cell(), listed ? index : nullptr},
            page_side<const void, Index>{src.at(ctx) + c.from_shift(0), c.cell(), listed ? index + c.count : nullptr},
            c.most, c.count};
  }
  template <class Index>
  PGAS_FN void write_indices(const context& ctx, std::uint32_t rank, std::uint32_t size) const {
    auto* const index = reinterpret_cast<Index*>(indices.at(ctx));
    for (std::uint32_t i = rank; i < c.count; i += size) {
      index[i] = static_cast<Index>(c.to_cell(i));
      index[c.count + i] = static_cast<Index>(c.from_cell(i));
    }
  }

  template <class Group>
  PGAS_FN void by_group(const context& ctx, const Group& g) const {
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    if (c.as == form::wide_pages) write_indices<std::int64_t>(ctx, rank, size);
    if (c.as == form::pages) write_indices<std::int32_t>(ctx, rank, size);
    for (std::uint32_t i = rank; c.as == form::blocks && i < c.count; i += size) {
      blocks.at(ctx)[i] = {dst.at(ctx) + c.to_cell(i) * c.cell() + c.to_shift(i),
                           src.at(ctx) + c.from_cell(i) * c.cell() + c.from_shift(i), c.bytes(i)};
    }
    g.sync();
    const copy_list list = c.as == form::blocks  ? copy_list{blocks.at(ctx), c.count}
                           : c.as == form::pages ? pages<std::int32_t>(ctx)
                                                 : pages<std::int64_t>(ctx);
    const std::int32_t pe = next_member(ctx);
    switch (c.what) {
      case how::put: return c.nbi ? put_list_nbi(ctx, g, list, pe) : put_list(ctx, g, list, pe);
      case how::get: return c.nbi ? get_list_nbi(ctx, g, list, pe) : get_list(ctx, g, list, pe);
      case how::put_signal: return put_list_signal(ctx, g, list, sig.at(ctx), 5, signal_op::set, pe);
      case how::copy: return copy_blocks(g, list);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.block_rank() != 0) return;
    with_scope(c.by, block, [&](const auto& g) { by_group(ctx, g); });
    if (c.what != how::put_signal || block.thread_rank() != 0) return;
    wait_until(ctx, sig.at(ctx), cmp::ge, 5);
  }
};

void try_list(pe_set& pes, const test_team& team, const team_shape& shape, grid_shape grid, const list_shape& c) {
  const std::size_t total = std::size_t{c.count} * c.cell() + 16;
  guarded<std::byte> dst(pes, total, 0);
  guarded<std::byte> src(pes, total, 0);
  const auto blocks = pes.allocate<copy_block>(c.count);
  const auto indices = pes.allocate<std::int64_t>(2 * std::size_t{c.count});
  const auto sig = pes.allocate<signal_t>(1);
  std::vector<std::vector<std::byte>> data;
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    data.push_back(random_elements<std::byte>(pe, total));
    src.write(pe, data.back());
  }
  pes.run(grid, list_body{team, dst.place(), src.place(), blocks, indices, sig, c});
  const auto n = static_cast<int>(shape.members.size());
  for (int i = 0; i < n; ++i) {
    const int pe = shape.members[static_cast<std::size_t>(i)];
    const int distance = c.what == how::copy ? 0 : c.what == how::get ? 1 : n - 1;
    const int from = shape.members[static_cast<std::size_t>((i + distance) % n)];
    std::vector<std::byte> expected = guarded<std::byte>::untouched(total);
    for (std::uint32_t k = 0; k < c.count; ++k) {
      std::memcpy(
          expected.data() + c.to_cell(k) * std::size_t{c.cell()} + c.to_shift(k),
          data[static_cast<std::size_t>(from)].data() + c.from_cell(k) * std::size_t{c.cell()} + c.from_shift(k),
          c.bytes(k));
    }
    ASSERT_TRUE(same_bits(dst.read(pe), expected) && dst.guards_hold(pe) && src.guards_hold(pe))
        << "call " << static_cast<int>(c.what) << (c.nbi ? "_nbi" : "") << ", form " << static_cast<int>(c.as)
        << ", scope " << static_cast<int>(c.by) << ", " << c.count << " blocks of up to " << c.most << " bytes, seed "
        << c.seed << ", PE " << pe << ", " << shape.name << ", " << grid.threads << " threads";
  }
}

TEST(list, every_form_and_scope) {
  const std::vector<team_shape> shapes = team_shapes();
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    pe_set pes(shapes[s].n_pes, {.heap_bytes = std::size_t{32} << 20});
    const test_team team = make_team(pes, shapes[s].members, shapes[s].as_list);
    std::uint32_t turn = 0;
    for (const grid_shape& grid : blocks()) {
      for (const how what : {how::put, how::get, how::put_signal, how::copy}) {
        for (const form as : {form::blocks, form::pages, form::wide_pages, form::rows}) {
          for (const scope by : all_scopes) {
            for (const std::uint32_t count : {1u, 2u, 7u, 97u}) {
              if (++turn % shapes.size() != s) continue;
              const std::uint32_t r = mix(turn, 77);
              const std::uint32_t most = count > 7 ? 700 : r % 4 == 0 ? 9000 : r % 4 == 1 ? 48 : 2048;
              const list_shape c{what, as, what != how::put_signal && r / 4 % 2 != 0, by, count, most, r / 8 % 1000};
              ASSERT_NO_FATAL_FAILURE(try_list(pes, team, shapes[s], grid, c));
            }
          }
        }
      }
    }
  }
}

TEST(list, a_block_of_no_bytes_copies_nothing) {
  pe_set pes(2);
  const team_shape shape{"both", 2, {0, 1}};
  const test_team team = make_team(pes, shape.members);
  for (const how what : {how::put, how::get}) {
    list_shape c{what, form::blocks, false, scope::block, 1, 0, 0};
    ASSERT_NO_FATAL_FAILURE(try_list(pes, team, shape, blocks().back(), c));
  }
}

/// When a wait for the signal ends, the blocks have been copied.
struct signalled_body {
  static constexpr std::uint32_t count = 40;
  static constexpr std::uint32_t words = 200;

  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<signal_t> sig;
  std::uint32_t rounds;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const std::int32_t next = next_member(ctx);
    std::uint32_t* const in = inbox.at(ctx);
    std::uint32_t* const out = outbox.at(ctx);
    const auto size = static_cast<std::uint32_t>(block.size());
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::uint32_t i = rank; i < count * words; i += size) out[i] = round * 1000003 + i;
      const copy_list list{page_side<void, std::int32_t>{in, words * 4},
                           page_side<const void, std::int32_t>{out, words * 4}, words * 4, count};
      put_list_signal(ctx, block, list, sig.at(ctx), round, signal_op::set, next);
      wait_until(ctx, block, sig.at(ctx), cmp::ge, round);
      for (std::uint32_t i = rank; i < count * words; i += size) found.equal(ctx, i, round * 1000003 + i, in[i]);
      barrier(ctx, block, ctx.team());
    }
  }
};

TEST(list, a_signal_follows_the_last_block) {
  pe_set pes(4, {.heap_bytes = std::size_t{4} << 20});
  const signalled_body body{pes.allocate<std::uint32_t>(signalled_body::count * signalled_body::words),
                            pes.allocate<std::uint32_t>(signalled_body::count * signalled_body::words),
                            pes.allocate<signal_t>(1), static_cast<std::uint32_t>(pgas_test::rounds(200)),
                            make_findings(pes)};
  pes.run(blocks().back(), body);
  expect_nothing_found(pes, body.found);
}

/// PE 0 copies a list whose last block is wrong.
struct wrong_list {
  sym<copy_block> blocks;
  sym<std::byte> memory;
  bool get_it;
  bool wrong_pe;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.block_rank() != 0) return;
    std::byte* const beyond = memory.at(ctx) + (std::size_t{1} << 40);
    if (block.thread_rank() == 0) {
      for (int i = 0; i < 9; ++i) blocks.at(ctx)[i] = {memory.at(ctx) + i * 8, memory.at(ctx) + 128 + i * 8, 8};
      if (!wrong_pe && get_it) blocks.at(ctx)[8].from = beyond;
      if (!wrong_pe && !get_it) blocks.at(ctx)[8].to = beyond;
    }
    block.sync();
    const std::int32_t pe = wrong_pe ? ctx.n_pes() : 1;
    if (get_it) {
      get_list(ctx, block, {blocks.at(ctx), 9}, pe);
    } else {
      put_list(ctx, block, {blocks.at(ctx), 9}, pe);
    }
  }
};

TEST(list, checks_find_a_wrong_block) {
  for (const bool get_it : {false, true}) {
    for (const bool wrong_pe : {false, true}) {
      pe_set pes(2, {.checks = true});
      const wrong_list body{pes.allocate<copy_block>(9), pes.allocate<std::byte>(256), get_it, wrong_pe};
      expect_caught(pes, body, get_it ? detail::operation::get : detail::operation::put,
                    wrong_pe ? detail::failure::pe_out_of_range : detail::failure::outside_heap);
    }
  }
}

}  // namespace
