// Agreements: every member learns the first value, the first value that differs, the first failure, and all words.
#include "host/exchange/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::agree;
using detail::agreement;
using detail::member_word;
using detail::reduce_value;

struct part {
  std::string value = "same";
  std::optional<error> failure;
  std::vector<std::uint64_t> words;
};

/// The agreement of `n` PEs, which must be the same on all PEs.
agreement of(int n, const std::function<part(int pe)>& part_of) {
  std::mutex mutex;
  std::vector<agreement> seen;
  expect_no_error(run_threads(n, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    const part mine = part_of(exchange.rank());
    agreement result = agree(pe.control_plane, bytes_of(mine.value), mine.failure, mine.words);
    pe.control_plane.await_leave();
    pe.control_plane.leave();
    const std::lock_guard lock(mutex);
    seen.push_back(std::move(result));
  }));
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(n));
  for (const agreement& each : seen) {
    EXPECT_EQ(each.first.member, 0);
    EXPECT_EQ(each.first.value, seen.front().first.value);
    EXPECT_EQ(each.other.has_value(), seen.front().other.has_value());
    if (each.other && seen.front().other) {
      EXPECT_EQ(each.other->member, seen.front().other->member);
    }
    EXPECT_EQ(each.failure.has_value(), seen.front().failure.has_value());
  }
  return seen.front();
}

TEST(agreement, of_members_with_one_value_has_neither_another_nor_a_failure) {
  for (const int n : {1, 2, 5}) {
    const agreement all = of(n, [](int) { return part{}; });
    EXPECT_EQ(text_of(all.first.value), "same");
    EXPECT_FALSE(all.other);
    EXPECT_FALSE(all.failure);
    EXPECT_TRUE(all.words.empty());
  }
}

TEST(agreement, names_the_first_member_with_another_value) {
  const agreement all = of(6, [](int pe) { return part{pe < 3 ? "same" : pe < 5 ? "other" : "third", {}, {}}; });
  EXPECT_EQ(text_of(all.first.value), "same");
  ASSERT_TRUE(all.other);
  EXPECT_EQ(all.other->member, 3);
  EXPECT_EQ(text_of(all.other->value), "other");
}

TEST(agreement, where_only_member_0_differs_names_member_1) {
  const agreement all = of(4, [](int pe) { return part{pe == 0 ? "mine" : "theirs", {}, {}}; });
  EXPECT_EQ(text_of(all.first.value), "mine");
  ASSERT_TRUE(all.other);
  EXPECT_EQ(all.other->member, 1);
}

TEST(agreement, has_the_failure_of_the_first_member_that_failed) {
  const agreement all = of(5, [](int pe) {
    part mine;
    if (pe >= 2) mine.failure = error(code::out_of_memory, "no room on " + std::to_string(pe), pe);
    return mine;
  });
  ASSERT_TRUE(all.failure);
  EXPECT_EQ(all.failure->pe(), 2);
  EXPECT_EQ(all.failure->code(), code::out_of_memory);
  EXPECT_FALSE(all.other);
}

TEST(agreement, has_the_words_of_all_members) {
  agreement all = of(4, [](int pe) {
    part mine;
    mine.words.assign(static_cast<std::size_t>(pe), 100 + static_cast<std::uint64_t>(pe));
    return mine;
  });
  std::ranges::sort(all.words, {}, &member_word::member);
  ASSERT_EQ(all.words.size(), 6u);
  EXPECT_EQ(all.words[0].member, 1);
  EXPECT_EQ(all.words[0].word, 101u);
  EXPECT_EQ(all.words[5].member, 3);
  EXPECT_EQ(all.words[5].word, 103u);
}

TEST(agreement, with_a_member_in_a_reduction_of_another_value_is_an_error_on_all) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    if (exchange.rank() == 1)
      static_cast<void>(reduce_value(pe.control_plane, 1, [](int a, int b) { return a + b; }));
    else
      static_cast<void>(agree(pe.control_plane, bytes_of("value")));
  });
  expect_all(ends, code::bootstrap_protocol);
}

TEST(agreement, of_a_reduction_is_the_same_on_all_members) {
  expect_no_error(run_threads(5, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    EXPECT_EQ(reduce_value(pe.control_plane, exchange.rank() + 1, [](int a, int b) { return a + b; }), 15);
    EXPECT_EQ(reduce_value(pe.control_plane, exchange.rank(), [](int a, int b) { return std::max(a, b); }), 4);
    pe.control_plane.await_leave();
    pe.control_plane.leave();
  }));
}

}  // namespace
}  // namespace pgas::unit_test
