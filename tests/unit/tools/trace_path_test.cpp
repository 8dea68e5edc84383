// The critical path of constructed traces with a known path.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/pgas-trace/critical_path.hpp"
#include "trace_events.hpp"

namespace {

using namespace played;

/// The path as "PE[begin,end]", with the previous PE if the path came from another PE.
std::string path(const document& trace, const pgas_trace::stretch& within) {
  std::string text;
  for (const pgas_trace::path_step& step : critical_path(trace, pgas_trace::find_arrows(trace), within)) {
    if (!text.empty()) text += ' ';
    if (step.from >= 0) text += std::to_string(step.from) + ">";
    text += std::to_string(step.pe) + "[" + std::to_string(step.begin) + "," + std::to_string(step.end) + "]";
  }
  return text;
}

TEST(critical_path, goes_to_the_pe_that_sent_the_signal_late) {
  const document trace = pes({{signal(60, 1, 0, update::set, 1)}, {wait(10, 65, 0, 1), barrier(90, 100, 0)}});
  EXPECT_EQ(path(trace, {0, 100}), "0[0,60] 0>1[60,65] 1[65,100]");
}

TEST(critical_path, stays_where_the_signal_was_there_before_the_wait) {
  const document trace = pes({{signal(5, 1, 0, update::set, 1)}, {wait(10, 11, 0, 1), barrier(90, 100, 0)}});
  EXPECT_EQ(path(trace, {0, 100}), "1[0,100]");
}

TEST(critical_path, goes_to_the_pe_that_came_last_to_a_barrier) {
  const document trace = pes({{barrier(20, 82, 1)}, {barrier(80, 81, 1)}, {barrier(30, 81, 1)}});
  EXPECT_EQ(path(trace, {0, 82}), "1[0,80] 1>0[80,82]");
}

TEST(critical_path, visits_a_chain_of_pes) {
  const document trace = pes({{signal(30, 1, 0, update::set, 1)},
                              {wait(1, 35, 0, 1), signal(50, 2, 0, update::set, 1)},
                              {wait(1, 55, 0, 1), barrier(70, 80, 0)}});
  EXPECT_EQ(path(trace, {0, 80}), "0[0,30] 0>1[30,35] 1[35,50] 1>2[50,55] 2[55,80]");
}

TEST(critical_path, ends_where_clocks_disagree) {
  // According to the clocks, each PE waited for a signal that the other PE sent later.
  const document trace = pes(
      {{wait(1, 50, 0, 1), signal(49, 1, 0, update::set, 1)}, {wait(1, 50, 0, 1), signal(49, 0, 0, update::set, 1)}});
  EXPECT_FALSE(path(trace, {0, 60}).empty());
}

TEST(last_iteration, lies_between_the_last_two_barriers_of_all) {
  const document trace = pes({{barrier(0, 10, 1), barrier(20, 30, 2), barrier(40, 50, 3), barrier(60, 61, 4)},
                              {barrier(0, 11, 1), barrier(20, 29, 2), barrier(40, 52, 3)}});
  const pgas_trace::stretch found = pgas_trace::last_iteration(trace);
  EXPECT_EQ(found.begin, 30);
  EXPECT_EQ(found.end, 52) << "PE 1 was not in the fourth";
}

TEST(last_iteration, is_everything_where_there_are_no_two_barriers) {
  const pgas_trace::stretch found = pgas_trace::last_iteration(pes({{barrier(5, 10, 1)}, {barrier(7, 12, 1)}}));
  EXPECT_EQ(found.begin, 5);
  EXPECT_EQ(found.end, 12);
}

}  // namespace
