// The allocator compared with a simple model: a list of the allocations.
#include "host/heap/offset_allocator.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <vector>

namespace pgas::unit_test {
namespace {

using allocator = detail::offset_allocator;

TEST(offset_allocator, rounds_as_documented) {
  EXPECT_EQ(allocator::rounded(1, 1).bytes, 16u);
  EXPECT_EQ(allocator::rounded(1, 1).alignment, 16u);
  EXPECT_EQ(allocator::rounded(17, 64).bytes, 32u);
  EXPECT_EQ(allocator::rounded(17, 64).alignment, 64u);
  EXPECT_EQ(allocator::rounded(511, 16).alignment, 16u);
  EXPECT_EQ(allocator::rounded(512, 16).alignment, 512u);
  EXPECT_EQ(allocator::rounded(513, 1024).bytes, 1024u);
  EXPECT_EQ(allocator::rounded(513, 1024).alignment, 1024u);
  EXPECT_EQ(allocator::rounded((2u << 20) - 1, 16).alignment, 512u);
  EXPECT_EQ(allocator::rounded(2u << 20, 16).alignment, 2u << 20);
  const auto largest = allocator::rounded(allocator::largest_request, 16);
  EXPECT_GE(largest.bytes, allocator::largest_request);
}

TEST(offset_allocator, an_empty_space_holds_nothing) {
  allocator space;
  EXPECT_FALSE(space.allocate({16, 16}));
  EXPECT_EQ(space.largest_free(), 0u);
  EXPECT_EQ(space.growth_needed({100 * 16, 512}), 1600u);
  EXPECT_FALSE(space.free(0));
  EXPECT_FALSE(space.allocation_around(0));
}

TEST(offset_allocator, starts_at_zero_and_takes_the_best_fit) {
  allocator space;
  space.grow(4096);
  const auto a = space.allocate({1024, 16});
  const auto b = space.allocate({512, 16});
  const auto c = space.allocate({1024, 16});
  const auto d = space.allocate({256, 16});
  ASSERT_TRUE(a && b && c && d);
  EXPECT_EQ(*a, 0u);
  EXPECT_TRUE(space.free(*a));
  EXPECT_TRUE(space.free(*b));
  EXPECT_EQ(space.find({1536, 16}), 0u) << "neighbours are joined, and fit better than the end of 1280 does not at all";
  EXPECT_EQ(space.find({1280, 16}), 2816u) << "the end fits exactly";
  EXPECT_EQ(space.find({1296, 16}), 0u);
}

TEST(offset_allocator, growth_counts_the_free_end_and_the_alignment) {
  allocator space;
  space.grow(1024);
  ASSERT_TRUE(space.allocate({512, 512}));
  EXPECT_EQ(space.growth_needed({512, 512}), 0u);
  EXPECT_EQ(space.growth_needed({1024, 512}), 512u);
  EXPECT_EQ(space.growth_needed({1024, 1024}), 1024u);
  space.grow(512);
  EXPECT_EQ(space.allocate({1024, 512}), 512u);
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(space.growth_needed({most - 15, 16}), most) << "saturates";
  EXPECT_GE(space.growth_needed(allocator::rounded(allocator::largest_request, 16)), allocator::largest_request)
      << "does not wrap";
}

TEST(offset_allocator, many_misaligned_blocks_do_not_hide_one_that_fits) {
  allocator space;
  space.grow(std::size_t{16} << 20);
  std::vector<std::size_t> offsets;
  // Blocks of 512 bytes at odd multiples of 16, none of which can hold an aligned range of 512 bytes, and one block
  // that can hold such a range.
  ASSERT_TRUE(space.allocate({16, 16}));
  for (int i = 0; i < 100; ++i) {
    offsets.push_back(*space.allocate({512, 16}));
    ASSERT_TRUE(space.allocate({16, 16}));
  }
  const std::size_t good = *space.allocate({512, 512});
  while (space.largest_free() > 0) ASSERT_TRUE(space.allocate({space.largest_free(), 16}));
  for (const std::size_t offset : offsets)
    if (offset % 512 != 0) {
      ASSERT_TRUE(space.free(offset));
    }
  EXPECT_FALSE(space.find({512, 512}));
  EXPECT_TRUE(space.free(good));
  EXPECT_EQ(space.find({512, 512}), good);
}

/// A model that knows every free byte, and checks every answer with the list of live ranges.
class model {
 public:
  void grow(std::size_t bytes) { size_ += bytes; }
  bool place(std::size_t offset, std::size_t bytes) {
    if (offset + bytes > size_) return false;
    const auto after = live_.lower_bound(offset);
    if (after != live_.end() && after->first < offset + bytes) return false;
    if (after != live_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second > offset) return false;
    }
    live_.emplace(offset, bytes);
    return true;
  }
  [[nodiscard]] bool could_place(allocator::request wanted) const {
    std::size_t end_of_last = 0;
    const auto fits = [&](std::size_t until) {
      const std::size_t start = (end_of_last + wanted.alignment - 1) / wanted.alignment * wanted.alignment;
      return start + wanted.bytes <= until;
    };
    for (const auto& [offset, bytes] : live_) {
      if (fits(offset)) return true;
      end_of_last = offset + bytes;
    }
    return fits(size_);
  }
  [[nodiscard]] std::size_t largest_gap() const {
    std::size_t end_of_last = 0;
    std::size_t largest = 0;
    for (const auto& [offset, bytes] : live_) {
      largest = std::max(largest, offset - end_of_last);
      end_of_last = offset + bytes;
    }
    return std::max(largest, size_ - end_of_last);
  }
  [[nodiscard]] std::size_t used() const {
    std::size_t sum = 0;
    for (const auto& [offset, bytes] : live_) sum += bytes;
    return sum;
  }
  void erase(std::size_t offset) { live_.erase(offset); }
  [[nodiscard]] const std::map<std::size_t, std::size_t>& live() const { return live_; }

