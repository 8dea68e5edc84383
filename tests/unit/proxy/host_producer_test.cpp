// Threads of the host as producers of commands.
#include "host/proxy/host_producer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "unit/proxy/one_core.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using kind = detail::operation_request::kind;

class host_producers : public ::testing::TestWithParam<variant> {
 protected:
  host_producers() {
    context here;
    here.world_pe_ = 0;
    here.n_world_ = 2;
    here.my_slot_ = reinterpret_cast<std::uintptr_t>(world_[0].slot());
    here.control_ = &world_[0].control();
    detail::routes table;
    table.slots = slots_.data();
    table.control = here.control_;
    table.my_slot = here.my_slot_;
    host_.emplace(world_[0].proxy());
    host_->address(here, table);
  }
  /// An operation of PE 0 on PE 1 that is complete when the call returns.
  [[nodiscard]] detail::operation_request request(kind what, std::uint64_t offset) {
    detail::operation_request result;
    result.what = what;
    result.pe = 1;
    result.to = world_[0].slot() + offset;
    result.count = 1;
    result.complete = result.until_quiet = true;
    return result;
  }
  [[nodiscard]] bool add(std::uint64_t offset, std::uint64_t& old) {
    detail::operation_request result = request(kind::atomic, offset);
    result.how = detail::atomic_update::add;
    result.value[0] = 1;
    result.result = &old;
    return host_->execute_operation(result);
  }

  std::vector<std::int32_t> slots_{0, detail::routes::proxied};
  std::optional<detail::host_producer> host_;  // destroyed after the proxies
  proxied_world world_{2, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(over, host_producers, ::testing::ValuesIn(variants), variant_name);

TEST_P(host_producers, puts_are_complete_on_return_or_after_a_quiet) {
  std::vector<std::byte> data = pattern(100'000, 1);
  for (const bool waits : {true, false}) {
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{3000}, data.size()}) {
      detail::operation_request put = request(kind::put, 64);
      put.from = data.data();
      put.bytes = bytes;
      put.complete = waits;
      ASSERT_TRUE(host_->execute_operation(put));
      if (!waits) {
        ASSERT_TRUE(host_->quiet());
      }
      EXPECT_EQ(std::memcmp(world_[1].slot() + 64, data.data(), bytes), 0) << bytes;
      data[0] ^= std::byte{1};
    }
  }
}

TEST_P(host_producers, many_at_once_get_their_own_answers) {
  constexpr std::size_t threads = 4;
  constexpr std::uint64_t rounds = 200;
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        std::uint64_t old = 0;
        wrong += add(8 * t, old) && old == i ? 0 : 1;
      }
    });
  }
  for (std::thread& each : all) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(host_producers, are_served_by_an_idle_proxy) {
  for (std::uint64_t i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::uint64_t old = 0;
    ASSERT_TRUE(add(0, old));
    EXPECT_EQ(old, i);
  }
}

// If another thread computes, a yield takes a time slice of that thread, and an operation yields several times. 2000
// such operations would take 15 s or more.
TEST_P(host_producers, get_answers_soon_beside_a_thread_that_computes) {
  const one_core here;
  std::atomic<bool> end{false};
  std::thread computes([&] {
    while (!end.load(std::memory_order_relaxed)) {
    }
  });
  constexpr std::uint64_t most = 2000;
  std::uint64_t rounds = 0;
  for (const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(8);
       rounds < most && std::chrono::steady_clock::now() < limit; ++rounds) {
    std::uint64_t old = 0;
    ASSERT_TRUE(add(0, old));
    ASSERT_EQ(old, rounds);
  }
  end.store(true);
  computes.join();
  EXPECT_EQ(rounds, most);
}

TEST_P(host_producers, give_up_when_the_world_has_failed) {
  world_.expect_failures();
  std::atomic_ref(world_[0].control().abort).store(1u);
  for (auto& each : {0, 1}) world_[each].proxy().stop(std::chrono::milliseconds(100));
  std::uint64_t old = 0;
  EXPECT_FALSE(add(0, old));
}

}  // namespace
}  // namespace pgas::testing
