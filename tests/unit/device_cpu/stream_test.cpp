// Work on the CPU backend: order, errors, atomics, barriers between PEs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/grid.hpp"
#include "pgas/error.hpp"
#include "unit/connect/pes.hpp"
#include "unit/device_cpu/requests.hpp"

namespace pgas::unit_test {
namespace {

/// Keeps a stream busy until the gate is opened.
class gate {
 public:
  void hold(device& on, stream_handle stream) {
    run_grid_on_cpu(on, stream, {1, 1}, [this](const cpu_block&) {
      while (!open_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
  }
  void open() { open_ = true; }

 private:
  std::atomic<bool> open_{false};
};

TEST(cpu_stream, needs_no_thread_before_it_has_something_long_to_do) {
  const auto on = make_cpu_device();
  const holdings before = count_holdings();
  const stream_handle stream = on->create_stream();
  int a = 1;
  int b = 0;
  on->copy(&b, &a, sizeof(a), stream);
  on->copy(&a, &b, 0, stream);
  on->copy(nullptr, nullptr, 0, nullptr);
  on->synchronize(stream);
  on->synchronize(nullptr);
  EXPECT_EQ(b, 1);
  EXPECT_EQ(count_holdings().threads, before.threads);
  run_grid_on_cpu(*on, stream, {1, 1}, [](const cpu_block&) {});
  on->synchronize(stream);
  EXPECT_EQ(count_holdings().threads, before.threads + 1);
  on->destroy_stream(stream);
  EXPECT_EQ(settle_at(before), before);
}

TEST(cpu_stream, keeps_the_order_of_small_and_large_work) {
  const auto on = make_cpu_device();
  for (const bool own : {false, true}) {
    const stream_handle stream = own ? on->create_stream() : nullptr;
    std::vector<std::byte> a(1 << 20);
    std::vector<std::byte> b(1 << 20);
    std::uint64_t counter = 0;
    for (int round = 1; round <= 50; ++round) {
      gate holding;
      holding.hold(*on, stream);
      on->fill(a.data(), static_cast<unsigned char>(round), a.size(), stream);  // a large operation
      // a small operation, which must not overtake the large operation
      on->copy(b.data(), a.data(), 16, stream);
      on->copy(b.data() + 16, a.data() + 16, a.size() - 16, stream);
      EXPECT_NE(b[5], static_cast<std::byte>(round)) << "not before its turn";
      holding.open();
      std::uint64_t old = 99;
      operation_request count = atomic_on(how::add, type::u64, &counter, 1);
      count.result = &old;
      on->enqueue(count, stream);
      on->synchronize(stream);
      EXPECT_EQ(old, static_cast<std::uint64_t>(round - 1));
      EXPECT_EQ(b[5], static_cast<std::byte>(round));
      EXPECT_EQ(b.back(), static_cast<std::byte>(round));
    }
    if (own) on->destroy_stream(stream);
  }
}

TEST(cpu_stream, streams_do_not_wait_for_one_another) {
  const auto on = make_cpu_device();
  const stream_handle slow = on->create_stream();
  const stream_handle quick = on->create_stream();
  gate holding;
  holding.hold(*on, slow);
  int a = 3;
  int b = 0;
  on->copy(&b, &a, sizeof(a), quick);
  on->synchronize(quick);
  on->synchronize(nullptr);
  EXPECT_EQ(b, 3);
  holding.open();
  on->destroy_stream(slow);
  on->destroy_stream(quick);
}

TEST(cpu_stream, takes_work_from_many_threads) {
  const auto on = make_cpu_device();
  const stream_handle stream = on->create_stream();
  std::uint64_t sum = 0;
  int plain = 0;  // not atomic: the stream runs one task at a time
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::byte> a(100'000);
      std::vector<std::byte> b(100'000);
      for (int i = 0; i < 200; ++i) {
        on->enqueue(atomic_on(how::add, type::u64, &sum, 1), stream);
        if (i % 10 == t) run_grid_on_cpu(*on, stream, {1, 1}, [&](const cpu_block&) { ++plain; });
        if (i % 50 == t) on->copy(a.data(), b.data(), a.size(), stream);
      }
      on->synchronize(stream);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 800u);
  EXPECT_EQ(plain, 80);
  on->destroy_stream(stream);
}

TEST(cpu_stream, an_error_waits_for_synchronize_and_is_thrown_once) {
  const auto on = make_cpu_device();
  const stream_handle stream = on->create_stream();
  bool later = false;
  run_grid_on_cpu(*on, stream, {1, 1}, [](const cpu_block&) { throw std::runtime_error("the first"); });
  run_grid_on_cpu(*on, stream, {1, 1}, [](const cpu_block&) { throw std::runtime_error("the second"); });
  run_grid_on_cpu(*on, stream, {1, 1}, [&](const cpu_block&) { later = true; });
  const auto end = thrown_by([&] { on->synchronize(stream); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), code::device_failed);
  EXPECT_NE(std::string(end->what()).find("the first"), std::string::npos) << end->what();
  EXPECT_TRUE(later) << "the stream goes on";
  EXPECT_FALSE(thrown_by([&] { on->synchronize(stream); }));
  on->destroy_stream(stream);
}

TEST(cpu_stream, large_copies_do_not_hold_the_caller_and_may_overlap_themselves) {
  const auto on = make_cpu_device();
  std::vector<int> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  on->copy(numbers.data() + 1, numbers.data(), (numbers.size() - 1) * sizeof(int), nullptr);
  on->synchronize(nullptr);
  EXPECT_EQ(numbers[0], 0);
  EXPECT_EQ(numbers[1], 0);
  EXPECT_EQ(numbers.back(), 99'998);
}

/// The heaps and contexts of a few PEs in one memory block.
class small_world {
 public:
  explicit small_world(std::int32_t n) : memory_(std::make_unique<area[]>(static_cast<std::size_t>(n))), n_(n) {
    controls_ = std::make_unique<control_block[]>(static_cast<std::size_t>(n));
    copies_ = std::make_unique<context[]>(static_cast<std::size_t>(n));
    for (std::int32_t pe = 0; pe < n; ++pe) copies_[static_cast<std::size_t>(pe)] = context_of(pe);
  }
  [[nodiscard]] context context_of(std::int32_t pe) {
    context c;
    c.abi_ = abi_version << 16 | static_cast<std::uint32_t>(sizeof(context));
    c.world_pe_ = pe;
    c.n_world_ = n_;
    c.log2_stride_ = 16;
    c.my_slot_ = reinterpret_cast<std::uintptr_t>(&memory_[static_cast<std::size_t>(pe)]);
    c.control_ = &controls_[static_cast<std::size_t>(pe)];
    set_team(c, c.world());
    c.copy_ = &copies_[static_cast<std::size_t>(pe)];
    return c;
  }
  [[nodiscard]] control_block& control(std::int32_t pe) { return controls_[static_cast<std::size_t>(pe)]; }

 private:
  struct alignas(1 << 12) area {
    std::byte bytes[1 << 16]{};
  };
  std::unique_ptr<area[]> memory_;
  std::unique_ptr<control_block[]> controls_;
  std::unique_ptr<context[]> copies_;
  std::int32_t n_;
};

/// The default request: a barrier.
const collective_request barrier_request;

TEST(cpu_barrier, on_streams_holds_back_the_streams_and_not_their_callers) {
  const auto on = make_cpu_device();
  small_world world(3);
  std::array<stream_handle, 3> streams{};
  for (auto& stream : streams) stream = on->create_stream();
  std::vector<int> data(3, 0);
  std::vector<int> seen(3, 0);
  const auto sync = [&](std::size_t pe) {
    const context here = world.context_of(static_cast<std::int32_t>(pe));
    on->collective(here, here.world(), barrier_request, nullptr, streams[pe]);
  };
  for (int round = 1; round <= 20; ++round) {
    // One thread enqueues for all three PEs. A barrier that blocked its caller would never end.
    for (std::size_t pe = 0; pe < 3; ++pe) {
      run_grid_on_cpu(*on, streams[pe], {1, 1}, [&data, pe, round](const cpu_block&) { data[pe] = round; });
      sync(pe);
      run_grid_on_cpu(*on, streams[pe], {1, 1}, [&, pe](const cpu_block&) { seen[pe] = data[(pe + 1) % 3]; });
      sync(pe);
    }
    for (const stream_handle stream : streams) on->synchronize(stream);
    EXPECT_EQ(seen, std::vector<int>(3, round));
  }
  for (const stream_handle stream : streams) on->destroy_stream(stream);
}

TEST(cpu_barrier, ends_with_an_error_when_the_world_is_aborted_or_the_time_is_over) {
  const auto on = make_cpu_device();
  small_world world(2);
  on->collective(world.context_of(0), world.context_of(0).world(), barrier_request, nullptr, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic_ref(world.control(0).abort).store(2);
  auto end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), code::device_failed);
  EXPECT_EQ(world.control(0).record.why, failure::aborted);

  world.control(1).wait_timeout_ns = 20'000'000;
  on->collective(world.context_of(1), world.context_of(1).world(), barrier_request, nullptr, nullptr);
  end = thrown_by([&] { on->synchronize(nullptr); });
  // PE 0 had arrived before it was aborted, so this barrier succeeds. The next barrier fails without waiting for other
  // PEs.
  EXPECT_FALSE(end) << end->what();
  on->collective(world.context_of(1), world.context_of(1).world(), barrier_request, nullptr, nullptr);
  end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(world.control(1).record.why, failure::timed_out);
  EXPECT_EQ(world.control(1).record.pe, 0);
}

TEST(cpu_collective, exchanges_strided_elements_of_any_size_and_alignment) {
  const auto on = make_cpu_device();
  small_world world(1);
  constexpr std::size_t count = 13;
  for (const std::size_t element : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 48u}) {
    for (const std::size_t shift : {0u, 1u, 2u, 4u, 8u}) {
      alignas(16) std::array<std::byte, 48 * count * 3 + 8> src{};
      for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::byte>(i * 7 + 1);
      alignas(16) std::array<std::byte, 48 * count * 3 + 8> dst{};
      auto expected = dst;
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(&expected[shift + i * 3 * element], &src[i * 2 * element], element);
      collective_request request;
      request.what = collective_kind::alltoalls;
      request.element_bytes = element;
      request.count = count;
      request.dst_stride = 3;
      request.src_stride = 2;
      request.dst = &dst[shift];
      request.src = src.data();
      on->collective(world.context_of(0), world.context_of(0).world(), request, nullptr, nullptr);
      on->synchronize(nullptr);
      EXPECT_EQ(dst, expected) << element << " bytes, shifted by " << shift;
    }
  }
}

}  // namespace
}  // namespace pgas::unit_test
