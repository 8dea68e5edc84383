/// @file
/// The exception and the table of codes.
#include "pgas/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pgas {
namespace {

TEST(error, text_starts_with_the_code) {
  const error e(code::peer_lost, "PE 3 on node1 died", 3);
  EXPECT_STREQ(e.what(), "PGAS-E0401: PE 3 on node1 died");
  EXPECT_EQ(e.code(), code::peer_lost);
  EXPECT_EQ(e.pe(), 3);
  EXPECT_EQ(error(code::system, "x").pe(), -1);
}

TEST(error, control_characters_do_not_reach_a_terminal) {
  const error e(code::aborted, "PE 1 aborted the world: \x1b[2J\rall is well\n");
  EXPECT_STREQ(e.what(), "PGAS-E0402: PE 1 aborted the world: \\x1b[2J\\x0dall is well\\x0a");
}

TEST(error, codes_are_printed_with_four_digits) {
  EXPECT_EQ(to_string(code::bootstrap_unavailable), "PGAS-E0101");
  EXPECT_EQ(to_string(code::system), "PGAS-E0701");
}

// The numbers are written out, because they must not change.
TEST(error_table, has_every_code_once_with_cause_and_fix) {
  std::set<int> numbers;
  std::set<std::string_view> names;
  for (const error_info& row : error_table()) {
    EXPECT_TRUE(numbers.insert(static_cast<int>(row.code)).second) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GT(row.cause.size(), 20u) << row.name;
    EXPECT_GT(row.fix.size(), 20u) << row.name;
  }
  const std::set<int> promised = {101, 102, 103, 104, 105, 106, 107, 201, 202, 203, 204, 205, 206, 301, 302,
                                  303, 304, 305, 306, 401, 402, 403, 404, 501, 502, 503, 504, 601, 701};
  for (const int number : promised) EXPECT_TRUE(numbers.contains(number)) << number;
}

std::string_view name_of(pgas::code wanted) {
  for (const error_info& row : error_table())
    if (row.code == wanted) return row.name;
  return "";
}

TEST(error_table, names_match_codes) {
  EXPECT_EQ(name_of(code::peer_lost), "peer_lost");
  EXPECT_EQ(name_of(code::config_value), "config_value");
  EXPECT_EQ(name_of(code::outside_heap), "outside_heap");
}

}  // namespace
}  // namespace pgas
