// Counts the bytes that are sent to split a team, for a growing number of members. The PEs are objects of one process.
// The test sends the messages of the library: the agreement on the arguments, the reduction of colours, and the
// agreement after the team was made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "common/value_bytes.hpp"
#include "host/exchange/agreement.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/team/color_runs.hpp"
#include "host/team/split_call.hpp"
#include "scale/simulated_tree.hpp"

namespace pgas::scale_test {
namespace {

constexpr int per_host = 16;
constexpr std::uint64_t of_world = 0;
/// The limit for a message of an agreement: the head, two values and two words.
constexpr std::uint64_t agreement_bytes = 512;

struct one_split {
  std::string name;
  split_call call;
  std::vector<int> list;
};

split_call call_of(split_call::kind what, int start, int stride, int size) {
  split_call call;
  call.what = what;
  call.start = start;
  call.stride = stride;
  call.size = size;
  call.configure({});
  return call;
}

/// Splits of a team of `n` PEs. The result of each split depends only on the arguments of the call.
std::vector<one_split> computed_splits(int n) {
  std::vector<int> reversed(static_cast<std::size_t>(n));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return {{"strided", call_of(split_call::kind::strided, 0, 2, (n + 1) / 2), {}},
          {"rows", call_of(split_call::kind::rows, 0, 0, 10), {}},
          {"columns", call_of(split_call::kind::columns, 0, 0, 10), {}},
          {"list", call_of(split_call::kind::list, 0, 0, 0), reversed}};
}

class split_growth : public testing::TestWithParam<int> {
 protected:
  split_growth() : world_(GetParam(), per_host) {
    for (int pe = 0; pe < world_.n(); ++pe) world_.make_group(pe, of_world, world_.whole());
  }

  /// Compares the arguments of all PEs, in the same way as split(). @return the value that each PE receives.
  std::vector<blob> agree(const std::function<blob(int pe)>& value_of) {
    const std::uint64_t identity = 1;
    for (int pe = 0; pe < world_.n(); ++pe) {
      const auto words = pe == 0 ? std::span(&identity, 1) : std::span<const std::uint64_t>();
      world_.begin(pe, of_world, collective::reduce, encode_agreement(pe, value_of(pe), std::nullopt, words),
                   merge_agreements);
    }
    world_.run();
    std::vector<blob> results;
    for (int pe = 0; pe < world_.n(); ++pe) results.push_back(world_.take(pe, of_world).value());
    return results;
  }
  /// The agreement at the end of a split: whether all members could make the team.
  void agree_on_outcome() {
    collective_step step;
    step.what = collective_step::kind::add_team;
    const auto bytes = bytes_of(step);
    static_cast<void>(agree([&](int) { return blob(bytes.begin(), bytes.end()); }));
  }
  traffic counted(const std::string& what) {
    const traffic seen = world_.counted();
    std::cout << "split by " << what << " of " << world_.n() << " PEs: " << seen.bytes << " bytes in all, "
              << seen.most_bytes_on_link << " on a link\n";
    return seen;
  }

