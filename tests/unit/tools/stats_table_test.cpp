// pgas-info --stats: the table of what a job's PEs say, whole or not.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/pgas-info/show_stats.hpp"

namespace {

using nlohmann::json;

json answer_of(int pe) {
  const json counts = {{"puts", 3},         {"put_bytes", 2048}, {"gets", 2},
                       {"get_bytes", 1024}, {"atomics", 4},      {"signals", 1}};
  const json nothing = {{"puts", 0}, {"put_bytes", 0}, {"gets", 0}, {"get_bytes", 0}, {"atomics", 0}, {"signals", 0}};
  return {{"pe", pe},
          {"direct", counts},
          {"proxied", nothing},
          {"proxy", nothing},
          {"calls", 12},
          {"call_ms", 1500},
          {"running", ""},
          {"running_ms", 0},
          {"heap", {{"used", 4096}, {"mapped", 8192}}},
          {"fragmentation", 0.75},
          {"idle_ms", 250},
          {"errors", 0},
          {"warnings", 0},
          {"failed", false}};
}

std::vector<std::string> lines_of(const json& said) {
  std::istringstream text(pgas_info::stats_table("0123456789abcdef", said));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(stats_table, has_a_line_for_each_pe_in_order) {
  json said = {{"pes", json::array({json::object(), json::object()})}, {"answers", json::array()}};
  said["answers"].push_back(answer_of(1));
  said["answers"].push_back(answer_of(0));
  const std::vector<std::string> lines = lines_of(said);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "job 0123456789abcdef: 2 PEs");
  EXPECT_EQ(lines[1].size(), lines[2].size()) << "columns stand below their names";
  EXPECT_EQ(
      lines[2],
      "   0         10    3.0 KiB          0    0 bytes          0    0 bytes       12     1.5 s    4.0 KiB    8.0 KiB"
      "   75%     0.2 s");
  EXPECT_EQ(lines[3].substr(0, 15), "   1         10");
}

TEST(stats_table, says_what_is_not_as_it_should_be) {
  json said = {{"pes", json::array({json::object()})}, {"answers", json::array({answer_of(0)})}};
  json& one = said["answers"][0];
  one["failed"] = true;
  one["errors"] = 2;
  one["warnings"] = 3;
  one["running"] = "pgas::barrier_all";
  one["running_ms"] = 61'000;
  const std::vector<std::string> lines = lines_of(said);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "job 0123456789abcdef: 1 PE");
  EXPECT_NE(lines[2].find("the world has failed  2 errors  3 warnings  in pgas::barrier_all since 61.0 s"),
            std::string::npos)
      << lines[2];
}

TEST(stats_table, names_those_that_say_nothing) {
  json said = {{"pes", json::array({json::object(), json::object(), json::object()})}};
  EXPECT_EQ(lines_of(said)[4], "   2  does not answer");
  said["answers"] = {{{"pe", 0}, {"joining", true}}, {{"pe", 2}, {"leaving", true}}};
  const std::vector<std::string> lines = lines_of(said);
  EXPECT_EQ(lines[2], "   0  joins");
  EXPECT_EQ(lines[3], "   1  does not answer");
  EXPECT_EQ(lines[4], "   2  leaves");
}

}  // namespace
