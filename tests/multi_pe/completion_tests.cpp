// PEs with different speeds: one PE is stopped while the others send many operations to it, one PE leaves immediately,
// and PEs check data as soon as the data must have arrived. The tests run with direct and with proxied PEs, with any
// number of PEs on any number of hosts.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr int out_of_step = 1;  ///< the PE that is stopped

/// The number of operations: more than rings and the messages in flight can hold.
constexpr int many = 100'000;

struct pour {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* word, int pe) const {
    for (int i = static_cast<int>(block.thread_rank()); i < many; i += static_cast<int>(block.size()))
      pgas::atomic_add(ctx, word, std::uint64_t{1}, pe);
    pgas::quiet(ctx);
  }
};

/// Stops this PE for a while, like a debugger or an overloaded machine.
void stop_for(int milliseconds) {
  const pid_t self = getpid();
  const pid_t waker = fork();
  if (waker == 0) {
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  waitpid(waker, nullptr, 0);
}

TEST(Pace, a_target_that_is_stopped_gets_everything_once_it_goes_on) {
  pgas::world world = pgas::world::join();
  if (world.n_pes() <= out_of_step) GTEST_SKIP() << "nobody is there to be stopped";
  constexpr std::size_t large = 100'000;
  auto count = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  auto landing = world.allocate<unsigned char>(large * static_cast<std::size_t>(world.n_pes()), pgas::initialize::zero);
  world.barrier_all();
  if (world.my_pe() == out_of_step) {
    stop_for(600);
  } else {
    pgas::launch(world, {.blocks = 1, .threads = 32}, pour{}, world.context(), count.data(), out_of_step);
    const std::vector<unsigned char> bytes(large, static_cast<unsigned char>(1 + world.my_pe()));
    const std::size_t place = large * static_cast<std::size_t>(world.my_pe());
    pgas::put(world, landing.data() + place, bytes.data(), large, out_of_step);
    world.synchronize();
  }
  world.barrier_all();
  if (world.my_pe() != out_of_step) return;
  EXPECT_EQ(pgas::g(world, count.data(), out_of_step), std::uint64_t{many} * static_cast<unsigned>(world.n_pes() - 1));
  std::vector<unsigned char> expected;
  for (int pe = 0; pe < world.n_pes(); ++pe)
    expected.insert(expected.end(), large, static_cast<unsigned char>(pe == out_of_step ? 0 : 1 + pe));
  std::vector<unsigned char> seen(expected.size());
  pgas::get(world, seen.data(), landing.data(), seen.size(), out_of_step);
  EXPECT_TRUE(seen == expected);
}

TEST(Pace, a_pe_that_leaves_at_once_is_reached_until_all_leave) {
  pgas::world world = pgas::world::join();
  if (world.n_pes() <= out_of_step) GTEST_SKIP() << "nobody is there to leave first";
  constexpr std::size_t large = 100'000;
  const auto me = static_cast<std::size_t>(world.my_pe());
  const auto n = static_cast<std::size_t>(world.n_pes());
  auto counts = world.allocate<std::uint64_t>(n, pgas::initialize::zero);
  auto landing = world.allocate<unsigned char>(large * n, pgas::initialize::zero);
  world.barrier_all();
  if (world.my_pe() != out_of_step) {
    const std::vector<unsigned char> bytes(large, static_cast<unsigned char>(1 + me));
    std::vector<unsigned char> seen(large);
    for (std::uint64_t i = 0; i < 500; ++i) {
      ASSERT_EQ(pgas::atomic_fetch_add(world, counts.data() + me, std::uint64_t{1}, out_of_step), i);
      if (i % 50 != 0) continue;
      pgas::put(world, landing.data() + large * me, bytes.data(), large, out_of_step);
      pgas::get(world, seen.data(), landing.data() + large * me, large, out_of_step);
      ASSERT_TRUE(seen == bytes);
    }
  }
  world.leave();
}

/// The left neighbour sends five words, each by a different call. The sync of the host does not complete the calls. The
/// data must be visible because each call has completed before it returned.
TEST(Pace, what_has_returned_is_there) {
  pgas::world world = pgas::world::join();
  const int right = (world.my_pe() + 1) % world.n_pes();
  auto words = world.allocate<std::uint64_t>(5, pgas::initialize::zero);
  std::uint64_t* const at = words.data();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    const std::uint64_t source[2] = {round, round};
    pgas::put(world, at, source, 1, right);
    pgas::iput(world, at + 1, source, 1, 1, 1, right);
    pgas::put_signal(world, at + 2, source, 1, at + 3, round, pgas::signal_op::set, right);
    pgas::p(world, at + 4, round, right);
    pgas::sync(world.team());
    std::uint64_t here[5];
    pgas::get(world, here, at, 5, world.my_pe());
    for (int i = 0; i < 5; ++i) ASSERT_EQ(here[i], round) << "word " << i;
    pgas::sync(world.team());
  }
}

}  // namespace
