#include "map/map_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "map/figure_text.hpp"
#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

world_map world_of(std::size_t n) {
  world_map world = synthetic_world(n, 4);
  for (const char* in : {"alone", "shift", "incast"})
    world.maps.push_back(synthetic(
        n, [](auto from, auto to) { return to == 3 ? 812.5 : about(123456, from, to); }, "bandwidth", in));
  world.maps.push_back(synthetic(
      n, [](auto, auto) { return 0.0031; }, "latency"));
  world.all_pairs = std::vector<double>(n, 12);
  world.skipped_steps = 3;
  world.wrong = 1;
  return world;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(map_text, figures_have_at_most_four_characters) {
  for (const double value : {0.0, 0.0004, 0.003, 0.0994, 0.0996, 0.5, 9.994, 9.996, 99.94, 99.96, 999.4, 999.6, 9949.0,
                             9951.0, 123456.0, 999600.0, 5e6, 7.5e8, 4e9}) {
    EXPECT_LE(figure_text(value).size(), 4U) << value << " is " << figure_text(value);
    EXPECT_NE(figure_text(value), "-");
  }
  EXPECT_EQ(figure_text(0.003), ".003");
  EXPECT_EQ(figure_text(4.1), "4.10");
  EXPECT_EQ(figure_text(1234), "1.2k");
  EXPECT_EQ(figure_text(unmeasured), "-");
}

TEST(map_text, no_line_is_wider_than_asked) {
  for (const std::size_t n : {1U, 2U, 4U, 13U, 16U, 17U, 40U})
    for (const std::size_t width : {80U, 100U})
      for (const bool matrices : {false, true})
        EXPECT_LE(longest_line(text_of(world_of(n), {width, false, matrices})), width) << n << " PEs";
}

TEST(map_text, every_figure_is_in_a_matrix_of_few_pes_and_many_pes_have_a_line_each) {
  world_map few = synthetic_world(3, 3);
  few.maps = {synthetic(
      3, [](auto from, auto to) { return 100.0 + 10.0 * static_cast<double>(from) + static_cast<double>(to); })};
  const std::string text = text_of(few, {});
  for (const char* figure : {" 101", " 102", " 110", " 112", " 120", " 121"})
    EXPECT_NE(text.find(figure), std::string::npos) << figure << " in\n" << text;
  const std::string many = text_of(world_of(20), {});
  EXPECT_EQ(many.find("from\\to"), std::string::npos);
  EXPECT_NE(many.find("\n   19 host4"), std::string::npos) << many;
  EXPECT_NE(text_of(world_of(20), {100, false, true}).find("from\\to"), std::string::npos);
}

TEST(map_text, complaints_and_outliers_are_said) {
  const std::string text = text_of(world_of(8), {});
  EXPECT_NE(text.find("1 words of data were WRONG"), std::string::npos) << text;
  EXPECT_NE(text.find("3 of 3 steps had no time"), std::string::npos) << text;
  EXPECT_NE(text.find("everything into PE 3 is slow"), std::string::npos) << text;
}

TEST(map_text, colour_only_where_asked) {
  EXPECT_EQ(text_of(world_of(8), {100, false, false}).find('\033'), std::string::npos);
  EXPECT_NE(text_of(world_of(8), {100, true, false}).find('\033'), std::string::npos);
}

TEST(map_text, a_comparison_names_the_slower_pairs_and_counts_the_rest) {
  const world_map before = world_of(8);
  world_map now = before;
  for (auto& row : now.maps[0].figures)
    for (double& figure : row) figure /= 2;
  const std::string text = text_of(compare(before, now, 0.1), {80, false, false});
  EXPECT_NE(text.find("and 36 more pairs"), std::string::npos) << text;
  EXPECT_NE(text.find("56 of 224 figures are slower by more than 10 %"), std::string::npos) << text;
  EXPECT_LE(longest_line(text), 80U);
}

}  // namespace
}  // namespace pgas::perf