  simulated_world world_;
};
INSTANTIATE_TEST_SUITE_P(pes, split_growth, testing::Values(2, 16, 17, 100, 1000, 10'000));

TEST_P(split_growth, computed_teams_move_a_constant_number_of_bytes_on_each_link) {
  const int n = world_.n();
  for (const one_split& item : computed_splits(n)) {
    const blob mine = comparable(item.call, item.list);
    const std::vector<blob> agreed = agree([&](int) { return mine; });
    for (const blob& each : agreed) EXPECT_EQ(each, agreed.front());
    agree_on_outcome();
    const traffic seen = counted(item.name);
    EXPECT_LE(seen.most_bytes_on_link, 2 * agreement_bytes) << item.name;
    EXPECT_LE(seen.bytes, 2 * 2 * agreement_bytes * static_cast<std::uint64_t>(n - 1)) << item.name;
    for (const int me : {0, n / 2, n - 1}) {
      const std::vector<int> members = members_after(item.call, item.list, {}, n, me);
      EXPECT_TRUE(members.empty() || std::ranges::find(members, me) != members.end()) << item.name << ", PE " << me;
    }
  }
}

TEST_P(split_growth, a_list_that_differs_on_one_pe_is_found_by_all_pes) {
  const int n = world_.n();
  const one_split by_list = computed_splits(n).back();
  std::vector<int> other = by_list.list;
  std::swap(other.front(), other.back());
  const std::vector<blob> agreed =
      agree([&](int pe) { return comparable(by_list.call, pe == n - 1 ? other : by_list.list); });
  for (const blob& each : agreed) {
    const agreement found = decode_agreement(each).value();
    ASSERT_TRUE(found.other);
    EXPECT_EQ(found.other->member, n - 1);
    EXPECT_NE(text_of_split(found.other->value), text_of_split(found.first.value));
  }
}

/// A colour and a key for each PE.
struct coloring {
  std::string name;
  std::function<std::int32_t(int pe)> color;
  std::function<std::int32_t(int pe)> key;
};

TEST_P(split_growth, evenly_spaced_teams_of_colours_need_a_constant_number_of_bytes_for_each_pe) {
  const int n = world_.n();
  const coloring colorings[] = {
      {"colour, of every third PE backwards", [](int pe) { return pe % 3; }, [](int pe) { return -pe; }},
      {"colour, of rows", [](int pe) { return pe / 10; }, [](int) { return 0; }},
      {"colour, of one PE each", [](int pe) { return pe; }, [](int) { return 7; }},
      {"colour, of none or all", [n](int pe) { return pe == n / 2 ? -1 : 5; }, [](int pe) { return pe; }}};
  for (const coloring& one : colorings) {
    for (int pe = 0; pe < n; ++pe)
      world_.begin(pe, of_world, collective::reduce, encode_color(pe, one.color(pe), one.key(pe)), merge_colors,
                   colors_in);
    world_.run();
    const traffic seen = counted(one.name);
    EXPECT_LE(seen.bytes, 512 * static_cast<std::uint64_t>(n)) << one.name;
    EXPECT_EQ(seen.messages, 2 * static_cast<std::uint64_t>(n - 1)) << one.name;
    for (int me = 0; me < n; ++me) {
      split_call call = call_of(split_call::kind::colors, 0, 0, 0);
      call.color = one.color(me);
      std::vector<int> expected;
      for (int pe = 0; pe < n && me % 97 == 0; ++pe)
        if (call.color >= 0 && one.color(pe) == call.color) expected.push_back(pe);
      std::ranges::stable_sort(expected, {}, one.key);
      const std::vector<int> members = members_after(call, {}, world_.take(me, of_world).value(), n, me);
      if (me % 97 == 0) {
        ASSERT_EQ(members, expected) << one.name << ", PE " << me;
      }
    }
  }
}

TEST(color_runs, teams_in_any_order_are_as_if_all_members_were_sorted) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 60);
    std::vector<std::int32_t> colors;
    std::vector<std::int32_t> keys;
    std::vector<blob> values;
    constexpr std::int32_t extremes[] = {std::numeric_limits<std::int32_t>::min(), -1, 0, 1,
                                         std::numeric_limits<std::int32_t>::max()};
    for (int pe = 0; pe < n; ++pe) {
      colors.push_back(static_cast<std::int32_t>(random() % 4) - 1);
      keys.push_back(round % 2 == 0 ? extremes[random() % 5] : static_cast<std::int32_t>(random() % 9));
      values.push_back(encode_color(pe, colors.back(), keys.back()));
    }
    while (values.size() > 1) {
      const std::size_t into = random() % (values.size() - 1);
      merge_colors(values[into], values.back());
      values.pop_back();
    }
    for (std::int32_t color = 0; color < 3; ++color) {
      std::vector<int> expected;
      for (int pe = 0; pe < n; ++pe)
        if (colors[static_cast<std::size_t>(pe)] == color) expected.push_back(pe);
      std::ranges::stable_sort(expected, {}, [&](int pe) { return keys[static_cast<std::size_t>(pe)]; });
      const blob asked = encode_color(0, color, 0);
      EXPECT_EQ(members_of_color(colors_in(values[0], asked), color), expected);
    }
  }
}

}  // namespace
}  // namespace pgas::scale_test
