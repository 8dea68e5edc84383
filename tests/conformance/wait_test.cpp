// Waits and tests on sets of words: every comparison, type, scope and form against plain loops, and words that arrive
// one by one in any order, each after the data that it stands for.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// What a plain loop finds in a set.
struct plain {
  std::size_t wanted = 0;
  std::size_t satisfied = 0;
  std::size_t first = no_index;
};

template <class T>
PGAS_FN bool plainly(T seen, cmp op, T value) {
  if (op == cmp::eq) return seen == value;
  if (op == cmp::ne) return seen != value;
  if (op == cmp::gt) return seen > value;
  if (op == cmp::le) return seen <= value;
  return op == cmp::lt ? seen < value : seen >= value;
}

/// Nobody writes: tests tell what is, and waits that are satisfied return it.
template <class T>
struct standing_body {
  sym<T> words;
  sym<T> values;
  sym<int> status;
  sym<std::size_t> indices;
  findings found;
  std::size_t count;
  bool with_status;
  scope by;

  template <class Group>
  PGAS_FN void list_is_right(const context& ctx, const Group& g, std::uint64_t where, std::size_t n, const plain& p,
                             cmp op, const T* each, T value) const {
    found.equal(ctx, where, p.satisfied, n);
    g.sync();
    const int* const s = with_status ? status.at(ctx) : nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count && g.thread_rank() == 0; ++i) {
      if ((s != nullptr && s[i] != 0) || !plainly(words.at(ctx)[i], op, each != nullptr ? each[i] : value)) continue;
      found.equal(ctx, where + 1, i, at < n ? indices.at(ctx)[at] : no_index);
      ++at;
    }
    g.sync();
  }

  template <class Group>
  PGAS_FN void one_comparison(const context& ctx, const Group& g, cmp op, bool vector) const {
    const T* const w = words.at(ctx);
    const T* const v = values.at(ctx);
    const int* const s = with_status ? status.at(ctx) : nullptr;
    std::size_t* const list = indices.at(ctx);
    const T value = v[0];
    plain p;
    for (std::size_t i = 0; i < count; ++i) {
      if (s != nullptr && s[i] != 0) continue;
      ++p.wanted;
      if (!plainly(w[i], op, vector ? v[i] : value)) continue;
      ++p.satisfied;
      if (p.first == no_index) p.first = i;
    }
    const std::uint64_t at = (count * 10 + static_cast<std::uint64_t>(op)) * 100 + (vector ? 50 : 0);
    const bool all = p.satisfied == p.wanted;
    found.check(ctx, at,
                all == (vector ? test_all(ctx, g, w, count, s, op, v) : test_all(ctx, g, w, count, s, op, value)));
    found.equal(ctx, at + 1, p.first,
                vector ? test_any(ctx, g, w, count, s, op, v) : test_any(ctx, g, w, count, s, op, value));
    list_is_right(
        ctx, g, at + 2,
        vector ? test_some(ctx, g, w, count, list, s, op, v) : test_some(ctx, g, w, count, list, s, op, value), p, op,
        vector ? v : nullptr, value);
    if (all) vector ? wait_until_all(ctx, g, w, count, s, op, v) : wait_until_all(ctx, g, w, count, s, op, value);
    if (p.satisfied == 0 && p.wanted != 0) return;
    found.equal(ctx, at + 5, p.first,
                vector ? wait_until_any(ctx, g, w, count, s, op, v) : wait_until_any(ctx, g, w, count, s, op, value));
    list_is_right(ctx, g, at + 6,
                  vector ? wait_until_some(ctx, g, w, count, list, s, op, v)
                         : wait_until_some(ctx, g, w, count, list, s, op, value),
                  p, op, vector ? v : nullptr, value);
    if (count == 0) return;
    const bool holds = plainly(w[0], op, value);
    found.check(ctx, at + 8, holds == test(ctx, g, w, op, value));
    if (holds) wait_until(ctx, g, w, op, value);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      PGAS_ROLLED
      for (int i = 0; i < 12; ++i) one_comparison(ctx, g, static_cast<cmp>(i / 2), i % 2 != 0);
    });
  }
};

