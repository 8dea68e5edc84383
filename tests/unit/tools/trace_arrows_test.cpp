// The signals that pgas-trace reports as the ends of waits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/pgas-trace/arrows.hpp"
#include "trace_events.hpp"

namespace {

using namespace played;
using pgas_trace::find_arrows;

/// Each arrow as the text "P:I>Q:J". I is the index of the signal in the events of PE P, and J is the index of the wait
/// in the events of PE Q.
std::vector<std::string> drawn(const document& trace) {
  std::vector<std::string> all;
  for (const pgas_trace::arrow& item : find_arrows(trace).all)
    all.push_back(std::to_string(item.from.pe) + ":" + std::to_string(item.from.event) + ">" +
                  std::to_string(item.to.pe) + ":" + std::to_string(item.to.event));
  return all;
}
using list = std::vector<std::string>;

TEST(arrows, of_a_word_that_is_set_go_to_the_wait_that_saw_the_value) {
  const document trace = pes({{signal(10, 1, 64, update::set, 1), signal(30, 1, 64, update::set, 2)},
                              {wait(0, 20, 64, 1), wait(25, 40, 64, 2)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0", "0:1>1:1"}));
}

TEST(arrows, of_signals_that_a_later_one_overtook_go_to_the_same_wait) {
  const document trace =
      pes({{signal(10, 1, 64, update::set, 1), signal(12, 1, 64, update::set, 2)}, {wait(0, 20, 64, 2)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0", "0:1>1:0"}));
}

TEST(arrows, of_sums_go_by_the_sum) {
  const document trace = pes({{signal(10, 2, 8, update::add, 1), signal(50, 2, 8, update::add, 1)},
                              {signal(11, 2, 8, update::add, 1)},
                              {wait(0, 60, 8, 2), wait(60, 61, 8, 3)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>2:0", "1:0>2:0", "0:1>2:1"}));
}

TEST(arrows, of_a_value_that_comes_again_and_again_go_by_the_time) {
  const document trace =
      pes({{signal(10, 1, 0, update::set, 1), signal(30, 1, 0, update::set, 1), signal(50, 1, 0, update::set, 1)},
           {wait(0, 20, 0, 1), wait(25, 40, 0, 1), wait(45, 60, 0, 1)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0", "0:1>1:1", "0:2>1:2"}));
  EXPECT_EQ(find_arrows(trace).guessed, 0U);
}

TEST(arrows, other_words_and_other_pes_have_nothing_to_do_with_it) {
  const document trace =
      pes({{signal(10, 1, 0, update::set, 1), signal(11, 0, 8, update::set, 1)}, {wait(0, 20, 8, 1)}});
  EXPECT_EQ(drawn(trace), list{});
  const pgas_trace::arrows found = find_arrows(trace);
  EXPECT_EQ(found.signals, 2U);
  EXPECT_EQ(found.unseen, 2U);
}

TEST(arrows, signals_after_the_last_wait_are_unseen) {
  const document trace =
      pes({{signal(10, 1, 0, update::add, 1), signal(30, 1, 0, update::add, 1)}, {wait(0, 20, 0, 1)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0"}));
  EXPECT_EQ(find_arrows(trace).unseen, 1U);
}

TEST(arrows, a_value_that_no_sum_explains_is_matched_by_time_and_counted) {
  const document trace =
      pes({{signal(10, 1, 0, update::add, 1), signal(30, 1, 0, update::add, 1)}, {wait(0, 20, 0, 101)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0"}));
  EXPECT_EQ(find_arrows(trace).guessed, 1U);
}

TEST(arrows, a_wait_that_was_satisfied_from_the_beginning_has_none) {
  const document trace = pes({{signal(10, 1, 0, update::add, 1)}, {wait(12, 13, 0, 0), wait(20, 30, 0, 1)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:1"}));
  EXPECT_EQ(find_arrows(trace).guessed, 0U);
}

TEST(arrows, a_wait_that_ends_late_with_an_old_value_takes_no_later_signals) {
  const document trace =
      pes({{signal(10, 1, 0, update::add, 1), signal(20, 1, 0, update::add, 1), signal(40, 1, 0, update::add, 1)},
           {wait(0, 25, 0, 2), wait(0, 45, 0, 1), wait(30, 50, 0, 3)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0", "0:1>1:0", "0:2>1:2"}));
  EXPECT_EQ(find_arrows(trace).guessed, 0U);
}

TEST(arrows, many_signals_to_a_word_take_no_time_to_speak_of) {
  std::vector<event> signals;
  std::vector<event> waits;
  constexpr int n = 60'000;
  for (int i = 0; i < n; ++i) {
    signals.push_back(signal(10 * i, 1, 0, update::add, 1));
    waits.push_back(wait(10 * i + 1, 10 * i + 5, 0, static_cast<std::uint64_t>(i) + 1));
  }
  const pgas_trace::arrows found = find_arrows(pes({signals, waits}));
  ASSERT_EQ(found.all.size(), static_cast<std::size_t>(n));
  for (const pgas_trace::arrow& item : found.all) ASSERT_EQ(item.from.event, item.to.event);
}

TEST(arrows, what_a_wait_takes_away_is_not_seen_again) {
  event first = wait(0, 20, 0, 2);
  first.facts.update = update::add;
  first.facts.value = 2;
  const document trace =
      pes({{signal(10, 1, 0, update::add, 1), signal(11, 1, 0, update::add, 1), signal(30, 1, 0, update::add, 1)},
           {first, wait(25, 40, 0, 1)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0", "0:1>1:0", "0:2>1:1"}));
}

TEST(arrows, two_waits_for_a_signal_the_first_one_has_it) {
  const document trace = pes({{signal(10, 1, 0, update::set, 1)}, {wait(0, 20, 0, 1), wait(30, 40, 0, 1)}});
  EXPECT_EQ(drawn(trace), (list{"0:0>1:0"}));
}

TEST(arrows, of_a_wait_for_several_words_know_the_wait) {
  event whole = wait(0, 20, 0, 0);
  whole.facts.offset = no_offset;
  const document trace = pes({{signal(10, 1, 8, update::set, 1)}, {whole, wait(20, 20, 8, 1)}});
  ASSERT_EQ(find_arrows(trace).all.size(), 1U);
  EXPECT_EQ(find_arrows(trace).all[0].to.event, 1U);
  EXPECT_EQ(find_arrows(trace).all[0].wait.event, 0U);
}

TEST(arrows, are_written_into_both_ends_and_replace_older_ones) {
  document trace = pes({{signal(10, 1, 0, update::set, 1)}, {wait(0, 20, 0, 1)}});
  trace.pes[0].tracks[0].events[0].arrows_out = {77, 78};
  pgas_trace::draw(find_arrows(trace), trace);
  EXPECT_EQ(trace.pes[0].tracks[0].events[0].arrows_out, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(trace.pes[1].tracks[0].events[0].arrows_in, (std::vector<std::uint64_t>{1}));
}

}  // namespace
