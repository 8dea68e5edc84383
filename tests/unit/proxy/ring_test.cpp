#include "host/proxy/ring.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "unit/proxy/producer.hpp"

namespace pgas::testing {
namespace {

TEST(ring, commands_come_in_order_lap_after_lap) {
  detail::host_ring memory(2, 1);
  detail::ring& ring = memory.consumer();
  const producer mine(memory.producers());
  EXPECT_EQ(ring.next(), nullptr);
  for (std::uint64_t i = 0; i < 40; i += 4) {
    for (std::uint64_t k = 0; k < 4; ++k) mine.push(put_value(0, i + k, 0));
    for (std::uint64_t k = 0; k < 4; ++k) {
      const detail::command* const due = ring.next();
      ASSERT_NE(due, nullptr);
      EXPECT_EQ(due->offset, i + k);
      ring.take();
    }
    EXPECT_EQ(ring.next(), nullptr) << "the slots hold commands of the lap before";
    EXPECT_EQ(load_acquire(mine.ring().progress->taken), i);
    ring.publish_taken();
    EXPECT_EQ(load_acquire(mine.ring().progress->taken), i + 4);
  }
}

TEST(ring, producers_wait_while_it_is_full) {
  detail::host_ring memory(2, 1);
  detail::ring& ring = memory.consumer();
  const producer mine(memory.producers());
  for (int i = 0; i < 4; ++i) mine.push(put_value(0, 0, 0));
  std::atomic<bool> through = false;
  std::thread fifth([&] {
    mine.push(put_value(0, 99, 0));
    through = true;
  });
  ASSERT_NE(ring.next(), nullptr);
  ring.take();
  EXPECT_FALSE(through) << "before the slot was freed";
  ring.publish_taken();
  fifth.join();
  for (int i = 0; i < 3; ++i) ring.take();
  ASSERT_NE(ring.next(), nullptr);
  EXPECT_EQ(ring.next()->offset, 99u);
}

TEST(ring, answers_go_to_their_cells_and_to_no_others) {
  detail::host_ring memory(2, 1);
  detail::ring& ring = memory.consumer();
  const producer mine(memory.producers());
  for (std::uint64_t lap = 0; lap < 3; ++lap) {
    const producer::ticket a = mine.take_ticket();
    const producer::ticket b = mine.take_ticket();
    EXPECT_NE(a.cell, b.cell);
    EXPECT_TRUE(ring.give_answer(b.cell, 10 + lap, 20));
    EXPECT_FALSE(mine.is_there(a));
    EXPECT_EQ(mine.wait(b).low, 10 + lap);
    EXPECT_TRUE(ring.give_answer(a.cell, 7, 8));
    EXPECT_EQ(mine.wait(a).high, 8u);
  }
  EXPECT_FALSE(ring.give_answer(2, 0, 0)) << "there are two";
  EXPECT_FALSE(ring.give_answer(detail::no_answer, 0, 0));
}

TEST(ring, earlier_writes_of_a_producer_are_visible_with_its_command) {
  constexpr std::uint64_t each = 5000;
  constexpr std::uint64_t threads = 4;
  detail::host_ring memory(4, 0);
  detail::ring& ring = memory.consumer();
  std::vector<std::uint64_t> data(each * threads);
  std::vector<std::thread> producers;
  for (std::uint64_t t = 0; t < threads; ++t) {
    producers.emplace_back([&, t] {
      const producer mine(memory.producers());
      for (std::uint64_t i = t * each; i < (t + 1) * each; ++i) {
        data[i] = i + 1;
        mine.push(put_value(0, i, 0));
      }
    });
  }
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < each * threads; ++i) {
    wait_for("a command", [&] { return ring.next() != nullptr; });
    const std::uint64_t which = ring.next()->offset;
    ASSERT_EQ(data[which], which + 1);
    sum += which;
    ring.take();
    ring.publish_taken();
  }
  for (std::thread& each_thread : producers) each_thread.join();
  EXPECT_EQ(sum, each * threads * (each * threads - 1) / 2) << "each of them once";
}

TEST(ring, that_is_complete_is_asked_once_and_not_again_before_something_is_handed_over) {
  detail::host_ring memory(2, 1);
  detail::routes table;
  table.ring = memory.producers();
  table.ring.heads->next = 3;
  memory.consumer().publish_completed(3);
  EXPECT_TRUE(detail::drain({&table}, detail::operation::fence, -1));
  table.ring.progress = nullptr;  // a GPU would read this word over PCIe; here a read would crash
  EXPECT_TRUE(detail::drain({&table}, detail::operation::fence, -1));
}

}  // namespace
}  // namespace pgas::testing