/// Values around zero and at the ends of the type, many of them equal.
template <class T>
T sample(std::uint32_t r) {
  constexpr T values[] = {T(0),
                          T(1),
                          T(2),
                          static_cast<T>(-1),
                          static_cast<T>(T(1) << (sizeof(T) * 8 - 2)),
                          static_cast<T>(~(T(1) << (sizeof(T) * 8 - 2)))};
  return values[r % 6];
}

template <class T>
void standing_words_of() {
  constexpr std::size_t most = 200;
  for (const grid_shape& grid : blocks()) {
    pe_set pes(1);
    standing_body<T> body{pes.allocate<T>(most),
                          pes.allocate<T>(most),
                          pes.allocate<int>(most),
                          pes.allocate<std::size_t>(most),
                          make_findings(pes),
                          0,
                          false,
                          scope::thread};
    std::uint32_t seed = 0;
    for (const scope by : all_scopes) {
      for (const std::size_t count : sizes{0, 1, 5, 8, 9, 33, most}) {
        std::vector<T> words(most);
        std::vector<T> values(most);
        std::vector<int> status(most);
        const std::uint32_t kind = mix(++seed) % 4;  // all words alike, or none, is what makes all of a set hold
        for (std::uint32_t i = 0; i < most; ++i) {
          words[i] = sample<T>(kind == 0 ? 1 : mix(i, seed));
          values[i] = sample<T>(kind == 0 ? 1 + (seed & 1) : mix(i, seed, 1));
          status[i] = kind == 3 ? 1 : static_cast<int>(mix(i, seed, 2) % 3 == 0);
        }
        pes.write(0, body.words, words.data(), most);
        pes.write(0, body.values, values.data(), most);
        pes.write(0, body.status, status.data(), most);
        body.count = count;
        body.with_status = seed % 2 == 0;
        body.by = by;
        pes.run(grid, body);
      }
    }
    expect_nothing_found(pes, body.found);
  }
}

TEST(wait, standing_words_of_short) { standing_words_of<short>(); }
TEST(wait, standing_words_of_unsigned_int) { standing_words_of<unsigned int>(); }
TEST(wait, standing_words_of_long) { standing_words_of<long>(); }
TEST(wait, standing_words_of_unsigned_long_long) { standing_words_of<unsigned long long>(); }

/// Block 1 of each member sends words to the next member in a random order, each behind data of its own; block 0 waits
/// for those from the last member.
template <class T>
struct arriving_body {
  enum class way { all, any, some, one };

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
      const std::uint32_t i = (k * 7 + seed) % count;  // `count` is no multiple of 7
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
    } else if (how == way::one) {
      for (std::uint32_t i = 0; i < count; ++i) wait_until(ctx, g, w + i, cmp::ne, 0);
    } else {
      for (std::size_t left = count; left != 0;) {
        std::size_t n = 1;
        std::size_t one = 0;
        if (how == way::any) one = wait_until_any(ctx, g, w, count, s, cmp::eq, v);
        if (how == way::some) n = wait_until_some(ctx, g, w, count, indices.at(ctx), s, cmp::ne, 0);
        found.check(ctx, 1'000'000, n >= 1 && n <= left);
        for (std::size_t k = 0; k < n; ++k) {
          const std::size_t i = how == way::any ? one : indices.at(ctx)[k];
          found.check(ctx, 2'000'000 + i, i < count && s[i] == 0);
          data_is_there(ctx, static_cast<std::uint32_t>(i));
        }
        g.sync();
        if (g.thread_rank() == 0) {
          for (std::size_t k = 0; k < n; ++k) s[how == way::any ? one : indices.at(ctx)[k]] = 1;
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
    const context ctx = with_team(world, team);
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
      if (threads > 3 && grids().back().threads <= 4) continue;  // real threads are few
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
      for (const way how : {way::all, way::any, way::some, way::one}) {
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

/// A group gives up together, and the record names the first word that is missing and what it was compared with.
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

/// Sets that lie outside the heap.
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
