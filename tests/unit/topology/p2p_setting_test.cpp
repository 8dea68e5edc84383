// The sets of PGAS_P2P: the allowed values, and the check that all PEs have the same value.
#include "host/topology/p2p_setting.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::parse_p2p_sets;

TEST(p2p_setting, all_pes_are_in_one_set_unless_told_otherwise) {
  EXPECT_EQ(parse_p2p_sets("all", 3), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(parse_p2p_sets("all", 1), (std::vector<int>{0}));
}

/// For each PE, the PEs that are in the same set.
std::vector<std::vector<int>> sets(const std::string& direct, int n) {
  const std::vector<int> number = parse_p2p_sets(direct, n);
  std::vector<std::vector<int>> all;
  for (const int item : number) {
    std::vector<int> members;
    for (int pe = 0; pe < n; ++pe)
      if (number[static_cast<std::size_t>(pe)] == item) members.push_back(pe);
    all.push_back(members);
  }
  return all;
}

TEST(p2p_setting, zero_takes_all_pes_apart) { EXPECT_EQ(sets("0", 3), (std::vector<std::vector<int>>{{0}, {1}, {2}})); }

TEST(p2p_setting, lists_name_the_sets_and_the_rest_is_alone) {
  EXPECT_EQ(sets("0,2/1,3", 5), (std::vector<std::vector<int>>{{0, 2}, {1, 3}, {0, 2}, {1, 3}, {4}}));
  EXPECT_EQ(sets("3,1", 4), (std::vector<std::vector<int>>{{0}, {1, 3}, {2}, {1, 3}}));
}

TEST(p2p_setting, pes_that_the_job_does_not_have_are_refused) {
  for (const char* direct : {"0,5", "0,2/1,3", "2"}) {
    try {
      static_cast<void>(parse_p2p_sets(direct, 2, true));
      ADD_FAILURE() << direct;
    } catch (const error& refused) {
      const std::string said = refused.what();
      EXPECT_EQ(refused.code(), code::config_value) << direct;
      EXPECT_NE(said.find("PGAS_P2P=" + std::string(direct)), std::string::npos) << said;
      EXPECT_NE(said.find("PEs are 0 to 1"), std::string::npos) << said;
    }
  }
  EXPECT_EQ(parse_p2p_sets("0,2/1,3", 1, true).size(), 1u) << "nobody is there to be apart from";
  EXPECT_EQ(sets("0,2/1,3", 2), (std::vector<std::vector<int>>{{0}, {1}})) << "a world of some PEs of the job";
}

TEST(p2p_setting, nonsense_is_refused_with_what_is_allowed) {
  for (const char* nonsense : {"", "none", "0,", "/1", "0,,1", "-1", "0;1", "1,1", "0/0", "0 1", "99999999999"}) {
    try {
      static_cast<void>(parse_p2p_sets(nonsense, 4));
      ADD_FAILURE() << nonsense;
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), code::config_value) << nonsense;
      EXPECT_NE(std::string(refused.what()).find("0,2/1,3"), std::string::npos) << refused.what();
    }
  }
}

TEST(p2p_setting, a_setting_that_differs_is_refused_on_all_pes) {
  const auto outcomes = run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange, quick());
    static_cast<void>(detail::agree_on_p2p_sets(pe.control_plane, pe.control_plane.my_pe() == 2 ? "0" : "all"));
  });
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->code(), code::config_value);
    EXPECT_EQ(outcome->pe(), 2);
  }
}

}  // namespace
}  // namespace pgas::unit_test
