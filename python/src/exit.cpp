// Handles the end of the process while worlds are still joined. Python has already ended, so no code in this file may
// use Python.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <thread>

#include "joined_world.hpp"

namespace pgas::python {
namespace {

struct joined_worlds {
  std::mutex mutex;
  std::vector<std::shared_ptr<joined_world>> list;
  /// In a child of fork(): the parent's worlds. Only the process that has joined a world may destroy it, so the child
  /// never destroys these worlds.
  std::vector<std::shared_ptr<joined_world>> of_parent;
  pid_t process = 0;
};

/// The list of worlds. The list exists until the end of the process.
joined_worlds& all() {
  static auto* const worlds = new joined_worlds;
  return *worlds;
}

std::vector<std::shared_ptr<joined_world>> still_joined() {
  joined_worlds& worlds = all();
  if (worlds.process != getpid()) return {};  // a child of fork() is not a member
  const std::lock_guard lock(worlds.mutex);
  std::vector<std::shared_ptr<joined_world>> found;
  for (const auto& one : worlds.list)
    if (!one->left()) found.push_back(one);
  return found;
}

/// Leaves the world, or aborts it if the other PEs do not leave in time.
void leave_in_time(joined_world& of) {
  const auto limit = of.get().settings().join_timeout;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread waiting([&] {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, limit, [&] { return done; }))
      of.abort("a PE ended its program without leaving, and has waited " + std::to_string(limit.count() / 1000) +
               " s for the others: call world.leave() on all PEs, or use 'with pgas.join() as world'");
  });
  try {
    of.await_leave();
  } catch (const std::exception&) {
    // The failure is ignored here, because leave() throws it again.
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
  waiting.join();
  try {
    of.leave();
  } catch (const std::exception&) {
    // The failure has already been logged.
  }
}

/// Called by glibc with the status of exit(), which shows whether the process ends normally.
void at_exit(int status, void*) {
  for (const auto& one : still_joined()) {
    if (status != 0)
      one->abort("the program ends with status " + std::to_string(status) + ", without leaving the world");
    else
      leave_in_time(*one);
  }
}

}  // namespace

void leave_at_exit(const std::shared_ptr<joined_world>& of) {
  joined_worlds& worlds = all();
  const std::lock_guard lock(worlds.mutex);
  if (worlds.process != getpid()) {
    // The handler is registered after joining has loaded libraries, so at_exit() runs before these libraries are
    // unloaded.
    if (on_exit(at_exit, nullptr) != 0) throw error(code::system, "on_exit: no room for another function");
    std::move(worlds.list.begin(), worlds.list.end(), std::back_inserter(worlds.of_parent));
    worlds.list.clear();
    worlds.process = getpid();
  }
  std::erase_if(worlds.list, [](const auto& one) { return one->left(); });
  worlds.list.push_back(of);
}

void abort_all(const std::string& reason) noexcept {
  try {
    for (const auto& one : still_joined()) one->abort(reason);
  } catch (const std::exception&) {
    // The list could not be allocated. The other PEs then learn of the failure from the end of the process.
  }
}

}  // namespace pgas::python
