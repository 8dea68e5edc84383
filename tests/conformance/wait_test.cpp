// Waits for words that arrive one by one in any order, each after its data; waits that are never satisfied; wrong sets.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Block 1 of each member sends words to the next member in a random order, each after its data. Block 0 waits for the
/// words from the previous member.
template <class T>
struct arriving_body {
  enum class way { all, any, some, single };

  test_team team;
  sym<T> words;
  sym<std::uint64_t> data;
  sym<T> values;
  sym<int> status;
  sym<std::size_t> indices;
  findings found;
  std::uint32_t count;
  std::uint32_t seed;
  way how;
  scope by;

  PGAS_HD static T value(std::uint32_t i) { return static_cast<T>(mix(i) % 1000 + 1); }
  PGAS_FN std::uint64_t content(std::int32_t from, std::uint32_t i) const {
    return mix64(static_cast<std::uint32_t>(from), i, seed);
  }

  template <class Group>
  PGAS_FN void send(const context& ctx, const Group& g) const {
    const auto size = static_cast<std::uint32_t>(g.size());
    for (std::uint32_t k = static_cast<std::uint32_t>(g.thread_rank()); k < count; k += size) {
      const std::uint32_t i = (k * 7 + seed) % count;  // `count` is not a multiple of 7
      p(ctx, data.at(ctx) + i, content(ctx.my_pe(), i), next_member(ctx));
      fence(ctx);
      p(ctx, words.at(ctx) + i, value(i), next_member(ctx));
    }
  }

  PGAS_FN void data_is_there(const context& ctx, std::uint32_t i) const {
    found.equal(ctx, i, content(last_member(ctx), i), data.at(ctx)[i]);
  }

  template <class Group>
  PGAS_FN void wait(const context& ctx, const Group& g) const {
    const T* const w = words.at(ctx);
    const T* const v = values.at(ctx);
    int* const s = status.at(ctx);
    if (how == way::all) {
      wait_until_all(ctx, g, w, count, nullptr, cmp::eq, v);
    } else if (how == way::single) {
      for (std::uint32_t i = 0; i < count; ++i) wait_until(ctx, g, w + i, cmp::ne, 0);
    } else {
      for (std::size_t left = count; left != 0;) {
        std::size_t n = 1;
        std::size_t size = 0;
        if (how == way::any) size = wait_until_any(ctx, g, w, count, s, cmp::eq, v);
        if (how == way::some) n = wait_until_some(ctx, g, w, count, indices.at(ctx), s, cmp::ne, 0);
        found.check(ctx, 1'000'000, n >= 1 && n <= left);
        for (std::size_t k = 0; k < n; ++k) {
          const std::size_t i = how == way::any ? size : indices.at(ctx)[k];
          found.check(ctx, 2'000'000 + i, i < count && s[i] == 0);
          data_is_there(ctx, static_cast<std::uint32_t>(i));
        }
        g.sync();
        if (g.thread_rank() == 0) {
          for (std::size_t k = 0; k < n; ++k) s[how == way::any ? size : indices.at(ctx)[k]] = 1;
        }
        g.sync();
        left -= n;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) data_is_there(ctx, i);
    found.check(ctx, 3'000'000, test_all(ctx, g, w, count, nullptr, cmp::eq, v));
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    if (block.block_rank() == 1) {
      send(ctx, block);
    } else {
      with_scope(by, block, [&](const auto& g) { wait(ctx, g); });
    }
  }
};

template <class T>
void arriving_words_of() {
  using body_type = arriving_body<T>;
  using way = typename body_type::way;
  constexpr std::uint32_t most = 100;
  std::uint32_t seed = 0;
  for (const team_shape& shape : team_shapes()) {
    for (const unsigned threads : {1u, 3u, 64u}) {
      if (threads > 3 && grids().back().threads <= 4) continue;  // the CPU runs only few threads
      pe_set pes(shape.n_pes);
      body_type body{make_team(pes, shape.members, shape.as_list),
                     pes.allocate<T>(most),
                     pes.allocate<std::uint64_t>(most),
                     pes.allocate<T>(most),
                     pes.allocate<int>(most),
                     pes.allocate<std::size_t>(most),
                     make_findings(pes),
                     0,
                     0,
                     way::all,
                     scope::thread};
      std::vector<T> values(most);
      for (std::uint32_t i = 0; i < most; ++i) values[i] = body_type::value(i);
      for (const way how : {way::all, way::any, way::some, way::single}) {
        for (const scope by : all_scopes) {
          body.count = sizes{1, 8, 40, most}.begin()[++seed % 4] & 0xffffffffu;
          body.seed = seed;
          body.how = how;
          body.by = by;
          for (int pe = 0; pe < shape.n_pes; ++pe) {
            pes.fill(pe, body.words, 0, most);
            pes.fill(pe, body.data, 0, most);
            pes.fill(pe, body.status, 0, most);
            pes.write(pe, body.values, values.data(), most);
          }
          pes.run({2, threads}, body);
        }
      }
      expect_nothing_found(pes, body.found);
    }
  }
}

TEST(wait, arriving_words_of_unsigned_short) { arriving_words_of<unsigned short>(); }
TEST(wait, arriving_words_of_int) { arriving_words_of<int>(); }

/// The waits of all threads of a group fail together, and the record contains the first missing word and its
/// comparison.
struct lonely_group {
  sym<int> words;
  sym<int> values;
  sym<std::size_t> indices;
  sym<std::uint32_t> survivors;
  int way;
  scope by;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      const int* const v = values.at(ctx);
      if (way == 0) wait_until_all(ctx, g, words.at(ctx), 20, nullptr, cmp::eq, v);
      if (way == 1) wait_until_any(ctx, g, words.at(ctx) + 10, 10, nullptr, cmp::eq, v + 10);
      if (way == 2) wait_until_some(ctx, g, words.at(ctx) + 10, 10, indices.at(ctx), nullptr, cmp::eq, v + 10);
      atomic_inc(ctx, survivors.at(ctx), ctx.my_pe());
    });
  }
};

