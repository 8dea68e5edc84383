// PEs with a known number of operations, whose trace is then checked.
//     traced ring ROUNDS   signals around a ring, sums of signals, sets of words, streams, collectives
//     traced many PUTS     more puts than the ring can hold
//     traced die           PE 1 kills itself, the others leave
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

constexpr std::size_t length = 100;

struct memory {
  explicit memory(pgas::world& world)
      : data(world.allocate<std::uint64_t>(length, pgas::initialize::zero)),
        here(length, 7),
        ring(world.allocate<pgas::signal_t>(1, pgas::initialize::zero)),
        sum(world.allocate<pgas::signal_t>(1, pgas::initialize::zero)),
        set(world.allocate<pgas::signal_t>(static_cast<std::size_t>(world.n_pes()), pgas::initialize::zero)) {}

  pgas::symmetric<std::uint64_t> data;
  std::vector<std::uint64_t> here;
  pgas::symmetric<pgas::signal_t> ring;  // set by the neighbour
  pgas::symmetric<pgas::signal_t> sum;   // a word of PE 0 to which all PEs add
  pgas::symmetric<pgas::signal_t> set;   // a word for each PE
};

void go_round(pgas::world& world, memory& m, std::uint64_t round) {
  const int me = world.my_pe();
  const int n = world.n_pes();
  const auto send = [&] {
    pgas::put_signal(world, m.data.data(), m.here.data(), length, m.ring.data(), round + 1, pgas::signal_op::set,
                     (me + 1) % n);
  };
  if (me == 0) send();
  pgas::wait_until(world, m.ring.data(), pgas::cmp::eq, round + 1);
  if (me != 0) send();
  pgas::signal_add(world, m.sum.data(), 1, 0);
  if (me == 0) pgas::wait_until(world, m.sum.data(), pgas::cmp::ge, (round + 1) * static_cast<std::uint64_t>(n));
  for (int pe = 0; pe < n; ++pe) pgas::signal_set(world, m.set.data() + me, round + 1, pe);
  pgas::wait_until_all(world, m.set.data(), static_cast<std::size_t>(n), nullptr, pgas::cmp::ge, round + 1);
  world.barrier_all();
}

void ring(pgas::world& world, std::uint64_t rounds) {
  memory m(world);
  for (std::uint64_t round = 0; round < rounds; ++round) go_round(world, m, round);
  pgas::stream on(world);
  pgas::put(world, on, m.data.data(), m.data.data(), length, (world.my_pe() + 1) % world.n_pes());
  pgas::barrier_all(world, on);
  on.synchronize();
  pgas::sync(world.team());
}

void many(pgas::world& world, int puts) {
  memory m(world);
  for (int i = 0; i < puts; ++i) pgas::put(world, m.data.data(), m.here.data(), 1, world.my_pe());
}

void die(pgas::world& world) {
  memory m(world);
  go_round(world, m, 0);
  if (world.my_pe() == 1) raise(SIGKILL);
  world.barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  try {
    pgas::world world = pgas::world::join();
    if (what == "ring")
      ring(world, static_cast<std::uint64_t>(number));
    else if (what == "many")
      many(world, number);
    else
      die(world);
    world.leave();
  } catch (const pgas::error& failed) {
    std::fprintf(stderr, "%s\n", failed.what());
    return 1;
  }
}
