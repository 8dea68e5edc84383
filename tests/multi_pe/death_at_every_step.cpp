// A program in which one PE dies in one of several ways, at one of several steps. The other PEs write the errors that
// they get, with the times, into a file, which remains even if the launcher ends them.
//     death_at_every_step steps                    prints the steps of joining, in order
//     death_at_every_step WAY STEP VICTIM REPORT   WAY: kill segv exit exec fork stop
//         STEP: "join:NAME:K", the K-th step of joining with that name, or allocate barrier put collective lock
//         register leave
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/join_step_hook.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

namespace {

std::string way;
int my_number = -1;
int report = -1;
bool dies_here = false;
std::string last_step;  // the step of joining at which the victim dies
int steps_left = -1;    // the number of steps with the name `last_step` that remain before the death

long long now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Writes one line with the time in a single call.
void say(const char* what, const std::string& rest) {
  const std::string line = std::string(what) + " " + std::to_string(my_number) + " " + std::to_string(getpid()) + " " +
                           std::to_string(now_ns()) + " " + rest + "\n";
  if (write(report, line.data(), line.size()) < 0) perror("report");
}

void die(const char* step) {
  say("dying", step);
  if (way == "kill") raise(SIGKILL);
  if (way == "segv") {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  }
  if (way == "exit") std::exit(3);
  if (way == "exec") execl("/bin/sleep", "sleep", "0.5", nullptr);
  if (way == "fork") {  // a child has all objects of this process, and outlives the process
    if (fork() == 0) {
      sleep(2);
      _exit(0);
    }
    raise(SIGKILL);
  }
  if (way == "stop") raise(SIGSTOP);
}

void count_join_step(const char* step) {
  if (step != last_step || steps_left-- != 0) return;
  if (dies_here)
    die(step);
  else
    say("came", step);  // a PE that arrives after the death cannot get the error before it arrives
}

/// The rank that the launcher gives this process. The rank is known before the process joins.
int number_before_joining() {
  for (const char* name : {"PGAS_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

/// All PEs execute the operation a few times. Then one PE dies while the others are in the call.
template <class Operation>
void repeat_until_dead(bool victim, const char* step, const Operation& operation) {
  for (int i = 0; i < 3; ++i) operation();
  if (victim) die(step);
  operation();
}

void be_in(pgas::world& world, const std::string& step, int victim) {
  const bool dies = world.my_pe() == victim;
  const char* const name = step.c_str();
  constexpr std::size_t n = 1 << 16;
  auto data = world.allocate<int>(n, pgas::initialize::zero);
  auto words = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  auto lock = world.allocate<pgas::lock_t>(1, pgas::initialize::zero);
  auto result = world.allocate<int>(n, pgas::initialize::zero);
  world.barrier_all();
  if (step == "allocate") {
    // Each allocation is larger than the heap, so no PE can allocate without the other PEs.
    std::vector<pgas::symmetric<char>> held;
    repeat_until_dead(dies, name,
                      [&] { held.push_back(world.allocate<char>(std::size_t{100} << (20 + held.size()))); });
  } else if (step == "barrier") {
    repeat_until_dead(dies, name, [&] { world.barrier_all(); });
  } else if (step == "collective") {
    repeat_until_dead(dies, name, [&] { pgas::reduce(world.team(), result.data(), data.data(), n, pgas::op::sum{}); });
  } else if (step == "put") {
    // Puts to and from the PE that dies are always in flight.
    for (int i = 0;; ++i) {
      for (int pe = 0; pe < world.n_pes(); ++pe) pgas::put_nbi(world, result.data(), data.data(), n, pe);
      if (dies && i == 10) die(name);
      pgas::quiet(world);
      pgas::atomic_add(world, words.data(), std::uint64_t{1}, victim);
      if (!dies) world.check();
    }
  } else if (step == "register") {
    const pgas::team team = world.team().split(0, 0);
    const pgas::shared_memory memory = pgas::shared_memory::make({world.device()}, 2 << 20);
    repeat_until_dead(dies, name, [&] { pgas::registration(team, memory.data(), memory.size()).release(); });
  } else if (step == "lock") {
    if (dies) pgas::set_lock(world, lock.data());
    world.barrier_all();
    if (dies) {
      usleep(100'000);  // the other PEs queue for the lock
      die(name);
    }
    pgas::set_lock(world, lock.data());
  } else if (step == "leave") {
    repeat_until_dead(dies, name, [&] {});
    world.leave();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (argc == 2 && std::string(argv[1]) == "steps") {
    my_number = number_before_joining();
    pgas::detail::at_join_step = [](const char* step) {
      if (my_number == 0) std::printf("%s\n", step);
    };
    pgas::world::join().leave();
    return 0;
  }
  if (argc < 5) return 2;
  way = argv[1];
  const std::string step = argv[2];
  const int victim = std::atoi(argv[3]);
  report = open(argv[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  my_number = number_before_joining();
  // If the launcher ended the other PEs immediately, the test could not see the errors that the other PEs get.
  dies_here = my_number == victim;
  if (!dies_here) signal(SIGTERM, SIG_IGN);
  if (step.rfind("join:", 0) == 0) {
    const std::size_t colon = step.rfind(':');
    last_step = step.substr(5, colon - 5);
    steps_left = std::atoi(step.c_str() + colon + 1);
    pgas::detail::at_join_step = count_join_step;
  }
  say("start", "-");
  try {
    pgas::world world = pgas::world::join();
    say("joined", "-");
    try {
      be_in(world, step, victim);
      say("unharmed", "-");
    } catch (const pgas::error& failed) {
      say("told", std::to_string(failed.pe()) + " " + failed.what());
    }
  } catch (const pgas::error& failed) {
    say("told", std::to_string(failed.pe()) + " " + failed.what());
  }
  say("end", "-");
  return 0;
}
