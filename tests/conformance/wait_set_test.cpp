// Waits and tests on sets of words: every comparison, type, scope and form against plain loops.
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

TEST(wait_set, standing_words_of_short) { standing_words_of<short>(); }
TEST(wait_set, standing_words_of_unsigned_int) { standing_words_of<unsigned int>(); }
TEST(wait_set, standing_words_of_long) { standing_words_of<long>(); }
TEST(wait_set, standing_words_of_unsigned_long_long) { standing_words_of<unsigned long long>(); }

}  // namespace
