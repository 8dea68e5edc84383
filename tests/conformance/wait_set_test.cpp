// Waits and tests on sets of words: every comparison, type, scope and form, compared with plain loops.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// The result of a plain loop over a set.
struct plain {
  std::size_t wanted = 0;
  std::size_t satisfied = 0;
};

template <class T>
PGAS_FN bool plainly(T seen, cmp op, T value) {
  if (op == cmp::eq) return seen == value;
  if (op == cmp::ne) return seen != value;
  if (op == cmp::gt) return seen > value;
  if (op == cmp::le) return seen <= value;
  return op == cmp::lt ? seen < value : seen >= value;
}

/// No PE writes. Tests report the current state, and satisfied waits return the same state.
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

  /// Whether `i` is the index of a word that satisfies the comparison. If there is no such word, whether `i` is
  /// no_index.
  PGAS_FN bool may_be_any(const context& ctx, std::size_t i, const plain& p, cmp op, const T* each, T value) const {
    if (p.satisfied == 0) return i == no_index;
    return i < count && !(with_status && status.at(ctx)[i] != 0) &&
           plainly(words.at(ctx)[i], op, each != nullptr ? each[i] : value);
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
    }
    const std::uint64_t at = (count * 10 + static_cast<std::uint64_t>(op)) * 100 + (vector ? 50 : 0);
    const bool all = p.satisfied == p.wanted;
    found.check(ctx, at,
                all == (vector ? test_all(ctx, g, w, count, s, op, v) : test_all(ctx, g, w, count, s, op, value)));
    const T* const each = vector ? v : nullptr;
    std::size_t any = vector ? test_any(ctx, g, w, count, s, op, v) : test_any(ctx, g, w, count, s, op, value);
    found.check(ctx, at + 1, may_be_any(ctx, any, p, op, each, value));
    list_is_right(
        ctx, g, at + 2,
        vector ? test_some(ctx, g, w, count, list, s, op, v) : test_some(ctx, g, w, count, list, s, op, value), p, op,
        each, value);
    if (all) vector ? wait_until_all(ctx, g, w, count, s, op, v) : wait_until_all(ctx, g, w, count, s, op, value);
    if (p.satisfied == 0 && p.wanted != 0) return;
    any = vector ? wait_until_any(ctx, g, w, count, s, op, v) : wait_until_any(ctx, g, w, count, s, op, value);
    found.check(ctx, at + 5, may_be_any(ctx, any, p, op, each, value));
    list_is_right(ctx, g, at + 6,
                  vector ? wait_until_some(ctx, g, w, count, list, s, op, v)
                         : wait_until_some(ctx, g, w, count, list, s, op, value),
                  p, op, each, value);
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

/// Values around zero and at the ends of the type. Many of them are equal.
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
        // Makes all words equal, or excludes them, so that the whole set satisfies the comparison.
        const std::uint32_t kind = mix(++seed) % 4;
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

/// No PE writes, and no word is excluded. Each call returns one of the words that satisfy the comparison. Repeated
/// calls must return all these words in the end, although each call is followed by a search of another set.
struct fair_body {
  sym<signal_t> words;   ///< 1, or 0 for every third word
  sym<signal_t> values;  ///< all 1
  sym<std::uint32_t> seen;
  findings found;
  std::size_t count;
  scope by;

  template <class Group>
  PGAS_FN std::size_t call(const context& ctx, const Group& g, std::uint32_t form) const {
    const signal_t* const w = words.at(ctx);
    const signal_t* const v = values.at(ctx);
    if (form == 0) return test_any(ctx, g, w, count, nullptr, cmp::eq, 1);
    if (form == 1) return test_any(ctx, g, w, count, nullptr, cmp::eq, v);
    if (form == 2) return wait_until_any(ctx, g, w, count, nullptr, cmp::eq, 1);
    return wait_until_any(ctx, g, w, count, nullptr, cmp::eq, v);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      std::uint32_t* const s = seen.at(ctx);
      for (std::uint32_t form = 0; form < 4; ++form) {
        g.sync();
        for (std::size_t i = g.thread_rank(); i < count; i += g.size()) s[i] = 0;
        g.sync();
        std::size_t left = count - count / 3;
        for (std::size_t calls = 0; calls < 50 * count && left != 0; ++calls) {
          const std::size_t i = call(ctx, g, form);
          const bool good = i < count && i % 3 != 2;
          found.check(ctx, 100 * count + form, good);
          const std::size_t other = test_any(ctx, g, words.at(ctx), 2, nullptr, cmp::ne, 0);
          found.check(ctx, 100 * count + 10 + form, other < 2);
          if (!good) break;
          if (s[i] == 0) --left;
          g.sync();
          if (g.thread_rank() == 0) s[i] = 1;
          g.sync();
        }
        found.equal(ctx, 100 * count + 20 + form, std::size_t{0}, left);
      }
    });
  }
};

TEST(wait_set, each_satisfied_word_is_returned_in_the_end) {
  constexpr std::size_t most = 100;
  pe_set pes(1);
  fair_body body{pes.allocate<signal_t>(most),
                 pes.allocate<signal_t>(most),
                 pes.allocate<std::uint32_t>(most),
                 make_findings(pes),
                 0,
                 scope::thread};
  std::vector<signal_t> words(most, 1);
  pes.write(0, body.values, words.data(), most);
  for (std::size_t i = 2; i < most; i += 3) words[i] = 0;
  pes.write(0, body.words, words.data(), most);
  for (const scope by : all_scopes) {
    for (const std::size_t count : sizes{2, 4, 8, 9, most}) {
      body.count = count;
      body.by = by;
      pes.run(blocks().back(), body);
    }
  }
  expect_nothing_found(pes, body.found);
}

}  // namespace
