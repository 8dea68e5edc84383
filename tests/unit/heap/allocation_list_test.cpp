// Finds the allocation around an offset.
#include "host/heap/allocation_list.hpp"

#include <gtest/gtest.h>

namespace {

using namespace pgas::detail;

TEST(allocation_list, finds_the_allocation_that_an_offset_lies_in) {
  allocation_list list;
  list.add(0, 100);
  list.add(512, 64);
  list.add(1024, 16);
  EXPECT_EQ(list.around(99)->number, 0u);
  EXPECT_FALSE(list.around(100));
  EXPECT_FALSE(list.around(511));
  EXPECT_EQ(list.around(512)->number, 1u);
  EXPECT_EQ(list.around(575)->number, 1u);
  EXPECT_FALSE(list.around(576));
  EXPECT_EQ(list.around(1039)->offset, 1024u);
  EXPECT_FALSE(list.around(1u << 20));
}

TEST(allocation_list, numbers_are_not_used_again) {
  allocation_list list;
  list.add(0, 16);
  list.add(16, 16);
  list.remove(16);
  EXPECT_FALSE(list.around(16));
  list.add(16, 8);
  EXPECT_EQ(list.around(16)->number, 2u);
  EXPECT_FALSE(list.around(24));
  list.clear();
  EXPECT_FALSE(list.around(0));
}

TEST(allocation_list, says_where_an_offset_is) {
  EXPECT_EQ(describe({0, 0, 100}, 8), "of the pgas library");
  EXPECT_EQ(describe({3, 64, 4096}, 64), "the start of allocation 3 of 4096 bytes");
  EXPECT_EQ(describe({3, 64, 4096}, 72), "8 bytes into allocation 3 of 4096 bytes");
}

}  // namespace
