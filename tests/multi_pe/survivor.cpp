// A program whose PEs wait for PE 1, which the test kills. The other PEs must report PE 1 by number, and end.
//     survivor device-wait | device-barrier | host-wait | host-barrier
//     survivor host-lock       PE 1 holds a lock for which the others wait
//     survivor host-put        the others put to all PEs endlessly
//     survivor host-register   all PEs register memory with a team and release it, endlessly
//     survivor device-spin     a kernel waits in its own loop and never ends; only on GPUs
//     survivor MODE counted    also prints the resources of the world that remain after leaving
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "holdings.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

struct wait_for_ever {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* signal, bool in_barrier) const {
    if (in_barrier)
      pgas::barrier(ctx, block);
    else
      pgas::wait_until(ctx, block, signal, pgas::cmp::ge, 1);
  }
};

struct spin_for_ever {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block, const volatile std::uint64_t* word) const {
    while (*word == 0) {
    }
  }
};

/// The resources of this process before it joins the tested world. Another world is joined and left before the count,
/// because the first world of a process loads libraries that stay loaded.
pgas::unit_test::holdings before_joining() {
  {
    pgas::world world = pgas::world::join();
    auto word = world.allocate<std::uint64_t>(1);
    for (int pe = 0; pe < world.n_pes(); ++pe) pgas::p(world, word.data(), 1, pe);
    world.barrier_all();
    world.leave();
  }
  return pgas::unit_test::count_holdings();
}

/// The members release registrations in different orders, so that the last call that releases a registration is not
/// always the call that ends the registration.
[[noreturn]] void register_without_end(pgas::world& world) {
  const pgas::team team = world.team().split(0, -world.my_pe());
  const pgas::shared_memory memory = pgas::shared_memory::make({world.device()}, 2 << 20);
  std::vector<pgas::registration> held(3);
  for (std::size_t i = 0;; ++i)
    held[(i + i % static_cast<std::size_t>(world.my_pe() + 1)) % held.size()] = {team, memory.data(), memory.size()};
}

void say_what_is_kept(int me, const pgas::unit_test::holdings& before) {
  const pgas::unit_test::holdings now = pgas::unit_test::settle_at(before);
  std::ostringstream text;
  if (now == before)
    text << "nothing";
  else
    text << now << " instead of " << before;
  std::printf("keeps %d %s\n", me, text.str().c_str());
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool counted = argc > 2 && std::string(argv[2]) == "counted";
  int me = -1;
  pgas::unit_test::holdings before;
  std::optional<pgas::world> joined;
  try {
    if (counted) before = before_joining();
    joined.emplace(pgas::world::join());
    pgas::world& world = *joined;
    me = world.my_pe();
    auto signal = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
    for (int pe = 0; pe < world.n_pes(); ++pe) pgas::p(world, signal.data(), 0, pe);  // makes the proxies connect
    auto lock = world.allocate<pgas::lock_t>(1, pgas::initialize::zero);
    auto words = world.allocate<std::uint64_t>(1 << 17);
    if (mode == "host-lock" && me == 1) pgas::set_lock(world, lock.data());
    world.barrier_all();
    std::printf("ready %d %d\n", me, static_cast<int>(getpid()));
    std::fflush(stdout);
    if (mode == "host-register") register_without_end(world);
    if (me == 1) pause();
    if (mode == "device-wait" || mode == "device-barrier") {
      pgas::launch(world, {.blocks = 2, .threads = 64}, wait_for_ever{}, world.context(), signal.data(),
                   mode == "device-barrier");
      world.synchronize();
    } else if (mode == "device-spin") {
      pgas::launch(world, {.blocks = 2, .threads = 64}, spin_for_ever{}, signal.data());
      world.synchronize();
    } else if (mode == "host-wait") {
      pgas::wait_until(world, signal.data(), pgas::cmp::ge, 1);
    } else if (mode == "host-put") {
      for (;; world.check()) {
        for (int pe = 0; pe < world.n_pes(); ++pe) pgas::put_nbi(world, words.data(), words.data(), words.size(), pe);
        for (int i = 0; i < 100; ++i) pgas::p(world, signal.data(), 0, i % world.n_pes());
      }
    } else if (mode == "host-lock") {
      pgas::set_lock(world, lock.data());
    } else {
      world.barrier_all();
    }
    std::printf("unharmed %d\n", me);
    return 0;
  } catch (const pgas::error& failed) {
    std::printf("failed %d %d %s\n", me, failed.pe(), failed.what());
    std::fflush(stdout);
    const auto from = std::chrono::steady_clock::now();
    joined.reset();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
    std::printf("left %d %.0f\n", me, took.count());
    std::fflush(stdout);
    if (counted) say_what_is_kept(me, before);
    return failed.code() == pgas::code::peer_lost && failed.pe() == 1 ? 0 : 1;
  }
}
