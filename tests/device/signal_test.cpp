// Signals and waits: data is visible when its signal is visible. Tests each comparison with each type, and the all, any
// and some families.
#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Passes a growing message around the ring. Each round sends data that depends on the PE, followed by a signal.
struct ring {
  sym<std::uint32_t> inbox;  // two halves, used alternately
  sym<std::uint32_t> outbox;
  sym<std::uint64_t> signals;  // a signal for data that has arrived, and a signal for data that the right neighbour has
                               // consumed
  findings found;
  std::uint32_t n_rounds;
  scope by;
  signal_op op;
  bool nbi;

  static constexpr std::uint32_t half = 4096;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    const std::int32_t left = (ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes();
    std::uint64_t* const arrived = signals.at(ctx);
    std::uint64_t* const consumed = signals.at(ctx) + 1;
    with_scope(by, block, [&](const auto& group) {
      const auto rank = static_cast<std::uint32_t>(group.thread_rank());
      const auto size = static_cast<std::uint32_t>(group.size());
      for (std::uint32_t round = 1; round <= n_rounds; ++round) {
        const std::uint32_t count = mix(round) % half;
        std::uint32_t* const to = inbox.at(ctx) + round % 2 * half;
        if (round > 2) wait_until(ctx, group, consumed, cmp::ge, round - 2);  // waits until this half is consumed
        for (std::uint32_t i = rank; i < count; i += size) {
          outbox.at(ctx)[i] = mix(i, round, static_cast<std::uint32_t>(ctx.my_pe()));
        }
        group.sync();
        const std::uint64_t value = op == signal_op::set ? round : 1;
        if (nbi) {
          put_signal_nbi(ctx, group, to, outbox.at(ctx), count, arrived, value, op, right);
          quiet(ctx, group);  // completes the puts before the source is reused
        } else {
          put_signal(ctx, group, to, outbox.at(ctx), count, arrived, value, op, right);
        }
        wait_until(ctx, group, arrived, cmp::ge, round);
        for (std::uint32_t i = rank; i < count; i += size) {
          found.equal(ctx, round, mix(i, round, static_cast<std::uint32_t>(left)), to[i]);
        }
        group.sync();
        if (rank == 0) {
          fence(ctx);
          if (op == signal_op::set) {
            signal_set(ctx, consumed, round, left);
          } else {
            signal_add(ctx, consumed, 1, left);
          }
        }
      }
      found.equal(ctx, 1'000'000, std::uint64_t{n_rounds}, signal_fetch(ctx, arrived));
    });
  }
};

TEST(signal, data_is_there_when_its_signal_is) {
  for (int n : {1, 2, 4}) {
    for (const grid_shape& shape : grids()) {
      for (const scope by : all_scopes) {
        for (const signal_op op : {signal_op::set, signal_op::add}) {
          pe_set pes(n);
          const ring body{pes.allocate<std::uint32_t>(2 * ring::half),
                          pes.allocate<std::uint32_t>(ring::half),
                          pes.allocate<std::uint64_t>(2),
                          make_findings(pes),
                          static_cast<std::uint32_t>(rounds(200)),
                          by,
                          op,
                          n % 2 == 0};
          pes.run(shape, body);
          expect_nothing_found(pes, body.found);
        }
      }
    }
  }
}

/// PE 0 writes values one after another, and PE 1 waits for each with every comparison.
template <class T>
struct comparisons {
  sym<T> word;
  sym<std::uint64_t> step;  // the progress of PE 1, in memory of PE 0
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.thread_rank() != 0) return;
    constexpr bool is_signed = std::is_signed_v<T>;
    const T low = is_signed ? static_cast<T>(T{0} - T{5}) : T{1};
    // for unsigned types, a value with the top bits set
    const T high = static_cast<T>(static_cast<T>(~T{0}) / (is_signed ? T{1} : T{2}));
    const T values[4] = {low, T{9}, is_signed ? T{100} : high, T{3}};
    if (ctx.my_pe() == 0) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        p(ctx, word.at(ctx), values[i], 1);
        wait_until(ctx, step.at(ctx), cmp::eq, i + 1);
      }
      return;
    }
    T* const w = word.at(ctx);
    const auto next = [&](std::uint64_t done) { p(ctx, step.at(ctx), done, 0); };
    found.check(ctx, 1, wait_until(ctx, w, cmp::ne, 0) == low);
    found.check(ctx, 2, wait_until(ctx, w, cmp::lt, 9) == low);
    found.check(ctx, 3, test(ctx, w, cmp::le, low) && !test(ctx, w, cmp::lt, low) && !test(ctx, w, cmp::gt, 9));
    next(1);
    found.check(ctx, 4, wait_until(ctx, w, cmp::gt, low) == 9);
    found.check(ctx, 5, wait_until(ctx, w, cmp::eq, 9) == 9);
    found.check(ctx, 6, test(ctx, w, cmp::ge, 9) && test(ctx, w, cmp::le, 9) && !test(ctx, w, cmp::ne, 9));
    next(2);
    found.check(ctx, 7, wait_until(ctx, w, cmp::ge, values[2]) == values[2]);
    found.check(ctx, 8, test(ctx, w, cmp::gt, low) && test(ctx, w, cmp::gt, 9));
    next(3);
    found.check(ctx, 9, wait_until(ctx, w, cmp::le, 3) == 3);
    next(4);
  }
};

template <class T>
void comparisons_of() {
  pe_set pes(2);
  const comparisons<T> body{pes.allocate<T>(1), pes.allocate<std::uint64_t>(1), make_findings(pes)};
  pes.run({1, 2}, body);
  expect_nothing_found(pes, body.found);
}

