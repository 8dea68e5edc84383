// Programs that never end, each for a different reason: `pgasrun -n N hang NAME [gently]`. Each PE prints "ready"
// before the last call that it completes. why_test.py then runs pgas-why. With "gently", SIGTERM ends the world and its
// kernels before the process. hang_cuda is the same program compiled by nvcc.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::cmp;
using pgas::signal_t;

struct scene {
  pgas::world& world;
  pgas::symmetric<signal_t> words;  ///< 64 words, all zero
  pgas::symmetric<int> data;        ///< 4096 elements, all zero
  int me;
  int n;
};

[[noreturn]] void for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}
[[noreturn]] void compute_for_ever() {
  for (volatile unsigned turns = 0;;) turns = turns + 1;
}

/// A kernel that waits for word `at` of this PE.
struct wait_for_word {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, signal_t* word) const {
    pgas::wait_until(ctx, block, word, cmp::ge, signal_t{5});
  }
};
struct kernel_barrier {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx) const {
    pgas::barrier(ctx, block);
  }
};
struct kernel_reduce {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* data) const {
    pgas::reduce(ctx, block, ctx.team(), data, data + 64, 8, pgas::op::sum{});
  }
};
struct kernel_get {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* data) const {
    if (block.thread_rank() == 0) data[1] = pgas::g(ctx, data, 1);
  }
};
struct kernel_broadcast {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* data) const {
    pgas::broadcast(ctx, block, ctx.team(), data, data + 64, 8, 0);
  }
};
/// One block waits for a word before the grid's barrier, so the other blocks wait in the barrier.
struct grid_with_a_late_block {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, signal_t* word) const {
    if (block.block_rank() == 1) pgas::wait_until(ctx, block, word, cmp::ge, signal_t{5});
    pgas::this_grid(block).sync();
  }
};
struct kernel_fcollect {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* data) const {
    pgas::fcollect(ctx, block, ctx.team(), data, data + 64, 4);
  }
};
struct wait_for_all_words {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, signal_t* words) const {
    pgas::wait_until_all(ctx, block, words, 4, static_cast<const int*>(nullptr), cmp::ge, signal_t{1});
  }
};
/// Each kernel holds one lock, and then waits for the lock of the other PE.
struct two_locks {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, pgas::lock_t* locks, signal_t* taken) const {
    if (block.thread_rank() != 0) return;
    const int me = ctx.my_pe();
    pgas::set_lock(ctx, locks + me);
    pgas::signal_add(ctx, taken, 1, 1 - me);
    pgas::wait_until(ctx, taken, cmp::ge, signal_t{1});
    pgas::set_lock(ctx, locks + 1 - me);
  }
};

template <class Kernel, class... Arguments>
void run(scene& s, unsigned blocks, Kernel kernel, Arguments... arguments) {
  pgas::launch(s.world, {.blocks = blocks, .threads = 32}, kernel, s.world.context(), arguments...);
  s.world.synchronize();
}

