// The PE that pgas-why reports as the root, for constructed states of jobs.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "host/watch/find_root.hpp"
#include "host/watch/told_waits.hpp"
#include "tools/pgas-why/find_joining.hpp"
#include "tools/pgas-why/job_report.hpp"

namespace {

using namespace pgas_why;
using kind = root::kind;
using life = pe_state::life;

/// PEs that answer and do not wait.
std::vector<pe_state> idle(int n) {
  std::vector<pe_state> pes(static_cast<std::size_t>(n));
  for (int pe = 0; pe < n; ++pe) {
    pes[static_cast<std::size_t>(pe)].pe = pe;
    pes[static_cast<std::size_t>(pe)].is = life::answers;
    pes[static_cast<std::size_t>(pe)].idle_ms = 8200;
  }
  return pes;
}
pgas_why::wait for_pes(std::vector<int> pes, const std::string& what = "barrier") {
  pgas_why::wait item;
  item.what = what;
  item.pes = std::move(pes);
  return item;
}
pgas_why::wait for_word() {
  pgas_why::wait item = for_pes({}, "wait_until");
  item.word = awaited_word{0x40, ">=", 2, 1};
  return item;
}
void expect(const std::vector<pe_state>& pes, kind what, const std::vector<int>& who) {
  const root found = find_root(pes);
  EXPECT_EQ(found.what, what);
  EXPECT_EQ(found.pes, who);
}

TEST(Diagnose, nobody_waits) {
  expect(idle(3), kind::nobody_waits, {});
  EXPECT_EQ(say(find_root(idle(3)), idle(3)), "No PE waits in pgas.");
}

TEST(Diagnose, a_call_without_an_answer_of_its_kernel_is_no_all_clear) {
  auto pes = idle(2);
  for (pe_state& state : pes) {
    state.calls = {{"reduce", 624}};
    state.looked_ms = 400;
  }
  expect(pes, kind::unseen, {0, 1});
  EXPECT_TRUE(may_be_late(find_root(pes), pes));
  EXPECT_EQ(say(find_root(pes), pes),
            "No wait was found, but PEs 0, 1 are in a call: PE 0 has been in reduce for 0.6 s, and none of its kernels "
            "has reported a wait in pgas within 400 ms. The kernels of such calls are computing, or had no processor "
            "to answer on.");
  for (pe_state& state : pes) {
    state.calls = {{"reduce", 2}};  // the call began during the question
    state.looked_ms = 15;
  }
  expect(pes, kind::nobody_waits, {});
}

TEST(Job, a_name_of_a_socket_has_one_spelling) {
  EXPECT_EQ(parse_name("pgas-why-0123456789abcdef-7"), (std::pair<std::string, int>("0123456789abcdef", 7)));
  for (const char* const other :
       {"pgas-why-0123456789abcdef-07", "pgas-why-0123456789abcdef-007", "pgas-why-0123456789abcdef-",
        "pgas-why-0123456789ABCDEF-7", "pgas-why-\033[2J56789abcdef-7", "pgas-why-0123456789abcdef-7x",
        "pgas-why-0123456789abcdef-99999999", "pgas-why-0123456789abcdef", "pgas-how-0123456789abcdef-7"})
    EXPECT_FALSE(parse_name(other)) << other;
  EXPECT_EQ(parse_name("pgas-why-0123456789abcdef-0")->second, 0);
}

TEST(Diagnose, two_groups_in_one_collective_are_said_first) {
  auto pes = idle(3);
  pes[0].waits = {for_pes({1}, "collective"), for_pes({1}, "collective")};
  pes[0].crowded = crowd{{std::uint64_t{1} << 40, {0, 1}}, 0, {0, 0}, {1, 0}};
  expect(pes, kind::crowded, {0});
  EXPECT_EQ(
      say(find_root(pes), pes),
      "On PE 0 two groups of threads are in collectives of one team at the same time, on channel 0 of team 0.0 of "
      "PEs 0, 1: block 0 thread 0 and block 1 thread 0. A channel serves one group at a time: give each block "
      "its own channel (team.channel(i)), or let one block call the collective. 1 of 3 PEs wait.");
}

TEST(Diagnose, a_signal_behind_its_own_wait_is_said) {
  auto pes = idle(2);
  pgas_why::wait item = for_word();
  item.of_stream = true;
  item.behind = {{"signal", 0, 0x40, 8}};
  pes[0].waits = {item};
  complete(pes);
  expect(pes, kind::cycle, {0});
  EXPECT_EQ(say(find_root(pes), pes),
            "PE 0 waits for itself in wait_until on a stream, the word at heap offset 0x40 to become >= 2 (it is 1), "
            "whose signal is enqueued behind this wait on the same stream, for 0.0 s. 1 of 2 PEs wait.");
}

TEST(Diagnose, signals_behind_waits_of_two_streams_are_a_cycle) {
  auto pes = idle(3);
  for (const int pe : {0, 1}) {
    pgas_why::wait item = for_word();
    item.of_stream = true;
    item.behind = {{"put_signal", 1 - pe, 0x40, 8}};
    pes[static_cast<std::size_t>(pe)].waits = {item};
  }
  pes[2].waits = {for_word()};  // no PE writes the word
  complete(pes);
  expect(pes, kind::cycle, {0, 1});
  EXPECT_EQ(
      say(find_root(pes), pes),
      "PEs 0, 1 wait for one another: PE 0 for PE 1 in wait_until on a stream, whose put_signal is enqueued behind "
      "a wait on a stream of PE 1, PE 1 for PE 0 in wait_until on a stream, whose put_signal is enqueued behind a "
      "wait on a stream of PE 0. 3 of 3 PEs wait.");
  EXPECT_EQ(find_root(pes, 2).what, kind::cycle) << "PE 2 may wait for one of them";
}

TEST(Diagnose, a_pe_that_computes_is_no_root_where_all_names_are_known) {
  auto pes = idle(4);
  pes[0].waits = {for_pes({1})};
  pes[1].waits = {for_pes({0})};
  pes[2].waits = {for_pes({3})};
  expect({pes.begin(), pes.begin() + 2}, kind::cycle, {0, 1});
  EXPECT_EQ(find_root(pes, 0).what, kind::cycle);
  EXPECT_EQ(find_root(pes, 2).pes, std::vector<int>{3});
  auto three = idle(3);
  three[0].waits = {for_pes({1})};
  three[1].waits = {for_pes({0})};
  expect(three, kind::cycle, {0, 1});
}

TEST(Diagnose, collectives_of_different_teams_are_named) {
  auto pes = idle(3);
  pes[0].calls = pes[1].calls = {{"pgas::fcollect", 100}};
  for (const int pe : {0, 1}) {
    pgas_why::wait item = for_pes({1 - pe}, "collective");
    item.thread = {0, 0};
    item.of_team = pe == 0 ? pgas_why::team{std::uint64_t{1} << 40, {0, 1}} : pgas_why::team{};
    pes[static_cast<std::size_t>(pe)].waits = {item};
  }
  EXPECT_EQ(
      say(find_root(pes), pes),
      "PEs 0, 1 wait for one another: PE 0 for PE 1 in fcollect of team 0.0 of PEs 0, 1, PE 1 for PE 0 in fcollect "
      "of the team of all PEs. All PEs must make the same collective calls in the same order. 2 of 3 PEs wait.");
}

TEST(Diagnose, follows_names_to_the_end) {
  auto pes = idle(4);
  pes[0].waits = {for_pes({1})};
  pes[1].waits = {for_pes({2})};
  pes[2].waits = {for_pes({3})};
  expect(pes, kind::elsewhere, {3});
  EXPECT_EQ(say(find_root(pes), pes),
            "The others wait for PE 3: it has been in no call of this world for 8.2 s. 3 of 4 PEs wait.");
  pes[3].waits = {for_word()};
  expect(pes, kind::own_wait, {3});
}

TEST(Diagnose, what_is_gone_comes_before_what_computes) {
  auto pes = idle(3);
  pes[0].waits = {for_pes({1, 2})};
  expect(pes, kind::elsewhere, {1, 2});
  pes[2].is = life::silent;
  expect(pes, kind::silent, {2});
  pes[1].is = life::stopped;
  expect(pes, kind::stopped, {1});
  pes[2].is = life::gone;
  expect(pes, kind::gone, {2});
}

TEST(Diagnose, finds_the_cycle_for_which_other_pes_wait) {
  auto pes = idle(5);
  pes[0].waits = {for_pes({1})};
  pes[1].waits = {for_pes({2, 3})};
  pes[2].waits = {for_pes({3})};
  pes[3].waits = {for_pes({1})};
  pes[4].waits = {for_pes({0})};
  const root found = find_root(pes);
  EXPECT_EQ(found.what, kind::cycle);
  EXPECT_EQ(found.pes, (std::vector<int>{1, 3}));
}

TEST(Diagnose, a_lock_that_a_pe_has_itself_is_a_cycle_of_one) {
  auto pes = idle(2);
  pes[0].waits = {for_pes({0}, "set_lock")};
  pes[1].waits = {for_pes({0})};
  expect(pes, kind::cycle, {0});
}

TEST(Diagnose, a_cycle_that_somebody_may_end_is_not_the_root) {
  auto pes = idle(3);
  pes[0].waits = {for_pes({1})};
  pes[1].waits = {for_pes({0}), for_pes({2})};
  expect(pes, kind::elsewhere, {2});
}

/// `n` PEs that wait, each for the PEs that `named` returns.
std::vector<pe_state> waiting(int n, const std::function<std::vector<int>(int pe)>& named) {
  auto pes = idle(n);
  for (pe_state& state : pes) state.waits = {for_pes(named(state.pe))};
  return pes;
}

// In each PE of a job, the thread that receives the deaths of PEs also searches for the root. So the search must be
// fast.
TEST(Diagnose, the_root_of_a_large_job_is_found_at_once) {
  constexpr int n = 640;
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  const auto each_for_all_others = waiting(n, [&all](int pe) {
    auto others = all;
    others.erase(others.begin() + pe);
    return others;
  });
  const auto ring = waiting(n, [](int pe) { return std::vector{(pe + 1) % n}; });
  auto chain = waiting(n, [](int pe) { return std::vector{pe + 1}; });
  chain.back().waits.clear();
  // The limit is in CPU time, which other processes do not increase. Work that grows as the cube of n takes a minute in
  // a sanitized build.
  const std::clock_t begin = std::clock();
  expect(each_for_all_others, kind::cycle, {0, 1});
  expect(ring, kind::cycle, all);
  expect(chain, kind::elsewhere, {n - 1});
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

TEST(Diagnose, many_threads_alike_share_a_line_within_100_columns) {
  auto pes = idle(2);
  for (std::uint32_t block = 0; block < 60; ++block) {
    pgas_why::wait item = for_word();
    item.thread = std::pair(block, 0u);
    item.ms = static_cast<long>(block) * 1000;
    pes[0].waits.push_back(item);
  }
  const std::string text = report({"0123456789abcdef", {}}, pes, find_root(pes), false);
  EXPECT_NE(text.find("59 more threads"), std::string::npos) << text;
  EXPECT_NE(text.find("for 59 s"), std::string::npos) << text;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(text.find('\n', at) - at, 100u) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(Diagnose, durations_are_readable) {
  EXPECT_EQ(duration(8200), "8.2 s");
  EXPECT_EQ(duration(61'000), "61 s");
  EXPECT_EQ(duration(185'000), "3 min 5 s");
  EXPECT_EQ(duration(7'260'000), "2 h 1 min");
}

TEST(describe, names_the_allocation_of_a_word) {
  std::vector<pe_state> pes = idle(1);
  pgas_why::wait item = for_word();
  item.word->around = pgas::detail::allocation{3, 0x20, 4096};
  EXPECT_NE(describe(pes[0], item).find("heap offset 0x40, 32 bytes into allocation 3 of 4096 bytes, to become >= 2"),
            std::string::npos)
      << describe(pes[0], item);
}

TEST(joining, the_name_of_a_socket_names_the_joining_pe) {
  const auto item = parse_joining("pgas-joining-4-2-1000-77.0", 3500);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->n, 4);
  EXPECT_EQ(item->pe, 2);
  EXPECT_EQ(item->pid, 77);
  EXPECT_EQ(item->ms, 2500);
  EXPECT_EQ(parse_joining("pgas-joining-x-x-1000-77.0", 3500)->pe, -1);
  for (const char* other : {"pgas-joining-", "pgas-joining-4-2-1000", "pgas-joining-4-2-a-77.0",
                            "pgas-why-4-2-1000-77.0", "pgas-joining-4--1000-77.0"})
    EXPECT_FALSE(parse_joining(other, 3500)) << other;
}

TEST(joining, missing_pes_are_named) {
  EXPECT_EQ(say(joining_job{4, {{77, 2, 4, 12'345}}}),
            "1 of 4 PEs joins on this host, for 12 s. PEs 0, 1, 3 do not: not started, not in world::join() yet, on "
            "another host, or ended.");
  EXPECT_EQ(say(joining_job{2, {{77, 0, 2, 1500}, {78, 1, 2, 1000}}}), "2 of 2 PEs join on this host, for 1.5 s.");
  EXPECT_EQ(say(joining_job{-1, {{77, -1, -1, 1500}}}),
            "1 PE joins on this host, for 1.5 s. The missing PEs are not known yet: the launcher has not answered.");
}

}  // namespace