 private:
  std::size_t size_ = 0;
  std::map<std::size_t, std::size_t> live_;
};

class random_sequences : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(seeds, random_sequences, testing::Range(0u, 20u));

TEST_P(random_sequences, agree_with_the_model_and_with_a_twin) {
  std::minstd_rand random(GetParam());
  allocator space;
  allocator twin;  // the same calls on another PE
  model truth;
  for (int step = 0; step < 3000; ++step) {
    const auto choice = random() % 100;
    if (choice < 2 || step == 0) {
      const std::size_t bytes = 4096 * (1 + random() % 64);
      space.grow(bytes);
      twin.grow(bytes);
      truth.grow(bytes);
    } else if (choice < 55) {
      const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 60'000 : 900);
      const std::size_t alignment = std::size_t{1} << (random() % 14);
      const auto wanted = allocator::rounded(bytes, alignment);
      const auto found = space.find(wanted);
      const auto offset = space.allocate(wanted);
      ASSERT_EQ(found, offset);
      ASSERT_EQ(twin.allocate(wanted), offset);
      if (!offset) {
        ASSERT_FALSE(truth.could_place(wanted)) << "step " << step;
        const std::size_t needed = space.growth_needed(wanted);
        ASSERT_GT(needed, 0u);
        ASSERT_LE(needed, wanted.bytes + wanted.alignment);
      } else {
        ASSERT_EQ(*offset % wanted.alignment, 0u);
        ASSERT_TRUE(truth.place(*offset, wanted.bytes)) << "step " << step << " overlaps at " << *offset;
      }
    } else if (!truth.live().empty()) {
      auto victim = truth.live().begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random() % truth.live().size()));
      const auto [offset, bytes] = *victim;
      ASSERT_EQ(space.allocation_around(offset + bytes - 1), offset);
      ASSERT_FALSE(space.free(offset + 8));
      ASSERT_TRUE(space.free(offset));
      ASSERT_TRUE(twin.free(offset));
      ASSERT_FALSE(space.free(offset)) << "freed twice";
      ASSERT_FALSE(space.allocation_around(offset));
      truth.erase(offset);
    }
    ASSERT_EQ(space.used(), truth.used());
    ASSERT_EQ(space.allocations(), truth.live().size());
    ASSERT_EQ(space.largest_free(), truth.largest_gap());
  }
  while (!truth.live().empty()) {
    ASSERT_TRUE(space.free(truth.live().begin()->first));
    truth.erase(truth.live().begin()->first);
  }
  EXPECT_EQ(space.largest_free(), space.size()) << "everything is joined again";
  EXPECT_EQ(space.used(), 0u);
}

}  // namespace
}  // namespace pgas::unit_test