TEST(signal, comparisons_of_2_bytes) {
  comparisons_of<std::int16_t>();
  comparisons_of<std::uint16_t>();
}
TEST(signal, comparisons_of_4_bytes) {
  comparisons_of<std::int32_t>();
  comparisons_of<std::uint32_t>();
}
TEST(signal, comparisons_of_8_bytes) {
  comparisons_of<std::int64_t>();
  comparisons_of<std::uint64_t>();
}

/// PE 0 sets the words of the other PEs in random orders. These PEs wait with all, any and some until no word is left.
struct sets {
  sym<std::int32_t> words;
  sym<std::int32_t> payload;  // one element for each word, sent before the word
  sym<int> status;            // which words have been seen
  sym<std::size_t> indices;
  findings found;
  std::uint32_t count;
  scope by;
  int way;  // 0: all, 1: any, 2: some, 3: test_all, 4: test_any, 5: test_some

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    if (ctx.my_pe() == 0) {
      for (std::uint32_t i = static_cast<std::uint32_t>(block.thread_rank()); i < count;
           i += static_cast<std::uint32_t>(block.size())) {
        const std::uint32_t at = (i * 7 + 3) % count;
        for (std::int32_t pe = 1; pe < ctx.n_pes(); ++pe) {
          p(ctx, payload.at(ctx) + at, static_cast<std::int32_t>(mix(at, 5)), pe);
          fence(ctx);
          p(ctx, words.at(ctx) + at, -1 - static_cast<std::int32_t>(at), pe);
        }
      }
      return;
    }
    with_scope(by, block, [&](const auto& group) { collect(ctx, group); });
  }

  template <class Group>
  PGAS_FN void collect(const context& ctx, const Group& group) const {
    const std::int32_t* const w = words.at(ctx);
    int* const seen = status.at(ctx);
    std::size_t* const list = indices.at(ctx);
    std::size_t left = count;
    while (left > 0) {
      std::size_t n = 0;
      if (way == 0 || way == 3) {
        if (way == 0) {
          wait_until_all(ctx, group, w, count, nullptr, cmp::lt, 0);
        } else {
          while (!test_all(ctx, group, w, count, seen, cmp::lt, 0)) detail::yield_waiting();
        }
        for (std::size_t i = group.thread_rank(); i < count; i += group.size()) list[i] = i;
        n = count;
      } else if (way == 1 || way == 4) {
        std::size_t index = no_index;
        if (way == 1) {
          index = wait_until_any(ctx, group, w, count, seen, cmp::lt, 0);
        } else {
          while ((index = test_any(ctx, group, w, count, seen, cmp::lt, 0)) == no_index) detail::yield_waiting();
        }
        if (group.thread_rank() == 0) list[0] = index;
        n = 1;
      } else if (way == 2) {
        n = wait_until_some(ctx, group, w, count, list, seen, cmp::lt, 0);
      } else {
        while ((n = test_some(ctx, group, w, count, list, seen, cmp::lt, 0)) == 0) detail::yield_waiting();
      }
      group.sync();
      found.check(ctx, 1, n >= 1 && n <= left);
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = list[k];
        found.check(ctx, 2, i < count);
        found.equal(ctx, 3, 0, seen[i]);  // the word was not returned before
        found.check(ctx, 4, k == 0 || list[k - 1] < i);
        found.equal(ctx, 5, static_cast<std::int32_t>(mix(static_cast<std::uint32_t>(i), 5)), payload.at(ctx)[i]);
        found.equal(ctx, 6, -1 - static_cast<std::int32_t>(i), g(ctx, w + i, ctx.my_pe()));
      }
      group.sync();
      for (std::size_t k = group.thread_rank(); k < n; k += group.size()) seen[list[k]] = 1;
      group.sync();
      left -= n;
    }
    // All words are excluded now, so the sets are empty.
    found.equal(ctx, 10, no_index, wait_until_any(ctx, group, w, count, seen, cmp::lt, 0));
    found.equal(ctx, 11, no_index, test_any(ctx, group, w, count, seen, cmp::lt, 0));
    found.equal(ctx, 12, std::size_t{0}, wait_until_some(ctx, group, w, count, list, seen, cmp::lt, 0));
    found.equal(ctx, 13, std::size_t{0}, test_some(ctx, group, w, count, list, seen, cmp::lt, 0));
    found.check(ctx, 14, test_all(ctx, group, w, count, seen, cmp::eq, 12345));
    wait_until_all(ctx, group, w, count, seen, cmp::eq, 12345);
    wait_until_all(ctx, group, w, 0, nullptr, cmp::eq, 12345);
    found.equal(ctx, 15, no_index, wait_until_any(ctx, group, w, 0, nullptr, cmp::eq, 0));
    // The comparison is satisfied by no word.
    found.equal(ctx, 16, no_index, test_any(ctx, group, w, count, nullptr, cmp::gt, 0));
    found.check(ctx, 17, !test_all(ctx, group, w, count, nullptr, cmp::gt, 0));
    found.check(ctx, 18, test(ctx, group, w, cmp::lt, 0) && !test(ctx, group, w, cmp::gt, 0));
  }
};

TEST(signal, sets_of_words) {
  for (const grid_shape& shape : grids()) {
    for (const scope by : all_scopes) {
      for (int way = 0; way < 6; ++way) {
        for (std::uint32_t count : {1u, 5u, 40u}) {
          pe_set pes(3);
          const sets body{pes.allocate<std::int32_t>(count),
                          pes.allocate<std::int32_t>(count),
                          pes.allocate<int>(count),
                          pes.allocate<std::size_t>(count),
                          make_findings(pes),
                          count,
                          by,
                          way};
          pes.run(shape, body);
          expect_nothing_found(pes, body.found);
        }
      }
    }
  }
}

}  // namespace
