#include "common/slot_map.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace pgas::testing {
namespace {

using map = detail::slot_map<std::string>;

TEST(slot_map, values_are_found_by_their_keys_until_released) {
  map values;
  std::vector<map::key> keys;
  for (int i = 0; i < 100; ++i) {
    keys.push_back(values.take());
    values[keys.back()] = std::to_string(i);
  }
  EXPECT_EQ(std::set<map::key>(keys.begin(), keys.end()).size(), 100u);
  EXPECT_EQ(values.in_use(), 100u);
  for (std::size_t i = 0; i < keys.size(); i += 2) values.release(keys[i]);
  EXPECT_EQ(values.in_use(), 50u);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string* const found = values.find(keys[i]);
    ASSERT_EQ(found != nullptr, i % 2 == 1) << i;
    if (found != nullptr) {
      EXPECT_EQ(*found, std::to_string(i));
    }
  }
}

TEST(slot_map, a_key_of_an_earlier_user_is_not_found) {
  map values;
  const map::key first = values.take();
  values.release(first);
  std::set<map::key> all{first};
  for (int i = 0; i < 1000; ++i) {
    const map::key next = values.take();
    EXPECT_TRUE(all.insert(next).second);
    EXPECT_EQ(values.find(first), nullptr);
    EXPECT_NE(values.find(next), nullptr);
    values.release(next);
    EXPECT_EQ(values.find(next), nullptr);
  }
}

TEST(slot_map, keys_from_outside_are_refused) {
  map values;
  EXPECT_EQ(values.find(map::none), nullptr);
  const map::key key = values.take();
  EXPECT_NE(key, map::none);
  EXPECT_EQ(key >> 63, 0u) << "left to the user";
  for (const map::key wrong : {map::none, key + 1, key + (map::key{1} << 32), key + (map::key{2} << 32), ~map::key{0}})
    EXPECT_EQ(values.find(wrong), nullptr) << wrong;
  values.release(key);
  EXPECT_EQ(values.find(key + (map::key{1} << 32)), nullptr) << "the generation of the free slot";
}

TEST(slot_map, the_slot_released_last_is_taken_first_with_its_value) {
  map values;
  const map::key first = values.take();
  const map::key second = values.take();
  values[first] = "first";
  values[second] = "second";
  values.release(second);
  values.release(first);
  EXPECT_EQ(values[values.take()], "first");
  EXPECT_EQ(values[values.take()], "second");
  EXPECT_EQ(values[values.take()], "");
}

}  // namespace
}  // namespace pgas::testing