/// The programs that hang, by name. All PEs call the function of a program, and the function returns on no PE.
const std::map<std::string, std::function<void(scene&)>> hangs = {
    {"missing_signal",
     [](scene& s) {
       if (s.me == 0) pgas::wait_until(s.world, s.words.data(), cmp::ge, 1);
     }},
    {"missing_signal_in_a_kernel",
     [](scene& s) {
       if (s.me == 1) run(s, 2, wait_for_word{}, s.words.data());
     }},
    {"signal_to_the_wrong_pe",
     [](scene& s) {
       if (s.me == 0) pgas::signal_set(s.world, s.words.data(), 5, 2);
       if (s.me == 1) run(s, 1, wait_for_word{}, s.words.data());
     }},
    {"wrong_team",
     [](scene& s) {
       pgas::team pair = s.world.team().split_strided(0, 1, 2);
       if (s.me == 0)
         pgas::barrier(pair);
       else
         run(s, 1, kernel_barrier{});
     }},
    {"other_order",
     [](scene& s) {
       if (s.me == 0)
         s.world.barrier_all();
       else
         run(s, 1, kernel_reduce{}, s.data.data());
       for_ever();
     }},
    {"one_in_allocate",
     [](scene& s) {
       if (s.me == 1)
         static_cast<void>(s.world.allocate<int>(std::size_t{1} << 20));
       else
         run(s, 1, kernel_barrier{});
     }},
    {"barrier_skipped_by_a_branch",
     [](scene& s) {
       if (s.me == 2) for_ever();
     }},
    {"endless_loop",
     [](scene& s) {
       if (s.me == 1) compute_for_ever();
     }},
    {"kernel_barrier_without_one",
     [](scene& s) {
       if (s.me == 3) for_ever();
       run(s, 1, kernel_barrier{});
     }},
    {"reduce_without_one",
     [](scene& s) {
       if (s.me == 2) for_ever();
       run(s, 1, kernel_reduce{}, s.data.data());
     }},
    {"reduce_from_the_host_without_one",
     [](scene& s) {
       if (s.me == 1) for_ever();
       pgas::reduce(s.world.team(), s.data.data(), s.data.data() + 64, 8, pgas::op::sum{});
     }},
    {"broadcast_without_its_root",
     [](scene& s) {
       if (s.me == 0) for_ever();
       run(s, 1, kernel_broadcast{}, s.data.data());
     }},
    {"locks_in_opposite_order",
     [](scene& s) {
       auto locks = s.world.allocate<pgas::lock_t>(2, pgas::initialize::zero);
       run(s, 1, two_locks{}, locks.data(), s.words.data());
     }},
    {"locks_of_the_host",
     [](scene& s) {
       auto locks = s.world.allocate<pgas::lock_t>(2, pgas::initialize::zero);
       pgas::set_lock(s.world, locks.data() + s.me);
       s.world.barrier_all();
       pgas::set_lock(s.world, locks.data() + 1 - s.me);
     }},
    {"stopped",
     [](scene& s) {
       if (s.me == 1) ::raise(SIGSTOP);
     }},
    {"stopped_while_kernels_wait",
     [](scene& s) {
       if (s.me == 1) ::raise(SIGSTOP);
       run(s, 1, kernel_barrier{});
     }},
    {"quiet_to_a_stopped_pe",
     [](scene& s) {
       if (s.me == 1) ::raise(SIGSTOP);
       for (int i = 0; s.me == 0; ++i) pgas::put(s.world, s.data.data(), s.data.data(), 4096, 1);
     }},
    {"kernel_gets_from_a_stopped_pe",
     [](scene& s) {
       if (s.me == 1) ::raise(SIGSTOP);
       if (s.me == 0) run(s, 1, kernel_get{}, s.data.data());
     }},
    {"stream_wait_that_nobody_serves",
     [](scene& s) {
       if (s.me == 0) {
         pgas::stream on(s.world);
         pgas::wait_until(s.world, on, s.words.data(), cmp::ge, 1);
         on.synchronize();
       }
     }},
    {"fcollect_of_two_teams",
     [](scene& s) {
       pgas::team pair = s.world.team().split_strided(0, 1, 2);
       if (s.me == 0)
         pgas::fcollect(pair, s.data.data(), s.data.data() + 64, 4);
       else
         run(s, 1, kernel_fcollect{}, s.data.data());
     }},
    {"signal_behind_its_wait",
     [](scene& s) {
       if (s.me == 0) {
         pgas::stream on(s.world);
         pgas::wait_until(s.world, on, s.words.data(), cmp::ge, 1);
         pgas::signal_set(s.world, on, s.words.data(), 1, s.me);
         on.synchronize();
       }
     }},
    {"signals_behind_waits",
     [](scene& s) {
       pgas::stream on(s.world);
       if (s.me < 2) {
         pgas::wait_until(s.world, on, s.words.data(), cmp::ge, 1);
         pgas::put_signal(s.world, on, s.data.data(), s.data.data() + 64, 16, s.words.data(), 1, pgas::signal_op::set,
                          1 - s.me);
       }
       on.synchronize();
     }},
    {"signal_behind_a_barrier",
     [](scene& s) {
       pgas::stream on(s.world);
       if (s.me == 1) {
         pgas::barrier(s.world.team(), on);
         pgas::signal_set(s.world, on, s.words.data(), 1, 0);
         on.synchronize();
       }
       pgas::wait_until(s.world, s.words.data(), cmp::ge, 1);
     }},
    {"two_blocks_in_one_reduce",
     [](scene& s) {
       if (s.me == 1) for_ever();
       run(s, 2, kernel_reduce{}, s.data.data());
     }},
    {"two_launches_in_one_barrier",
     [](scene& s) {
       if (s.me == 1) for_ever();
       const pgas::stream item(s.world), other(s.world);
       for (const pgas::stream* on : {&item, &other})
         pgas::launch(s.world, {.blocks = 1, .threads = 32, .on = on}, kernel_barrier{}, s.world.context());
       for_ever();
     }},
    {"two_worlds_in_opposite_order",
     [](scene& s) {
       pgas::world second = pgas::world::join();
       if (s.me == 0) second.barrier_all();
       s.world.barrier_all();
       second.barrier_all();
     }},
    {"loop_around_test",
     [](scene& s) {
       while (s.me == 1 && !pgas::test(s.world, s.words.data(), cmp::ge, 1)) {
       }
     }},
    {"own_waits",  // the only case that ends
     [](scene& s) {
       std::thread kernel([&] { run(s, 2, wait_for_word{}, s.words.data()); });
       for (bool found = false; !found;) {
         for (const pgas::wait_info& item : s.world.waits()) {
           std::printf("%s%s, block %u, %s %llu, is %llu\n", item.what.c_str(), item.in_kernel ? " in a kernel" : "",
                       item.block, item.compare.c_str(), static_cast<unsigned long long>(item.expected),
                       static_cast<unsigned long long>(item.seen));
           found |= item.in_kernel && item.block == 1;
         }
       }
       pgas::signal_set(s.world, s.words.data(), 5, s.me);
       kernel.join();
     }},
    {"own_handler", [](scene&) { for_ever(); }},  // the handler is in main()
    {"fork",
     [](scene& s) {
       if (s.me == 0) {
         const pid_t child = ::fork();
         if (child == 0) for_ever();
         static_cast<void>(::waitpid(child, nullptr, 0));
       }
     }},
    {"mutex_of_the_program",
     [](scene& s) {
       if (s.me == 1) {
         std::timed_mutex mutex;
         mutex.lock();
         std::thread([&] { static_cast<void>(mutex.try_lock_for(std::chrono::hours(1))); }).join();
       }
     }},
    {"grid_with_a_late_block",
     [](scene& s) {
       if (s.me == 0) run(s, 3, grid_with_a_late_block{}, s.words.data());
     }},
    {"several_words",
     [](scene& s) {
       if (s.me == 0) run(s, 1, wait_for_all_words{}, s.words.data());
     }},
    {"ring_that_nobody_begins", [](scene& s) { run(s, 1, wait_for_word{}, s.words.data()); }},
    {"split_without_one",
     [](scene& s) {
       if (s.me == 0) for_ever();
       static_cast<void>(s.world.team().split(s.me % 2, 0));
     }},
};

