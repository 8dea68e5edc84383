#include "map/map_document.hpp"

#include <gtest/gtest.h>

#include "pgas/error.hpp"
#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

world_map full_world() {
  world_map world = synthetic_world(5, 3);
  world.pes[1].host = "a \"quoted\" \\ name";
  world.peaks[0][1] = 450;
  world.links[0][1] = "NVLink";
  world.maps = {synthetic(5, [](auto from, auto to) { return about(10, from, to); }),
                synthetic(
                    5, [](auto, auto) { return 0.003; }, "atomics", "incast")};
  world.maps[0].figures[2][4] = unmeasured;
  world.all_pairs = {1, 2, 3, 4, 5};
  world.wrong = 3;
  world.skipped_steps = 2;
  world.measured_steps = 7;
  world.seconds = 1.5;
  world.note = "a note";
  return world;
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

TEST(map_document, what_is_read_is_what_was_written) {
  const world_map world = full_world();
  const world_map read = read_document(document_of(world), "test");
  EXPECT_EQ(document_of(read), document_of(world));
  EXPECT_EQ(read.pes[1].host, world.pes[1].host);
  EXPECT_EQ(read.kinds, world.kinds);
  EXPECT_EQ(read.note, "a note");
  EXPECT_EQ(read.all_pairs, world.all_pairs);
  ASSERT_EQ(read.maps.size(), 2U);
  EXPECT_FALSE(read.maps[1].more_is_better);
  for (std::size_t from = 0; from < 5; ++from)
    for (std::size_t to = 0; to < 5; ++to)
      EXPECT_TRUE(same(read.maps[0].figures[from][to], world.maps[0].figures[from][to])) << from << to;
}

TEST(map_document, other_files_are_refused_by_name) {
  const auto message = [](const std::string& text) {
    try {
      static_cast<void>(read_document(text, "some.json"));
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), code::invalid_argument);
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  for (const char* text : {"", "{", "[]", "{}", "null", R"({"format": "pgas-perf map 2"})"})
    EXPECT_NE(message(text).find("some.json is no map"), std::string::npos) << text << ": " << message(text);
  const std::string whole = document_of(full_world());
  EXPECT_NE(message(whole.substr(0, whole.size() / 2)).find("some.json"), std::string::npos);
  world_map lopsided = full_world();
  lopsided.maps[0].figures.pop_back();
  EXPECT_NE(message(document_of(lopsided)).find("line for each PE"), std::string::npos);
  EXPECT_THROW(static_cast<void>(load_map("/no/such/file")), error);
}

TEST(map_document, a_comparison_and_outliers_are_in_it) {
  world_map world = synthetic_world(5, 5);
  world.maps = {synthetic(5, [](auto from, auto to) { return from == 0 && to == 1 ? 1 : about(10, from, to); })};
  const map_comparison against = compare(world, world, 0.25);
  const std::string text = document_of(world, &against);
  EXPECT_NE(text.find(R"("tolerance_percent":25.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("PE 0 -> PE 1: 1.00 GB/s"), std::string::npos) << text;
  EXPECT_EQ(document_of(world).find("comparison"), std::string::npos);
}

TEST(map_document, what_tables_say_is_in_it) {
  const std::string text = document_of(full_world());
  EXPECT_NE(text.find(R"("title": "5 PEs on 3 hosts, host memory; puts of 4M bytes")"), std::string::npos) << text;
  EXPECT_NE(text.find("3 words of data were WRONG. 2 of 9 steps had no time"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("pattern":"all","route":"out of each PE","pairs":5,"lowest":1.0,"median":3.0,"highest":5.0)"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace pgas::perf
