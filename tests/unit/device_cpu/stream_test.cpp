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

#include "device/grid.hpp"
#include "device/device.hpp"
#include "pgas/detail/ptx.hpp"
#include "pgas/detail/wire.hpp"
#include "pgas/error.hpp"
#include "unit/links/pes.hpp"

namespace pgas::test {
namespace {

using namespace pgas::detail;
using operation = atomic_request::operation;
using type = atomic_request::type;

template <class Call>
std::optional<error> thrown_by(Call&& call) {
  try {
    call();
  } catch (const error& e) {
    return e;
  }
  return std::nullopt;
}

/// Keeps a stream busy until it is opened.
class gate {
 public:
  void hold(device& on, stream_handle stream) {
    run_grid_on_cpu(on, stream, {1, 1}, [this](const thread_crew&) {
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
  run_grid_on_cpu(*on, stream, {1, 1}, [](const thread_crew&) {});
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
      on->fill(a.data(), static_cast<unsigned char>(round), a.size(), stream);  // large
      on->copy(b.data(), a.data(), 16, stream);                                 // small, must not overtake
      on->copy(b.data() + 16, a.data() + 16, a.size() - 16, stream);
      EXPECT_NE(b[5], static_cast<std::byte>(round)) << "not before its turn";
      holding.open();
      std::uint64_t old = 99;
      on->atomic({operation::add, type::u64, &counter, 1, 0, true}, &old, stream);
      EXPECT_EQ(old, static_cast<std::uint64_t>(round - 1));
      EXPECT_EQ(b[5], static_cast<std::byte>(round)) << "a blocking atomic comes after what was before it";
      on->synchronize(stream);
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
        on->atomic({operation::add, type::u64, &sum, 1, 0, false}, nullptr, stream);
        if (i % 10 == t) run_grid_on_cpu(*on, stream, {1, 1}, [&](const thread_crew&) { ++plain; });
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
  run_grid_on_cpu(*on, stream, {1, 1}, [](const thread_crew&) { throw std::runtime_error("the first"); });
  run_grid_on_cpu(*on, stream, {1, 1}, [](const thread_crew&) { throw std::runtime_error("the second"); });
  run_grid_on_cpu(*on, stream, {1, 1}, [&](const thread_crew&) { later = true; });
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

TEST(cpu_atomic, does_every_operation_on_every_type) {
  const auto on = make_cpu_device();
  const auto run = [&](operation what, type as, auto start, auto value, auto condition) {
    using T = decltype(start);
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    struct {
      alignas(8) T target;
      T behind;
    } memory{start, start};
    std::uint64_t old = 0xeeee'eeee'eeee'eeee;
    on->atomic({what, as, &memory.target, std::bit_cast<bits>(value), std::bit_cast<bits>(condition), true}, &old,
               nullptr);
    T seen;
    std::memcpy(&seen, &old, sizeof(T));
    EXPECT_EQ(seen, start) << "the old value";
    if (sizeof(T) == 4) {
      EXPECT_EQ(old >> 32, 0xeeee'eeeeu) << "4 bytes are written, no more";
    }
    EXPECT_EQ(memory.behind, start);
    return memory.target;
  };
  const std::uint32_t w = 0xf0f0;
  EXPECT_EQ(run(operation::fetch, type::u32, w, w, w), w);
  EXPECT_EQ(run(operation::set, type::u32, w, 5u, w), 5u);
  EXPECT_EQ(run(operation::add, type::u32, w, ~0u, w), w - 1);
  EXPECT_EQ(run(operation::bit_and, type::u32, w, 0xff00u, w), 0xf000u);
  EXPECT_EQ(run(operation::bit_or, type::u32, w, 0x0f00u, w), 0xfff0u);
  EXPECT_EQ(run(operation::bit_xor, type::u32, w, 0xffffu, w), 0x0f0fu);
  EXPECT_EQ(run(operation::swap, type::u32, w, 9u, w), 9u);
  EXPECT_EQ(run(operation::compare_swap, type::u32, w, 9u, w), 9u);
  EXPECT_EQ(run(operation::compare_swap, type::u32, w, 9u, w + 1), w);
  const std::uint64_t d = 0xf0f0'0000'0000'0001;
  EXPECT_EQ(run(operation::fetch, type::u64, d, d, d), d);
  EXPECT_EQ(run(operation::set, type::u64, d, std::uint64_t{5}, d), 5u);
  EXPECT_EQ(run(operation::add, type::u64, d, ~std::uint64_t{0}, d), d - 1);
  EXPECT_EQ(run(operation::bit_and, type::u64, d, std::uint64_t{1}, d), 1u);
  EXPECT_EQ(run(operation::bit_or, type::u64, d, std::uint64_t{2}, d), d + 2);
  EXPECT_EQ(run(operation::bit_xor, type::u64, d, d, d), 0u);
  EXPECT_EQ(run(operation::swap, type::u64, d, std::uint64_t{7}, d), 7u);
  EXPECT_EQ(run(operation::compare_swap, type::u64, d, std::uint64_t{7}, d), 7u);
  EXPECT_EQ(run(operation::fetch, type::f32, 1.5f, 0.f, 0.f), 1.5f);
  EXPECT_EQ(run(operation::set, type::f32, 1.5f, 2.5f, 0.f), 2.5f);
  EXPECT_EQ(run(operation::add, type::f32, 1.5f, 2.25f, 0.f), 3.75f);
  EXPECT_EQ(run(operation::swap, type::f32, 1.5f, 2.5f, 0.f), 2.5f);
  EXPECT_EQ(run(operation::compare_swap, type::f32, 1.5f, 2.5f, 1.5f), 2.5f);
  EXPECT_EQ(run(operation::add, type::f64, 1.5, 1e300, 0.), 1e300 + 1.5);
  EXPECT_EQ(run(operation::swap, type::f64, 1.5, -0.25, 0.), -0.25);
}

TEST(cpu_atomic, refuses_what_cannot_be_atomic_and_throws_it_at_the_caller) {
  const auto on = make_cpu_device();
  alignas(8) std::array<std::uint32_t, 4> words{};
  const auto misaligned = thrown_by([&] {
    on->atomic({operation::add, type::u64, &words[1], 1, 0, false}, nullptr, nullptr);
  });
  ASSERT_TRUE(misaligned);
  EXPECT_EQ(misaligned->code(), code::misaligned);
  const auto bitwise = thrown_by([&] {
    on->atomic({operation::bit_xor, type::f32, &words[0], 1, 0, false}, nullptr, nullptr);
  });
  ASSERT_TRUE(bitwise);
  EXPECT_EQ(bitwise->code(), code::invalid_argument);
  EXPECT_FALSE(thrown_by([&] { on->synchronize(nullptr); })) << "it was told already";
  EXPECT_EQ(words[0] + words[1] + words[2] + words[3], 0u);
}

/// The heaps and contexts of a few PEs in one piece of memory.
class small_world {
 public:
  explicit small_world(std::int32_t n) : memory_(std::make_unique<area[]>(static_cast<std::size_t>(n))), n_(n) {
    controls_ = std::make_unique<control_block[]>(static_cast<std::size_t>(n));
  }
  [[nodiscard]] context of(std::int32_t pe) {
    context c;
    c.abi_ = abi_version << 16 | static_cast<std::uint32_t>(sizeof(context));
    c.world_pe_ = pe;
    c.n_world_ = n_;
    c.domain_size_ = n_;
    c.log2_stride_ = 16;
    c.my_slot_ = reinterpret_cast<std::uintptr_t>(&memory_[static_cast<std::size_t>(pe)]);
    c.control_ = &controls_[static_cast<std::size_t>(pe)];
    set_team(c, c.world());
    return c;
  }
  [[nodiscard]] control_block& control(std::int32_t pe) { return controls_[static_cast<std::size_t>(pe)]; }

 private:
  struct alignas(1 << 12) area {
    std::byte bytes[1 << 16]{};
  };
  std::unique_ptr<area[]> memory_;
  std::unique_ptr<control_block[]> controls_;
  std::int32_t n_;
};

TEST(cpu_barrier, on_streams_holds_back_the_streams_and_not_their_callers) {
  const auto on = make_cpu_device();
  small_world world(3);
  std::array<stream_handle, 3> streams{};
  for (auto& stream : streams) stream = on->create_stream();
  std::vector<int> data(3, 0);
  std::vector<int> seen(3, 0);
  const auto meet = [&](std::size_t pe) {
    const context here = world.of(static_cast<std::int32_t>(pe));
    on->barrier(here, here.world(), streams[pe]);
  };
  for (int round = 1; round <= 20; ++round) {
    // One thread feeds all three: a barrier that held its caller would never end.
    for (std::size_t pe = 0; pe < 3; ++pe) {
      run_grid_on_cpu(*on, streams[pe], {1, 1}, [&data, pe, round](const thread_crew&) { data[pe] = round; });
      meet(pe);
      run_grid_on_cpu(*on, streams[pe], {1, 1}, [&, pe](const thread_crew&) { seen[pe] = data[(pe + 1) % 3]; });
      meet(pe);
    }
    for (const stream_handle stream : streams) on->synchronize(stream);
    EXPECT_EQ(seen, std::vector<int>(3, round));
  }
  for (const stream_handle stream : streams) on->destroy_stream(stream);
}

TEST(cpu_barrier, ends_with_an_error_when_the_world_is_aborted_or_the_time_is_over) {
  const auto on = make_cpu_device();
  small_world world(2);
  on->barrier(world.of(0), world.of(0).world(), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic_ref(world.control(0).abort).store(2);
  auto end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), code::device_failed);
  EXPECT_EQ(world.control(0).record.why, failure::aborted);

  world.control(1).wait_timeout_ns = 20'000'000;
  on->barrier(world.of(1), world.of(1).world(), nullptr);
  end = thrown_by([&] { on->synchronize(nullptr); });
  // PE 0 had arrived before it was aborted, so this one ends well; the next one has nobody to meet.
  EXPECT_FALSE(end) << end->what();
  on->barrier(world.of(1), world.of(1).world(), nullptr);
  end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(world.control(1).record.why, failure::timed_out);
  EXPECT_EQ(world.control(1).record.pe, 0);
}

TEST(cpu_grid, runs_every_thread_of_every_block_at_the_same_time) {
  const auto on = make_cpu_device();
  constexpr unsigned blocks = 5;
  constexpr unsigned threads = 3;
  std::array<std::array<std::atomic<int>, threads>, blocks> ran{};
  std::atomic<unsigned> arrived{0};
  run_grid_on_cpu(*on, nullptr, {blocks, threads}, [&](const thread_crew& crew) {
    EXPECT_EQ(crew.size(), threads);
    EXPECT_EQ(crew.num_blocks(), blocks);
    ++ran[crew.block_rank()][crew.thread_rank()];
    ++arrived;
    while (arrived < blocks * threads) std::this_thread::yield();  // blocks wait for one another
    crew.sync();
  });
  on->synchronize(nullptr);
  for (const auto& block : ran)
    for (const auto& count : block) EXPECT_EQ(count, 1);
}

TEST(cpu_grid, a_crew_meets_at_its_barrier) {
  const auto on = make_cpu_device();
  std::array<int, 4> values{};  // plain: the barrier orders them
  std::array<int, 4> sums{};
  run_grid_on_cpu(*on, nullptr, {1, 4}, [&](const thread_crew& crew) {
    for (int round = 0; round < 100; ++round) {
      values[crew.thread_rank()] = round;
      crew.sync();
      sums[crew.thread_rank()] = values[0] + values[1] + values[2] + values[3];
      crew.sync();
      EXPECT_EQ(sums[crew.thread_rank()], 4 * round);
    }
  });
  on->synchronize(nullptr);
}

TEST(cpu_grid, a_trap_ends_the_crew_and_synchronize_says_so) {
  const auto on = make_cpu_device();
  const holdings before = count_holdings();
  run_grid_on_cpu(*on, nullptr, {2, 3}, [&](const thread_crew& crew) {
    if (crew.block_rank() == 1 && crew.thread_rank() == 1) throw thread_ended{};
    crew.sync();
    crew.sync();
  });
  const auto end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), code::device_failed);
  run_grid_on_cpu(*on, nullptr, {1, 2}, [&](const thread_crew& crew) {
    if (crew.thread_rank() == 0) throw std::runtime_error("of its own");
    crew.sync();
  });
  const auto own = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(own);
  EXPECT_NE(std::string(own->what()).find("of its own"), std::string::npos) << own->what();
  holdings after = before;
  after.threads += 1;  // the stream's own
  EXPECT_EQ(settle_at(after), after);
}

TEST(cpu_grid, impossible_shapes_are_refused_at_once) {
  const auto on = make_cpu_device();
  for (const auto& [blocks, threads] : {std::pair{0u, 1u}, {1u, 0u}, {1u, 1025u}}) {
    const auto refused =
        thrown_by([&, b = blocks, t = threads] { run_grid_on_cpu(*on, nullptr, {b, t}, [](const thread_crew&) {}); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), code::launch_failed);
  }
}

}  // namespace
}  // namespace pgas::test
