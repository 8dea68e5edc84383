// PEs that fork. A world, a team, a stream and memory are static objects, which a child also has. The child
// nevertheless ends normally. The child is not part of its parent's world, and does not affect that world.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "pgas/pgas.hpp"

namespace {

std::optional<pgas::world> world;
std::optional<pgas::team> half;
std::optional<pgas::stream> queue;
pgas::symmetric<int> memory;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(1);
}

void expect_refused(const char* what, const std::function<void()>& call, pid_t parent) {
  try {
    call();
  } catch (const pgas::error& refused) {
    const std::string text = refused.what();
    if (refused.code() == pgas::code::forked_process && text.find("process " + std::to_string(parent)) != text.npos)
      return;
    fail(std::string(what) + " in the child: " + text);
  }
  fail(std::string(what) + " is allowed in the child");
}

void be_child(pid_t parent) {
  expect_refused(
      "barrier_all", [] { world->barrier_all(); }, parent);
  expect_refused(
      "check", [] { world->check(); }, parent);
  expect_refused(
      "my_pe", [] { static_cast<void>(world->my_pe()); }, parent);
  expect_refused(
      "allocate", [] { static_cast<void>(world->allocate_bytes(64)); }, parent);
  expect_refused(
      "leave", [] { world->leave(); }, parent);
  expect_refused(
      "put", [] { pgas::p(*world, memory.data(), 1, 0); }, parent);
  expect_refused(
      "a team's barrier", [] { pgas::barrier(*half); }, parent);
  expect_refused(
      "synchronize", [] { queue->synchronize(); }, parent);
  world->abort("a child must not be able to");
}

}  // namespace

int main(int argc, char** argv) {
  const bool other_program = argc > 1 && std::string(argv[1]) == "exec";
  world.emplace(pgas::world::join());
  const int me = world->my_pe();
  memory = world->allocate<int>(1024, pgas::initialize::zero);
  half.emplace(world->team().split(me % 2, me));
  queue.emplace(*world);
  // Creates all threads and connections that are possible.
  pgas::p(*world, memory.data(), 7, (me + 1) % world->n_pes());
  world->barrier_all();

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // the child must not wait
    if (other_program) execl("/bin/true", "true", nullptr);
    be_child(parent);
    std::exit(0);  // destroys static objects
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child ended with status " + std::to_string(status));

  world->barrier_all();
  pgas::p(*world, memory.data() + 1, 8, (me + 1) % world->n_pes());
  pgas::barrier(*half);
  world->barrier_all();
  if (memory.data()[0] != 7 || memory.data()[1] != 8) fail("a put did not arrive");
  if (me == 0) std::puts("unharmed");
  queue.reset();
  half.reset();
  memory = {};
  world->leave();
  return 0;
}
