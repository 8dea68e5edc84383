// Random operations of all PEs, compared with a model of the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/tsan.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::command_kind;

constexpr int n = 3;
constexpr std::size_t region = 300'000;  ///< the bytes that each PE owns in each slot
constexpr std::uint64_t shared_words = 8;
constexpr std::uint64_t regions_at = 8 * shared_words;

#if defined(PGAS_TSAN)
constexpr int operations = 1000;
#else
constexpr int operations = 3000;  ///< the number of operations of each PE in each variant of the test
#endif

/// The operations of one PE. Only this PE writes its region of each slot, so the content is known. A fence or a quiet
/// precedes every operation on bytes of an earlier operation.
class random_pe {
 public:
  random_pe(proxied_world& world, int me, unsigned seed)
      : me_(me), ring_(world[me].produce()), random_(seed), added_(shared_words) {
    for (int pe = 0; pe < n; ++pe) model_.emplace_back(region);
    dirty_.resize(n);
  }

  void run() {
    for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) step();
    ring_.quiet();
    for (int pe = 0; pe < n; ++pe) {
      std::vector<std::byte> found(region);
      ring_.call(get(pe, found.data(), base(), region));
      EXPECT_EQ(found, model_[static_cast<std::size_t>(pe)]) << "region of PE " << me_ << " on PE " << pe;
    }
  }
  [[nodiscard]] std::uint64_t added(std::uint64_t word) const { return added_[word]; }

 private:
  struct range {
    std::size_t from, to;
  };

  [[nodiscard]] std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  [[nodiscard]] std::uint64_t base() const { return regions_at + static_cast<std::uint64_t>(me_) * region; }
  [[nodiscard]] std::size_t any_size() {
    switch (below(100)) {
      case 0: return below(200'000) + 1;
      case 1:
      case 2: return below(20'000) + 1;
      default: return below(below(4) == 0 ? 500 : 24) + 1;
    }
  }

  /// Orders the next operation after earlier operations on the same bytes.
  void order(int pe, range mine) {
    auto& ranges = dirty_[static_cast<std::size_t>(pe)];
    for (const range& each : ranges) {
      if (each.from >= mine.to || mine.from >= each.to) continue;
      if (below(4) == 0)
        ring_.quiet(below(2) == 0 ? pe : -1);
      else
        ring_.push(make(command_kind::fence, pe));
      ranges.clear();
      break;
    }
    ranges.push_back(mine);
    if (ranges.size() > 50) {
      ring_.push(make(command_kind::fence, pe));
      ranges.clear();
    }
  }

  void step() {
    const int pe = static_cast<int>(below(n));
    std::vector<std::byte>& model = model_[static_cast<std::size_t>(pe)];
    const std::size_t bytes = any_size();
    const std::size_t at = below(region - bytes);
    switch (below(10)) {
      case 0:
      case 1: {
        order(pe, {at, at + bytes});
        std::vector<std::byte> data = pattern(bytes, static_cast<unsigned>(random_()));
        std::memcpy(model.data() + at, data.data(), bytes);
        ring_.call(put(pe, base() + at, data.data(), bytes));
        break;
      }
      case 2:
      case 3: {
        const std::size_t few = bytes % 16 + 1;
        order(pe, {at, at + few});
        const std::uint64_t value[2] = {random_(), random_()};
        std::memcpy(model.data() + at, value, few);
        ring_.push(put_value(pe, base() + at, value[0], few, value[1]));
        break;
      }
      case 4: {
        order(pe, {at, at + bytes});
        std::vector<std::byte> found(bytes);
        ring_.call(get(pe, found.data(), base() + at, bytes));
        EXPECT_EQ(std::memcmp(found.data(), model.data() + at, bytes), 0) << "get of " << bytes;
        break;
      }
      case 5: {
        const std::size_t few = bytes % 16 + 1;
        order(pe, {at, at + few});
        const producer::values found = ring_.call(get_value(pe, base() + at, few));
        const std::uint64_t words[2] = {found.low, found.high};
        EXPECT_EQ(std::memcmp(words, model.data() + at, few), 0) << "value of " << few;
        break;
      }
      case 6: {
        const std::uint64_t word = below(shared_words - 1);
        const std::uint64_t value = random_();
        added_[word] += value;
        if (below(2) == 0)
          ring_.push(add(0, 8 * word, value));
        else
          static_cast<void>(ring_.call(add(0, 8 * word, value)));
        break;
      }
      case 7: {
        const std::size_t signaled = bytes < 100'000 ? bytes : 100;
        order(pe, {at, at + signaled});
        std::vector<std::byte> data = pattern(signaled, static_cast<unsigned>(random_()));
        std::memcpy(model.data() + at, data.data(), signaled);
        ++added_[shared_words - 1];
        std::uint64_t value = 0;
        std::memcpy(&value, data.data(), std::min(signaled, sizeof value));
        if (signaled <= sizeof value && below(2) == 0)
          ring_.push(put_value_signal(pe, base() + at, value, signaled, 8 * (shared_words - 1), 1));
        else
          ring_.call(put_signal(pe, base() + at, data.data(), signaled, 8 * (shared_words - 1), 1));
        break;
      }
      case 8: {
        const bool puts = below(2) == 0;
        const std::size_t span = below(50) == 0 ? below(30'000) + 1 : below(800) + 1;
        const std::size_t start = below(region - span);
        order(pe, {start, start + span});
        std::vector<std::byte> data = pattern(span, static_cast<unsigned>(random_()));
        std::vector<std::byte> expected = data;
        std::vector<detail::listed_block> blocks;
        for (std::size_t i = 0; i < span; ++i) {
          const std::size_t size = std::min(below(5) == 0 ? below(20'000) : below(200), span - i);
          blocks.push_back({base() + start + i, reinterpret_cast<std::uintptr_t>(data.data() + i), size});
          std::memcpy((puts ? model.data() + start : expected.data()) + i,
                      (puts ? data.data() : model.data() + start) + i, size);
          i += size;  // one byte between two blocks is not copied
        }
        std::shuffle(blocks.begin(), blocks.end(), random_);
        ring_.call(list(puts ? command_kind::put_list : command_kind::get_list, pe, blocks));
        ring_.quiet(pe);  // the data is in use until the list is complete
        EXPECT_EQ(data, expected) << "list of " << blocks.size();
        break;
      }
      default: {
        const std::size_t block = below(30) + 1;
        const std::size_t step = block + below(40);
        const std::size_t count = below(60) + 1;
        const std::size_t span = step * (count - 1) + block;
        const std::size_t start = below(region - span);
        order(pe, {start, start + span});
        std::vector<std::byte> data = pattern(block * count, static_cast<unsigned>(random_()));
        const bool puts = below(2) == 0;
        for (std::size_t i = 0; puts && i < count; ++i)
          std::memcpy(model.data() + start + i * step, data.data() + i * block, block);
        const auto kind = puts ? command_kind::put_strided : command_kind::get_strided;
        ring_.call(strided(kind, pe, base() + start, static_cast<std::int64_t>(step), data.data(),
                           static_cast<std::int64_t>(block), block, count));
        for (std::size_t i = 0; !puts && i < count; ++i)
          EXPECT_EQ(std::memcmp(data.data() + i * block, model.data() + start + i * step, block), 0) << "block " << i;
      }
    }
  }

  const int me_;
  const producer ring_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::byte>> model_;  ///< by PE
  std::vector<std::vector<range>> dirty_;      ///< for each PE, the ranges written since the last fence
  std::vector<std::uint64_t> added_;
};

class proxy_random : public ::testing::TestWithParam<variant> {};
INSTANTIATE_TEST_SUITE_P(over, proxy_random, ::testing::ValuesIn(variants), variant_name);

TEST_P(proxy_random, operations_leave_what_the_model_says) {
  proxied_world world(n, GetParam());
  std::vector<std::unique_ptr<random_pe>> pes;
  for (int pe = 0; pe < n; ++pe) pes.push_back(std::make_unique<random_pe>(world, pe, 77 + static_cast<unsigned>(pe)));
  std::vector<std::thread> threads;
  for (const auto& each : pes) threads.emplace_back([&each] { each->run(); });
  for (std::thread& each : threads) each.join();
  for (std::uint64_t word = 0; word < shared_words; ++word) {
    std::uint64_t expected = 0;
    for (const auto& each : pes) expected += each->added(word);
    std::uint64_t found = 0;
    for (int pe = 0; pe < n; ++pe) found += detail::load_relaxed(&world[pe].word(8 * word));
    EXPECT_EQ(found, expected) << word;
  }
  if (GetParam().seed != 0) {
    EXPECT_GT(world[0].proxy().statistics().early_messages, 0u) << "the network was not as bad as it should be";
  }
}

}  // namespace
}  // namespace pgas::testing
