/// @file
/// One process of a job. It joins through the launcher's environment, makes an exchange, and then executes the action
/// of the test.
///
///   bootstrap_probe SIZE [ACTION RANK [ARGUMENT]]
///
/// The job must have SIZE processes. Actions of one rank while the others call a barrier: kill, exit STATUS, abort,
/// absent (ends before it joins). Actions of the others after RANK has exited with 3: hang (ignores SIGTERM), wait
/// SECONDS. Actions of all: orphan (leaves a process with a separate session).
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <pgas/bootstrap.hpp>
#include <pgas/error.hpp>
#include <string>
#include <thread>

#include "exchange.hpp"

namespace {

using namespace std::chrono_literals;

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}
int number(const char* name, const char* other = "") {
  const std::string value = text(name).empty() ? text(other) : text(name);
  return value.empty() ? -1 : std::stoi(value);
}

pgas::bootstrap_options from_environment() {
  pgas::bootstrap_options options;
  options.timeout = 20s;
  options.rank = number("PGAS_RANK", "RANK");
  options.size = number("PGAS_SIZE", "WORLD_SIZE");
  options.local_fd = number("PGAS_LOCAL_FD");
  options.pmix_launcher = !text("PMIX_RANK").empty() && !text("PMIX_NAMESPACE").empty();
  options.master_address = text("MASTER_ADDR");
  options.master_port = number("MASTER_PORT");
  options.master_port_taken = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  options.run_id = text("TORCHELASTIC_RUN_ID");
  return options;
}

/// Joins two worlds at the same time, each used by a separate thread. Leaves both worlds, and then joins two more
/// worlds in the same way.
void exercise(const pgas::bootstrap_options& options) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto first = pgas::make_bootstrap(options);
    const auto second = pgas::make_bootstrap(options);
    std::exception_ptr thrown;
    std::thread other{[&] {
      try {
        probe::exchange(*first.exchange, 10);
      } catch (...) {
        thrown = std::current_exception();
      }
    }};
    try {
      probe::exchange(*second.exchange, 10);
    } catch (...) {
      other.join();
      throw;
    }
    other.join();
    if (thrown) std::rethrow_exception(thrown);
    first.exchange->barrier();
    second.exchange->barrier();
  }
}

void leave_an_orphan() {
  if (::fork() != 0) return;
  ::setsid();
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (;;) ::pause();
}

void act(pgas::bootstrap& world, const std::string& action, int rank, const std::string& argument) {
  const bool mine = world.rank() == rank;
  if (action == "hang") {
    ::signal(SIGTERM, SIG_IGN);
    if (mine) std::exit(3);
    for (;;) ::pause();
  }
  if (action == "orphan") return leave_an_orphan();
  if (action == "wait") {
    if (mine) std::exit(3);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::stod(argument)));
    std::puts("finished in peace");
    return;
  }
  if (mine && action == "kill") ::raise(SIGKILL);
  if (mine && action == "exit") std::exit(std::stoi(argument));
  if (mine && action == "abort") world.abort("as the test wants");
  world.barrier();
  std::this_thread::sleep_for(100ms);
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) try {
  const int size = std::stoi(argv[1]);
  const std::string action = argc > 2 ? argv[2] : "";
  const int rank = argc > 3 ? std::stoi(argv[3]) : -1;
  const auto options = from_environment();
  if (action == "absent" && options.rank == rank) return 0;
  if (action.empty()) exercise(options);

  const auto world = pgas::make_bootstrap(options);
  if (world.exchange->size() != size) throw std::runtime_error("a job of " + std::to_string(world.exchange->size()));
  probe::exchange(*world.exchange, 2);
  if (!action.empty()) act(*world.exchange, action, rank, argc > 4 ? argv[4] : "");
  std::printf("ok %d/%d via %s\n", world.exchange->rank(), size, world.description.c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