/// On SIGTERM, ends the world and then the process, in a separate thread. The object must be made while there is no
/// other thread.
class end_gently {
 public:
  end_gently() {
    ::sigemptyset(&term_);
    ::sigaddset(&term_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &term_, nullptr);
  }
  void watch(pgas::world& world) const {
    std::thread([&world, term = term_] {
      int number = 0;
      ::sigwait(&term, &number);
      pgas::detail::end_world(world, "the test is over", pgas::log_level::info);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      ::_exit(1);
    }).detach();
  }

 private:
  sigset_t term_{};
};

}  // namespace

int main(int argc, char** argv) try {
  const bool gently = argc == 3 && std::strcmp(argv[2], "gently") == 0;
  if ((argc != 2 && !gently) || !hangs.contains(argv[1])) {
    for (const auto& [name, what] : hangs) std::printf("%s\n", name.c_str());
    return 2;
  }
  if (std::strcmp(argv[1], "own_handler") == 0) std::signal(SIGUSR1, [](int) {});
  std::optional<end_gently> end;
  if (gently) end.emplace();
  pgas::world world = pgas::world::join();
  if (end) end->watch(world);
  scene s{world, world.allocate<signal_t>(64, pgas::initialize::zero),
          world.allocate<int>(4096, pgas::initialize::zero), world.my_pe(), world.n_pes()};
  world.barrier_all();
  std::printf("ready %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  hangs.at(argv[1])(s);
  world.barrier_all();  // PEs that have no other work wait here
  return 0;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
