#include "map/map_picture.hpp"

#include <gtest/gtest.h>

#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

TEST(map_picture, markup_and_control_characters_do_not_come_through) {
  EXPECT_EQ(xml_text("a<b>&\"c\x01\xff"), "a&lt;b&gt;&amp;&quot;c??");
}

TEST(map_picture, every_pair_has_a_square_and_the_outlier_a_frame) {
  const std::string svg = svg_of(wild_world(6));
  EXPECT_EQ(count(svg, "<title>"), 60U);
  EXPECT_EQ(count(svg, "<title>PE 1 to PE 2: 1.00 GB/s</title>"), 2U);
  EXPECT_EQ(count(svg, "stroke=\"#d1102a\""), 2U);
}

TEST(map_picture, the_best_is_darkest_and_equals_look_alike) {
  const world_map world = synthetic_world(3, 3);
  const std::string equal = heat_panel(synthetic(3, [](auto, auto) { return 5; }), {}, 300, 300);
  EXPECT_EQ(count(equal, "fill=\"rgb(33,113,181)\""), 6U + 1U);  // six squares, the end of the scale
  const std::string best =
      heat_panel(synthetic(
                     3, [](auto from, auto to) { return from == 0 && to == 1 ? 1 : 50; }, "latency"),
                 {}, 300, 300);
  EXPECT_EQ(count(best, "fill=\"rgb(33,113,181)\""), 1U + 1U);
  EXPECT_EQ(count(best, "fill=\"rgb(247,251,255)\""), 5U + 1U);
}

TEST(map_picture, a_page_needs_nothing_from_elsewhere) {
  const world_map world = wild_world(6);
  const map_comparison against = compare(world, world, 0.1);
  const std::string page = html_of(world, &against);
  EXPECT_EQ(count(page, "src="), 0U);
  EXPECT_EQ(count(page, "href="), 0U);
  EXPECT_EQ(count(page, "http"), 2U) << "the names of two languages of XML";
  EXPECT_NE(page.find("PE 1 -&gt; PE 2"), std::string::npos);
}

}  // namespace
}  // namespace pgas::perf
