// Locks called from the host: one PE at a time changes the guarded data, and kernels use the same locks. The tests run
// on either heap, with any number of PEs, compiled by g++ and by nvcc.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../code_of.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::code;
using pgas::lock_t;
using pgas_test::code_of;

constexpr std::size_t row = 300;
constexpr int host_rounds = 40;
constexpr int kernel_rounds = 10;
constexpr unsigned kernel_blocks = 2;

/// A word on PE 0, which is read and written in separate accesses, and a row on the last PE, in which an unfinished put
/// must not be visible. A change without the lock would lose updates.
class guarded {
 public:
  explicit guarded(pgas::world& w)
      : world_(w),
        locks_(w.allocate<lock_t>(3, pgas::initialize::zero)),
        counter_(w.allocate<std::int64_t>(1, pgas::initialize::zero)),
        row_(w.allocate<std::int64_t>(row, pgas::initialize::zero)) {}

  [[nodiscard]] lock_t* lock(std::size_t which) { return locks_.data() + which; }
  [[nodiscard]] std::int64_t* counter() { return counter_.data(); }
  [[nodiscard]] std::int64_t count() { return pgas::g(world_, counter_.data(), 0); }

  /// *Callers* the holder of the lock, on the host.
  void change() {
    const std::int64_t seen = count();
    std::vector<std::int64_t> values(row);
    pgas::get(world_, values.data(), row_.data(), row, last());
    const std::int64_t rows = values[0];
    EXPECT_EQ(values, std::vector<std::int64_t>(row, rows));
    values.assign(row, rows + 1);
    pgas::put(world_, row_.data(), values.data(), row, last());
    std::this_thread::yield();
    pgas::p(world_, counter_.data(), seen + 1, 0);
  }
  /// Called after all PEs are done. Checks how often the hosts have changed the row, and that the locks are free.
  void expect_done(std::int64_t counted, std::int64_t rows) {
    world_.barrier_all();
    EXPECT_EQ(count(), counted);
    EXPECT_EQ(pgas::g(world_, row_.data() + row - 1, last()), rows);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pgas::g(world_, lock(i), world_.my_pe()), 0u) << "lock " << i;
    world_.barrier_all();
  }

 private:
  [[nodiscard]] int last() const { return world_.n_pes() - 1; }

  pgas::world& world_;
  pgas::symmetric<lock_t> locks_;
  pgas::symmetric<std::int64_t> counter_;
  pgas::symmetric<std::int64_t> row_;
};

TEST(Locks, let_one_pe_at_a_time_change_what_they_guard) {
  pgas::world world = pgas::world::join();
  guarded shared(world);
  for (int i = 0; i < host_rounds; ++i) {
    if (i % 3 == 0) {
      while (!pgas::test_lock(world, shared.lock(1))) std::this_thread::yield();
    } else {
      pgas::set_lock(world, shared.lock(1));
    }
    shared.change();
    pgas::clear_lock(world, shared.lock(1));
  }
  shared.expect_done(host_rounds * world.n_pes(), host_rounds * world.n_pes());
}

struct device_holder {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, lock_t* lock, std::int64_t* counter) const {
    for (int i = 0; i < kernel_rounds; ++i) {
      pgas::set_lock(ctx, block, lock);
      if (block.thread_rank() == 0) pgas::p(ctx, counter, pgas::g(ctx, counter, 0) + 1, 0);
      pgas::clear_lock(ctx, block, lock);
    }
  }
};

TEST(Locks, are_the_same_for_hosts_and_kernels) {
  pgas::world world = pgas::world::join();
  guarded shared(world);
  pgas::launch(world, {.blocks = kernel_blocks, .threads = 64}, device_holder{}, world.context(), shared.lock(0),
               shared.counter());
  for (int i = 0; i < host_rounds; ++i) {
    pgas::set_lock(world, shared.lock(0));
    shared.change();
    pgas::clear_lock(world, shared.lock(0));
  }
  world.synchronize();
  const int kernels = kernel_rounds * static_cast<int>(kernel_blocks);
  shared.expect_done((host_rounds + kernels) * world.n_pes(), host_rounds * world.n_pes());
}

TEST(Locks, say_whether_they_are_free_and_refuse_misuse) {
  pgas::world world = pgas::world::join();
  guarded shared(world);
  lock_t* const lock = shared.lock(2);
  for (int holder = 0; holder < world.n_pes(); ++holder) {
    if (world.my_pe() == holder) {
      EXPECT_TRUE(pgas::test_lock(world, lock));
    }
    world.barrier_all();
    EXPECT_FALSE(pgas::test_lock(world, lock));
    if (world.my_pe() != holder) {
      EXPECT_EQ(code_of([&] { pgas::clear_lock(world, lock); }), code::invalid_argument);
    }
    world.barrier_all();
    if (world.my_pe() == holder) pgas::clear_lock(world, lock);
    world.barrier_all();
  }
  lock_t local = 0;
  auto* const crooked = reinterpret_cast<lock_t*>(reinterpret_cast<char*>(lock) + 4);
  EXPECT_EQ(code_of([&] { pgas::set_lock(world, &local); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::set_lock(world, crooked); }), code::misaligned);
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::test_lock(world, &local)); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::clear_lock(world, lock); }), code::invalid_argument);
  shared.expect_done(0, 0);
}

}  // namespace