TEST(wait, groups_give_up_together) {
  for (const bool by_abort : {false, true}) {
    for (int way = 0; way < 3; ++way) {
      for (const scope by : all_scopes) {
        pe_set pes(2, {.timeout = std::chrono::milliseconds(by_abort ? 60'000 : 60)});
        const lonely_group body{pes.allocate<int>(20),
                                pes.allocate<int>(20),
                                pes.allocate<std::size_t>(20),
                                pes.allocate<std::uint32_t>(1),
                                way,
                                by};
        std::vector<int> values(20);
        for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)] = i < 10 ? 0 : i;  // the words are 0
        pes.write(0, body.values, values.data(), 20);
        const std::vector<bool> gave_up = pes.run_out({1, 4}, body, [&] {
          if (!by_abort) return;
          std::this_thread::sleep_for(std::chrono::milliseconds(40));
          pes.abort(2);
        });
        ASSERT_TRUE(gave_up[0]);
        const detail::failure_record& r = pes.control(0).record;
        EXPECT_EQ(r.what, detail::operation::wait);
        if (way != 0) {
          EXPECT_EQ(r.why, by_abort ? detail::failure::aborted : detail::failure::timed_out);
          EXPECT_EQ(r.expected, 10u);
        }
        EXPECT_EQ(r.expected, (r.heap_offset - body.words.offset) / 4);
        EXPECT_GE(r.expected, 10u);
        EXPECT_EQ(r.seen, 0u);
        std::uint32_t survivors = 99;
        pes.read(0, body.survivors, &survivors, 1);
        EXPECT_EQ(survivors, 0u);
      }
    }
  }
}

/// Sets that are outside the heap.
struct bad_set {
  sym<std::uint64_t> good;
  std::uint64_t end;
  int fault;
  int which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    auto at = reinterpret_cast<std::uintptr_t>(good.at(ctx));
    std::size_t count = 4;
    if (fault == 1) at = ctx.my_slot_ + end - 8;
    if (fault == 2) at = ctx.my_slot_ - 64;
    if (fault == 3) at += 4;
    if (fault == 4) count = ~std::size_t{0} / 8;
    const auto* const w = reinterpret_cast<const std::uint64_t*>(at);
    const std::uint64_t values[4] = {};
    std::size_t indices[4];
    if (which == 0) wait_until_all(ctx, w, count, nullptr, cmp::eq, values);
    if (which == 1) wait_until_any(ctx, w, count, nullptr, cmp::eq, values);
    if (which == 2) wait_until_some(ctx, w, count, indices, nullptr, cmp::eq, values);
    if (which == 3) static_cast<void>(test_all(ctx, w, count, nullptr, cmp::eq, values));
    if (which == 4) static_cast<void>(test_any(ctx, w, count, nullptr, cmp::eq, values));
    if (which == 5) test_some(ctx, w, count, indices, nullptr, cmp::eq, values);
  }
};

TEST(wait, checks_catch_bad_sets) {
  for (int which = 0; which < 6; ++which) {
    for (int fault = 0; fault <= 4; ++fault) {
      SCOPED_TRACE(testing::Message() << "operation " << which << ", fault " << fault);
      pe_options options{.checks = true};
      pe_set pes(2, options);
      const bad_set body{pes.allocate<std::uint64_t>(4), options.heap_bytes, fault, which};
      if (fault == 0) {
        pes.run({1, 2}, body);
      } else {
        expect_caught(pes, body, detail::operation::wait,
                      fault == 3 ? detail::failure::misaligned : detail::failure::outside_heap);
      }
    }
  }
}

}  // namespace
