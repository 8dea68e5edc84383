// pgas-info --stats: the table of the answers of a job's PEs, complete or not.
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
  EXPECT_EQ(lines[2],
            "   0     10   3.0K       0      0      0      0     12    1.5 s      4.0K    8.0K   75%    0.2 s");
  EXPECT_EQ(lines[3].substr(0, 11), "   1     10");
}

TEST(stats_table, fits_100_columns_whatever_the_counts) {
  json said = {{"pes", json::array({json::object()})}, {"answers", json::array({answer_of(0)})}};
  json& item = said["answers"][0];
  for (const std::uint64_t number : {std::uint64_t{99'999}, std::uint64_t{999'999}, std::uint64_t{1} << 40,
                                     (std::uint64_t{1} << 50) - 1, std::uint64_t{1} << 60}) {
    for (const char* const kind : {"puts", "put_bytes", "atomics"})
      for (const char* const route : {"direct", "proxied", "proxy"}) item[route][kind] = number;
    item["calls"] = number;
    item["heap"] = {{"used", number}, {"mapped", number}};
    item["call_ms"] = item["idle_ms"] = 30'000'000'000;  // a year
    item["fragmentation"] = 1.0;
    item["errors"] = item["warnings"] = number;
    item["running"] = "pgas::a_call_with_a_name_that_is_as_long_as_names_are";
    item["running_ms"] = 30'000'000'000;
    for (const std::string& line : lines_of(said)) EXPECT_LE(line.size(), 100u) << line;
  }
  item["calls"] = 99'999;
  EXPECT_NE(lines_of(said)[2].find(" 99999 8333.3 h "), std::string::npos) << lines_of(said)[2];
}

TEST(stats_table, says_what_is_not_as_it_should_be) {
  json said = {{"pes", json::array({json::object()})}, {"answers", json::array({answer_of(0)})}};
  json& item = said["answers"][0];
  item["failed"] = true;
  item["errors"] = 1;
  item["warnings"] = 3;
  item["running"] = "pgas::barrier_all";
  item["running_ms"] = 61'000;
  const std::vector<std::string> lines = lines_of(said);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "job 0123456789abcdef: 1 PE");
  EXPECT_EQ(lines[3], "      the world has failed, 1 error, 3 warnings, in pgas::barrier_all for 61.0 s");
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
